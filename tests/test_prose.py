"""Prose: no room gets sentences that have to be read twice; `python -m tests.prose FOLDER` prints them."""

from collections import Counter

from tests import prose

# Room -> how many patterns `tests/prose.py` may find there.  They fall: 4 707 in all at first, without messages and the spec.
BOUNDS = {
    "CHANGELOG.md": 1,
    "CONTRIBUTING.md": 1,
    "benchmarks": 13,
    "codegen": 7,
    "codegen/rules": 11,
    "codegen/spec": 15,
    "codegen/verify": 15,
    "codegen/write": 11,
    "docs": 3,
    "examples": 5,
    "library/autograd": 2,
    "library/distributed": 1,
    "library/func": 4,
    "library/nested": 1,
    "library/nn": 1,
    "library/optim": 1,
    "library/scipy": 5,
    "runtime/compiler": 17,
    "runtime/core": 4,
    "runtime/engine": 2,
    "runtime/formulas": 3,
    "runtime/kernels": 5,
    "runtime/methods": 6,
    "runtime/saved": 3,
    "runtime/support": 10,
    "runtime/transforms": 3,
}


def room_of(path):
    parts = path.relative_to(prose.ROOT).parts
    return "/".join(parts[:2]) if parts[0] in ("runtime", "library", "codegen") and len(parts) > 2 else parts[0]


def test_no_room_gets_worse():
    found = Counter()
    for path in prose.files():
        found[room_of(path)] += len(prose.faults(path))
    assert {room: count for room, count in found.items() if count > BOUNDS.get(room, 0)} == {}
    assert {room: found[room] for room, most in BOUNDS.items() if found[room] < 0.9 * most - 5} == {}, "lower these bounds"


def test_patterns_are_found(tmp_path):
    """The test of the test."""
    page = tmp_path / "page.py"
    page.write_text('"""Owns which do.\n\nWhat is given stands there, of which none is made of it.\n"""\n\nx = 1  # the array is none\n')
    assert {name for _, name, _ in prose.faults(page)} == set(prose.PATTERNS) - {"a pronoun for a noun"}
