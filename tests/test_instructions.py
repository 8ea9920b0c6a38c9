"""Instructions of small operations against the committed table: a regression that no busy machine hides, nor makes up."""

import os
import shutil

import pytest

from benchmarks import instructions

MARGIN = 1.03


@pytest.mark.slow
def test_no_operation_takes_more_instructions_than_the_table_says():
    if not os.environ.get("CI"):
        pytest.skip("the table holds for a build with the default flags, as CI makes it; set CI=1 to count")
    if shutil.which("valgrind") is None:
        pytest.skip("counts with valgrind, which is not installed")
    versions, table = instructions.committed()
    if versions != instructions.versions():
        pytest.skip(f"the table was counted with {versions}; here is {instructions.versions()}")
    found = instructions.count()
    assert found.keys() == table.keys()
    if any(number > MARGIN * table[name] for name, number in found.items()):  # by chance a table of the process may have grown meanwhile
        found = {name: min(number, found[name]) for name, number in instructions.count().items()}
    more = {name: (table[name], number) for name, number in found.items() if number > MARGIN * table[name]}
    assert not more, f"(table, now): {more}; if that is meant, run python -m benchmarks.instructions --accept"
