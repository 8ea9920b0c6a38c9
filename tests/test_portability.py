"""docs/portability.md is written from the runs, and nothing is claimed that was not run."""

import re
import tomllib

from tests.portability import ROOT, SYSTEMS, table

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_the_table_is_that_of_the_runs():
    text = table.PAGE.read_text()
    assert text.partition(table.BEGIN)[2].partition(table.END)[0] == table.rendered(), "python -m tests.portability --table"


def test_each_python_that_is_claimed_ran_the_whole_suite():
    ran = {tuple(map(int, run["python"].split(".")[:2])) for run in table.runs()
           if run["tests"] == "--all" and not run["failed"] and not run["python"].endswith("t")}  # fmt: skip
    claimed = {tuple(map(int, found)) for text in PROJECT["classifiers"] for found in re.findall(r":: (3)\.(\d+)$", text)}
    assert claimed == ran
    low, high = (tuple(map(int, found)) for found in re.findall(r"(3)\.(\d+)", PROJECT["requires-python"]))
    assert (low, high) == (min(ran), (3, max(ran)[1] + 1))  # one between them may be missing: the table says so


def test_each_system_says_what_the_command_reads():
    for name, said in tomllib.loads(SYSTEMS.read_text()).items():
        missing = {"mirror", "suite", "packages", "compiler", "oldest", "tests"} - set(said)
        assert not missing and set(said) - {"script", "architecture", "machine", "source", "without", "environment"} == {"mirror", "suite", "packages", "compiler", "oldest", "tests"}, name


def test_a_run_is_written_and_read(tmp_path, monkeypatch):
    first = table.runs()[0]
    monkeypatch.setattr(table, "RUNS", tmp_path / "runs.toml")
    monkeypatch.setattr(table, "PAGE", tmp_path / "portability.md")
    table.PAGE.write_text(f"before\n{table.BEGIN}old\n{table.END}after\n")
    (tmp_path / "runs.toml").write_text("")
    table.add(first)
    table.add({**first, "failed": 3, "passed": 7})
    assert table.runs() == [first, {**first, "failed": 3, "passed": 7}]
    table.write()
    text = table.PAGE.read_text()
    assert text.startswith("before\n") and text.endswith(table.END + "after\n") and "old" not in text
    assert "7 passed" in text and "**3 failed**" in text
