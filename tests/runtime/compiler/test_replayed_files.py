"""The tests of views, saved values, writes and hooks once more, with every expression compiled and replayed."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[2]
# Of each file how many tests do not run so; each of them says why, by what its source asks of, and that is all it may ask of.
FILES = {"test_view": 0, "test_saved_variable": 18, "test_inplace": 0, "test_copy_slices": 1, "test_copy_on_write": 1, "test_mutation": 0,
         "test_become_view": 0, "test_leaf_gradient": 0}  # fmt: skip
WHY = {
    "nodes of single operators, their names and what they save": r"Backward\b|_saved_|_raw_saved|next_functions|\.saves\b",
    "how often something is done, throw-away calls included": r"log\.append|packed\.append|first_histories",
    "an array that the user writes to, which is a tensor to a compiled function": r"np\.array\(\[0, 1\]\)",
    "a second derivative, for which the function is run again": r"create_graph=True",
}


def sources(path):
    """The text of each test function of a file, by its name."""
    text = path.read_text()
    tests = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    return {node.name: ast.get_source_segment(text, node) for node in tests}


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_the_tests_of_a_file_pass_when_every_expression_is_replayed(name):
    path, = TESTS.rglob(f"{name}.py")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--tb=no", "-p", "no:xdist", "-p", "no:cacheprovider", "-p", "tests.runtime.replayed_files",
         str(path)], capture_output=True, text=True, cwd=TESTS.parent, check=False)  # fmt: skip
    numbers = {word: int(count) for count, word in re.findall(r"(\d+) (replayed|recorded|as it is|passed|failed)", run.stdout)}
    assert numbers.get("passed", 0) > 0, run.stdout + run.stderr
    failed = re.findall(r"(?m)^FAILED .*?(test_\w+)(?:\[| |$)", run.stdout)
    texts = sources(path)
    unexplained = [test for test in failed if not any(re.search(why, texts[test]) for why in WHY.values())]
    assert unexplained == []
    assert len(failed) == FILES[name], failed
    assert numbers["replayed"] >= numbers.get("recorded", 0), run.stdout
