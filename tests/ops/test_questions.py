"""The test of the tests: every wrong answer is shown, what was left out keeps its reason, and no state is left behind."""

from __future__ import annotations

import pytest

import gradspec as gs
from gradspec.autograd import forward_ad
from gradspec.generated.op_info import OPS
from tests import day
from tests.asked import LEFT_OUT

from .calls import BY_NAME, samples_of
from .questions import Family, families, names_asked, of_each, of_entries, of_samples

TANH = BY_NAME["tanh"]


@pytest.fixture(autouse=True)
def every_sample(monkeypatch):
    monkeypatch.setattr(day, "every", True)


class Properties(list):
    def __call__(self, name, value):
        self.append((name, value))


def asked(question, *ops, **fixtures):
    """What a question reports of some entries: the text of its failure, and the properties."""
    properties = Properties()
    try:
        question(family=Family("some", list(ops or [TANH])), record_property=properties, **fixtures)
    except AssertionError as error:
        return str(error), properties
    return "", properties


def test_each_sample_in_each_dtype_is_asked():
    seen = []

    def question(case, way):
        seen.append((case.source, case.dtype, way))

    assert asked(of_samples(way=["a", "b"])(question))[0] == ""
    assert seen == [(case.source, case.dtype, way) for case in samples_of(TANH) for way in ("a", "b")]
    assert len(seen) == 2 * 2 * len(TANH.samples)


def test_every_wrong_answer_is_shown_with_its_call():
    def question(case):
        if case.index in (1, 3):
            assert case.index == 0
        if case.index == 4:
            pytest.fail("no such number")

    text, _ = asked(of_samples()(question))
    assert text.startswith(f"tanh: 6 of {2 * len(TANH.samples)} are wrong\n")
    for index in (1, 3, 4):
        for dtype in ("float64", "complex128"):
            assert f"tanh{TANH.samples[index][1:]} in {dtype}\n" in text
    assert text.count("x = [") >= 4 and text.count("of shape (4, 3)") <= 2
    assert "assert case.index == 0" in text and text.count("Failed: no such number") == 2
    assert "test_questions.py:" in text


def test_the_first_wrong_answer_is_the_cause():
    def question(op, number):
        raise ValueError(number)

    with pytest.raises(AssertionError) as caught:
        of_entries(number=[3, 4])(question)(family=Family("some", [TANH]), record_property=Properties())
    assert isinstance(caught.value.__cause__, ValueError) and caught.value.__cause__.args == (3,)
    assert "tanh, number=3" in str(caught.value) and "tanh, number=4" in str(caught.value)


def test_what_is_left_out_keeps_its_reason():
    def question(case):
        if case.index < 2:
            pytest.skip(f"reason {case.index}")

    text, properties = asked(of_samples()(question))
    assert text == "" and properties == [(LEFT_OUT, f"reason {i}") for i in (0, 0, 1, 1)]

    def nothing(case):
        pytest.skip("of all")

    with pytest.raises(pytest.skip.Exception, match="of all"):
        asked(of_samples()(nothing))


def test_no_entry_of_a_family_hides_another():
    """Of each that is wrong there is the text that it has alone; what is left out counts as it does alone."""
    exp, sin = BY_NAME["exp"], BY_NAME["sin"]
    left_out = [(LEFT_OUT, "nothing of sin")] * 2 * len(sin.samples)

    def question(case):
        if case.op is sin:
            pytest.skip("nothing of sin")
        assert case.op is exp or case.index

    def wrong(case):
        assert case.index

    assert asked(of_samples()(question), exp, sin) == ("", left_out)
    text, properties = asked(of_samples()(question), sin, TANH, exp)
    assert text == asked(of_samples()(question), TANH)[0] != "" and properties == left_out
    assert asked(of_samples()(wrong), sin, TANH)[0] == "\n".join(asked(of_samples()(wrong), op)[0] for op in (sin, TANH))
    with pytest.raises(pytest.skip.Exception, match="nothing of sin"):
        asked(of_samples()(question), sin)


def test_every_entry_is_of_one_family():
    found = [op.name for parameter in families(list(OPS)) for op in parameter.values[0].ops]
    assert sorted(found) == sorted(op.name for op in OPS) and len(families(list(OPS))) < 40


@pytest.mark.parametrize("leave, said", [
    (lambda: gs.set_grad_enabled(False), "grad mode was left disabled"),
    (forward_ad.enter_dual_level, "a dual level was left open"),
])  # fmt: skip
def test_what_a_question_leaves_behind_is_noticed_and_put_right(leave, said):
    """No later sample is judged in a state that an earlier one has left."""
    seen = []

    def question(case):
        seen.append(case.index)
        if case.index == 1:
            leave()
            raise ValueError

    text, _ = asked(of_samples()(question))
    assert said in text and f"tanh{TANH.samples[1][1:]}" in text and seen == [0, 0, 1]
    assert gs.is_grad_enabled()
    with pytest.raises(RuntimeError, match="no level is open"):
        forward_ad.exit_dual_level()


def test_each_of_what_an_entry_states_is_asked():
    seen = []

    def question(op, call, stated):
        seen.append((call, stated))

    test = of_each(lambda op: op.examples, lambda op: op.examples, "call", "stated")(question)
    assert asked(test)[0] == "" and seen == list(TANH.examples) != []
    assert names_asked(test) == {op.name for op in OPS if op.examples}
