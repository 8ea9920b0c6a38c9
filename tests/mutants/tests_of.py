"""The tests of a module: those of its name, and what the table says.

Owns the table of modules that are tested under another name.
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
_FOLDERS = ("tests/runtime", "tests/kernels", "tests/codegen", "tests")
_ELSEWHERE: dict[str, list[str]] = {}


def tests_of(module: Path) -> list[str]:
    """Paths of test files, as pytest takes them."""
    name = module.relative_to(ROOT).as_posix()
    stem = module.stem if module.stem != "__init__" else module.parent.name
    stems = dict.fromkeys([stem, stem.removesuffix("_loops"), stem.strip("_")])
    named = [f"{folder}/test_{s}.py" for folder in _FOLDERS for s in stems if (ROOT / folder / f"test_{s}.py").is_file()]
    return list(dict.fromkeys([*named, *_ELSEWHERE.get(name, [])]))
