"""Tests stand beside what they test: each module has tests of its name, or a row in tests/mutants/tests_of.py that names them."""

import sys
from pathlib import Path

from tests.asked import each

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.mutants import tests_of  # noqa: E402

MODULES = sorted(path for folder in ("runtime", "library", "codegen") for path in (ROOT / folder).rglob("*.py*")
                 if path.suffix in (".py", ".pyx") and path.stem not in ("__init__", "__main__") and "__pycache__" not in path.parts)  # fmt: skip


@each("folder", sorted({path.parent for path in MODULES}), ids=lambda folder: folder.relative_to(ROOT).as_posix())
def test_every_module_has_tests(folder):
    assert [path.name for path in MODULES if path.parent == folder and not tests_of.tests_of(path)] == []


def test_every_row_is_of_a_module_and_names_tests_that_are_there():
    rows = tests_of.ELSEWHERE | tests_of.ROOMS
    assert [name for name in rows if not (ROOT / name).exists()] == []
    assert [path for paths in rows.values() for path in paths if not (ROOT / path).exists()] == []


def test_no_tests_are_named_after_a_module_that_is_gone():
    """In the folder of kernels: elsewhere a file of tests may have a theme of its own."""
    stems = {path.stem.removesuffix("_loops") for path in MODULES}
    assert [path.name for path in (ROOT / "tests" / "runtime" / "kernels").glob("test_*.py") if path.stem.removeprefix("test_") not in stems] == []
