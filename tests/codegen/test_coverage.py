"""What samples have to try: every argument, every branch, every word."""

from __future__ import annotations

import pytest

from codegen.verify import coverage

MODES = """\
def shifted(x, mode):
    if mode not in ("up", "down"):
        raise ValueError(mode)
    return x + 1 if mode == "up" else x - 1


def lenient(x, mode):
    return x + 1 if mode == "up" else x - 1
"""

REFUSED = {
    "an argument that keeps its default": (
        """\
- op: f(x, float scale=2.0, *, bool reverse=False) -> y
  doc: F.
  forward: scale * (x[::-1] if reverse else x)
  linear: [x]
  vjp:
    x: scale * grad
  samples:
  - f(x(3), 3.0)
  - f(x(3), reverse=False)
""",
        """\
derivatives.yaml:12:37: error: f: samples: no sample gives 'reverse' another value than its default
- op: f(x, float scale=2.0, *, bool reverse=False) -> y
                                    ^
derivatives.yaml:14:21: error: f: forward: no sample takes the branch `x[::-1] if reverse`
  forward: scale * (x[::-1] if reverse else x)
                    ^""",
    ),
    "a branch": (
        """\
- op: f(x, int n) -> y
  doc: F.
  forward: np.sin(x) ** n
  let:
    slope: cos(x) if n == 1 else 0.5 * n * sin(x) * cos(x)
  dy/dx: slope
  samples:
  - f(x(3), 1)
""",
        """\
derivatives.yaml:16:34: error: f: let: slope: no sample takes the branch `else 0.5 * n * sin(x) * cos(x)`
    slope: cos(x) if n == 1 else 0.5 * n * sin(x) * cos(x)
                                 ^""",
    ),
    "one branch of three": (
        """\
- op: f(x, int n) -> y
  doc: F.
  composite: sin(x) if n == 1 else cos(sin(x)) * sin(x) * cos(cos(x)) if n == 2 else cos(x)
  samples:
  - f(x(3), 1)
  - f(x(3), 3)
""",
        """\
derivatives.yaml:14:36: error: f: composite: no sample takes the branch `cos(sin(x)) * sin(x) * cos(cos(x)) i ...`
  composite: sin(x) if n == 1 else cos(sin(x)) * sin(x) * cos(cos(x)) if n == 2 else cos(x)
                                   ^""",
    ),
    "a branch that only another op takes": (
        """\
- op: f(x, int n=2) -> y
  doc: F.
  composite: cos(x) if n == 1 else sin(x)
  samples:
  - f(x(3))
  - f(x(3), 3)
- op: g(x) -> y
  doc: G.
  composite: f(x, 1)
  samples: one
""",
        """\
derivatives.yaml:14:14: error: f: composite: no sample takes the branch `cos(x) if n == 1`
  composite: cos(x) if n == 1 else sin(x)
             ^""",
    ),
    "branches of a formula that never ran": (
        """\
- op: f(x, int n) -> y
  doc: F.
  forward: np.sin(x)
  let:
    far: (sin(x) if n == 3 else cos(x)) if n == 2 else 0
  dy/dx: cos(x) if n == 1 else far
  samples:
  - f(x(3), 1)
""",
        """\
derivatives.yaml:16:11: error: f: let: far: no sample takes the branch `sin(x) if n == 3 else cos(x) if n == 2`
    far: (sin(x) if n == 3 else cos(x)) if n == 2 else 0
          ^
derivatives.yaml:16:11: error: f: let: far: no sample takes the branch `sin(x) if n == 3`
    far: (sin(x) if n == 3 else cos(x)) if n == 2 else 0
          ^
derivatives.yaml:16:33: error: f: let: far: no sample takes the branch `else cos(x)`
    far: (sin(x) if n == 3 else cos(x)) if n == 2 else 0
                                ^
derivatives.yaml:16:56: error: f: let: far: no sample takes the branch `else 0`
    far: (sin(x) if n == 3 else cos(x)) if n == 2 else 0
                                                       ^
derivatives.yaml:17:32: error: f: dy/dx: no sample takes the branch `else far`
  dy/dx: cos(x) if n == 1 else far
                               ^""",
    ),
    "an equality that no kink is, which another op stands on": (
        """\
- op: a_tie(x) -> y
  doc: A.
  composite: f(x, x)
  samples:
  - f(x(2, 2))
- op: f(a, b) -> y
  doc: F.
  forward: np.maximum(a, b)
  dy/da: where(a > b, 1, 0)
  dy/db: where(a > b, 0, 1)
  samples:
  - f(x(2, 2), x(2, 2)[::-1])
- op: where(Mask condition, a, b) -> y
  doc: Choice.
  forward: np.where(condition, a, b)
  nondifferentiable: true
  samples:
  - f(mask(3), x(3), x(3))
""",
        """\
derivatives.yaml:20:16: error: f: dy/da: no sample and no kink stands on `a == b`
  dy/da: where(a > b, 1, 0)
               ^
derivatives.yaml:21:16: error: f: dy/db: no sample and no kink stands on `a == b`
  dy/db: where(a > b, 0, 1)
               ^""",
    ),
    "a word": (
        """\
- op: f(x, str mode) -> y
  doc: F.
  forward: kernels.shifted(x, mode)
  dy/dx: 1
  samples:
  - f(x(3), 'up')
""",
        """\
derivatives.yaml:12:16: error: f: samples: no sample gives 'mode' the value 'down'
- op: f(x, str mode) -> y
               ^""",
    ),
    "a word that another op refuses": (
        """\
- op: f(x, str mode) -> y
  doc: F.
  forward: kernels.shifted(x, mode)
  dy/dx: 1
  samples:
  - f(x(3), 'up')
  - f(x(3), 'down')
- op: g(x, str mode='up') -> y
  doc: G.
  composite: f(x, mode)
  samples:
  - f(x(3), 'down')
""",
        """\
derivatives.yaml:19:16: error: g: samples: no sample gives 'mode' the value 'up'
- op: g(x, str mode='up') -> y
               ^""",
    ),
    "words without end": (
        """\
- op: f(x, str mode) -> y
  doc: F.
  forward: kernels.lenient(x, mode)
  dy/dx: 1
  samples:
  - f(x(3), 'up')
  - f(x(3), 'same')
""",
        """\
derivatives.yaml:12:16: error: f: op: 'mode' may be any word: one that is unknown raises nothing
- op: f(x, str mode) -> y
               ^""",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(small, name):
    entry, message = REFUSED[name]
    small.write("runtime/kernels/modes.py", MODES)
    assert small.refusal("check", entry) == message


MOVED = """\
- op: {name}(x, float by=1.0) -> y
  doc: F.
  dtype: real
  forward: kernels.moved(x, by)
  dy/dx: 1
  samples:
  - f(x(3), 2.0)
"""
DRAWN = """\
- op: f(x, float by=1.0, *, Generator? generator=None) -> y
  doc: F.
  dtype: real
  forward: kernels.drawn(x, by, generator)
  dy/dx: 1
  samples:
  - f(x(3), 2.0, generator=generator(1))
"""
KERNELS = """\
def moved(x, by):
    return x + {by}


def drawn(x, by, generator):
    return x + by * generator.random()
"""


def test_an_argument_that_a_kernel_does_not_heed(small):
    """Differences find nothing: the slope is 1 whatever it is moved by.  An example has to say what it is moved by."""
    entry = MOVED.format(name="f")
    small.write("runtime/kernels/moves.py", KERNELS.format(by=1))
    assert small.refusal("check", entry) == """\
derivatives.yaml:12:18: error: f: examples: no example says what the kernel makes of another 'by' than its default
- op: f(x, float by=1.0) -> y
                 ^"""
    stated = entry + "  examples:\n    f(1.0, 3.0): 4\n"
    assert "f: examples: f(1.0, 3.0) gives y = 2, not 4" in small.refusal("check", stated)
    small.write("runtime/kernels/moves.py", KERNELS.format(by="by"))
    small.check(stated)


def test_what_needs_no_example_of_each_argument(small):
    """A private operator is proved by its callers; what draws numbers has no values to state."""
    small.write("runtime/kernels/moves.py", KERNELS.format(by="by"))
    small.check(DRAWN)
    small.check("- op: g(x) -> y\n  doc: G.\n  dtype: real\n  composite: _f(x, 3.0)\n  samples: one\n" + MOVED.format(name="_f"))


def test_an_entry_that_is_wrong_is_not_told_what_it_has_not_tried(small):
    message = small.refusal("check", """\
- op: f(x, int n=1) -> y
  doc: F.
  forward: np.sin(x)
  dy/dx: sin(x) if n == 1 else cos(x)
  samples: one
""")  # fmt: skip
    assert "is wrong" in message and "no sample" not in message


def test_a_preset_among_calls(small):
    op = small.analyze("""\
- op: f(x, int n=1) -> y
  doc: F.
  composite: sin(x)
  samples:
  - f(x(2), 2)
  - one
""").ops["f"]  # fmt: skip
    assert [sample.source for sample in op.samples] == ["f(x(2), 2)", "f(x(3, 4))", "f(x(0, 3))"]


@pytest.mark.parametrize(
    ("value", "default", "same"),
    [(1, 1, True), (1.0, 1, True), (True, 1, True), (2, 1, False), (None, None, True), ("a", "b", False), ((1,), 1, False)],
)
def test_still(value, default, same):
    assert coverage.still(value, default) is same
