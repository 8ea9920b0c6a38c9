"""Evaluation: ops, helpers and lets by name on plain arrays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from codegen.verify.evaluate import ArrayList, Evaluator, as_arrays

ENTRY = """\
- op: f(x, int n=2) -> y
  doc: F.
  composite: sin(x) * k if n else never
  let:
    k: doubled(n)
    never: sum(x, 99)
  samples: one

- op: halves(Array[] xs) -> Array[] ys
  doc: Half of each.
  forward: (0.5 * xs[0], 0.5 * xs[1])
  nondifferentiable: true
  samples:
  - f([x(3), x(2)])

- op: negate_(x) -> y
  doc: Minus, in place.
  inplace: kernels.negate_(x)
  linear: [x]
  vjp:
    x: -grad
  samples: one

- op: rolled(x, int[2] shift=1, int[]? axis=0) -> y
  doc: Rolled along two axes.
  forward: np.roll(x, (shift[0], shift[1], 2 * axis[0])[:2], (0, 1))
  nondifferentiable: true
  samples:
  - f(x(3, 4))
"""


def evaluator(small) -> tuple[Evaluator, dict]:
    small.write("runtime/formulas.py", "def doubled(n):\n    return 2 * n\n")
    small.write("runtime/kernels/plain.py", "import numpy as np\n\n\ndef negate_(x):\n    np.negative(x, out=x)\n")
    spec = small.analyze(ENTRY)
    return Evaluator(spec, small.root), spec.ops


def test_composites_call_ops_helpers_and_lets_when_needed(small):
    run, ops = evaluator(small)
    (y,) = run.forward(ops["f"], {"x": np.array([0.5, 1.0]), "n": 2})
    assert np.allclose(y, 4 * np.sin([0.5, 1.0]))


def test_lists_of_arrays(small):
    run, ops = evaluator(small)
    (ys,) = run.forward(ops["halves"], {"xs": [np.ones(3), np.ones(2)]})
    assert isinstance(ys, ArrayList) and ys.shape == [(3,), (2,)]


def test_an_in_place_op_does_not_touch_its_argument(small):
    run, ops = evaluator(small)
    x = np.ones(3)
    (y,) = run.forward(ops["negate_"], {"x": x})
    assert (x == 1).all() and (y == -1).all()


def test_ints_are_what_a_wrapper_hands_on(small):
    """A tuple; one int stands for as many as the type says, another count is refused."""
    run, ops = evaluator(small)
    x = np.arange(12.0).reshape(3, 4)
    for shift in (1, (1, 1), [1, 1]):
        (y,) = run.forward(ops["rolled"], {"x": x, "shift": shift, "axis": 0})
        assert (y == np.roll(x, (1, 1), (0, 1))).all()
    assert as_arrays(ops["rolled"], {"x": x, "shift": 1, "axis": None}) | {"x": x} == {"x": x, "shift": (1, 1), "axis": None}
    with pytest.raises(ValueError, match="'shift' takes an int or 2 ints, got 3"):
        run.forward(ops["rolled"], {"x": x, "shift": (1, 2, 3), "axis": 0})


@pytest.mark.parametrize("file, init", [
    ("runtime/formulas.py", None),
    ("runtime/formulas/first.py", "from .first import doubled\n"),
    ("runtime/formulas/rest.py", "_REST = ['rest']\n"),
])  # fmt: skip
def test_helpers_are_those_of_the_checkout(small, file, init):
    """In one file, or in the folder of that name: in a module that is imported at once, or when it is asked for."""
    small.write("runtime/kernels/plain.py", "def negate_(x):\n    x *= -1\n")
    if init is not None:
        small.write("runtime/formulas/__init__.py", init)
    for factor in ("2", "5.0"):
        small.write(file, f"def doubled(n):\n    return {factor} * n\n")
        spec = small.analyze(ENTRY)
        (y,) = Evaluator(spec, small.root).forward(spec.ops["f"], {"x": np.array([0.5]), "n": 3})
        assert np.allclose(y, 3 * float(factor) * np.sin(0.5))


def test_an_op_in_the_place_of_another(small):
    run, ops = evaluator(small)
    changed = replace(ops["cos"], signature=ops["sin"].signature)
    assert run.swap(changed) is ops["sin"]
    (y,) = run.forward(ops["f"], {"x": np.array([0.5, 1.0]), "n": 2})
    assert np.allclose(y, 4 * np.cos([0.5, 1.0]))
    assert run.swap(ops["sin"]) is changed
    (y,) = run.forward(ops["f"], {"x": np.array([0.5, 1.0]), "n": 2})
    assert np.allclose(y, 4 * np.sin([0.5, 1.0]))


WINDOW = """\
- op: window(x, int[2] size=1, int[2]? step=None) -> y
  doc: Twice a size.
  forward: np.sin(x) * size[0] * size[1] * (step[1] if step else 1)
  dy/dx: cos(x) * size[0] * size[1] * (step[1] if step else 1)
  samples:
  - f(x(3))
  - f(x(3), (2, 3), (1, 2))
"""


@pytest.mark.parametrize("call", ["window(x)", "window(x, 2)", "window(x, n)", "window(x, n + 1, step=x.ndim)", "window(x, (n, 2))"])
def test_one_int_stands_for_two_in_a_formula(small, call):
    """As it does where users pass it; forwards and kernels get two."""
    entry = f"- op: f(x, int n=1) -> y\n  doc: F.\n  composite: {call} * n\n  samples:\n  - f(x(3), 2)\n"
    assert small.check(entry + WINDOW) == []
