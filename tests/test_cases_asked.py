"""The test of a test of many cases: each is asked, no wrong one hides another, and fixtures and skips are as they were."""

import inspect

import pytest

import gradspec as gs
from tests.asked import LEFT_OUT, each


class Properties(list):
    def __call__(self, name, value):
        self.append((name, value))


def asked(test):
    """The text of its failure, and the properties."""
    properties = Properties()
    try:
        test(record_property=properties)
    except AssertionError as error:
        return str(error), properties
    return "", properties


def test_every_combination_is_asked():
    seen = []

    @each("a, b", [(1, 2), (3, 4)])
    @each("c", iter("xy"))
    def question(a, b, c):
        seen.append((a, b, c))

    assert asked(question) == ("", [])
    assert sorted(seen) == [(1, 2, "x"), (1, 2, "y"), (3, 4, "x"), (3, 4, "y")]


def test_every_wrong_case_is_named():
    @each("a", [1, pytest.param(2, id="two"), 3])
    @each("b", [len, "text"], ids=lambda b: "" if b is len else "called")
    def question(a, b):
        assert a != 2 or b is len
        if a == 3:
            pytest.fail("three")

    text, _ = asked(question)
    assert text.startswith("question: 3 of 6 are wrong\n")
    assert "called, two\n" in text and "called, a=3\n" in text and "b=len, a=3\n" in text
    assert text.count("Failed: three") == 2 and "test_cases_asked.py:" in text and "assert a != 2 or b is len" in text


def test_of_many_wrong_cases_the_first_are_shown_in_full():
    @each("number", range(50))
    def question(number):
        raise ValueError(f"is {number}")

    text, _ = asked(question)
    assert text.startswith("question: 50 of 50 are wrong\n") and "is 19" in text and "is 20" not in text and text.endswith("number=49")


def test_what_is_left_out_keeps_its_reason():
    @each("a", [1, 2])
    def question(a):
        pytest.skip("never") if a == 1 else None

    assert asked(question) == ("", [(LEFT_OUT, "never")])
    with pytest.raises(pytest.skip.Exception, match="nothing"):
        asked(each("a", [1, 2])(lambda a: pytest.skip("nothing")))


def test_what_a_case_leaves_behind_is_noticed_and_put_right():
    @each("a", [1, 2, 3])
    def question(a):
        assert a < 3
        gs.set_grad_enabled(a < 2)

    text, _ = asked(question)
    assert text == "a=2\n  grad mode was left disabled" and gs.is_grad_enabled()


def test_fixtures_and_marks_stay():
    @each("a", [1])
    @pytest.mark.slow
    def question(tmp_path, a):
        pass

    assert list(inspect.signature(question).parameters) == ["tmp_path", "record_property"]
    assert [mark.name for mark in question.pytestmark] == ["slow"]


@pytest.mark.parametrize("names, values", [("b", [1]), ("a", []), ("a", [pytest.param(1, marks=pytest.mark.slow)]), ("a, b", [(1,)])])
def test_what_does_not_fit_is_refused(names, values):
    with pytest.raises(AssertionError):
        each(names, values)(lambda a: None)


@each("a", [1, 2])
@each("b", "xy")
def test_pytest_runs_it(a, b, tmp_path):
    assert tmp_path.exists() and a in (1, 2) and b in "xy"
