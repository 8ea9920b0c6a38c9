"""Hostile files: a few cases of the fuzzer for each reader; `python -m tests.runtime.fuzzed_files MINUTES` has more."""

import pytest

from tests.runtime.fuzzed_files import READERS, ask, bits, corpus, run


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return corpus(str(tmp_path_factory.mktemp("corpus")))


@pytest.mark.parametrize("reader", READERS)
def test_changed_files_are_refused_or_read_for_what_they_are(files, reader, tmp_path):
    if reader not in files:
        pytest.skip("reads files of safetensors, and it is not installed")
    counts, wrong = run(reader, 0, range(60), str(tmp_path), files)
    assert not wrong, wrong[0]
    assert counts["refused"] >= 20 and sum(counts.values()) == 60


@pytest.mark.parametrize("reader", READERS)
def test_files_that_nobody_changed_are_read(files, reader, tmp_path):
    for number, (data, call) in enumerate(files.get(reader, ())):
        path = tmp_path / f"{number}.{reader}"
        path.write_bytes(data)
        assert ask(reader, str(path), call) == "read", number


def test_the_question_sees_numbers_from_elsewhere(files, tmp_path, monkeypatch):
    """The fuzzer's own check: a reader that returns unwritten memory is wrong."""
    import numpy as np

    import gradspec as gs

    monkeypatch.setattr(gs, "load", lambda path: gs.asarray(np.empty(32)))
    with pytest.raises(AssertionError, match="numbers that are not of the file"):
        ask("npz", str(tmp_path / "x.npz"), None)
    assert bits(gs.ones(1)) != bits(gs.zeros(1))
