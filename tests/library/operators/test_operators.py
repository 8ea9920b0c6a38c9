"""Operators of a text, and of other packages: everything that the library's own have, and what is refused."""

import pickle
import re
import sys
from dataclasses import replace

import numpy as np
import pytest

import gradspec as gs

pytest.importorskip("yaml")
pytest.importorskip("jinja2")

from gradspec.operators import Operator  # noqa: E402
from gradspec.operators.checks import CHECKS  # noqa: E402
from gradspec.operators.text import OperatorError  # noqa: E402
from tests.asked import each  # noqa: E402

GUDERMANN = """
op: gudermann(x) -> y
doc: The Gudermannian.
variants: [inplace, out]
dtype: real
shape: x -> x
forward: 2 * np.arctan(np.tanh(x / 2))
dy/dx: 1 / cosh(x)
"""
OTHERS = {
    "several outputs": """
op: swing(x, w) -> sine, cosine
doc: Sine and cosine of a product.
dtype: real
shape: x, w -> broadcast(x, w), broadcast(x, w)
forward: (np.sin(x * w), np.cos(x * w))
vjp:
  x: grad_sine * cosine * w - grad_cosine * sine * w
  w: grad_sine * cosine * x - grad_cosine * sine * x
jvp:
  sine: x_t * (cosine * w) + w_t * (cosine * x)
  cosine: -x_t * (sine * w) - w_t * (sine * x)
samples:
- f(x(3, 4), x(4))
- f(x(2, 1), x(2, 3))
""",
    "a hidden output": """
op: capped(x, float cap=1.0) -> y, Mask _below
doc: What is below a cap, and the cap elsewhere.
dtype: real
shape: x -> x, x
forward: (np.minimum(x, cap), np.less(x, cap))
vjp:
  x: where(_below, grad, 0.0)
jvp: where(_below, x_t, 0.0)
samples:
- f(x(2, 3), 0.25)
""",
    "a multilinear one": """
op: twist(a, b) -> y
doc: A product with the second factor turned round.
dtype: float -> given
shape: (..., n), (..., n) -> (..., n)
forward: a * b[..., ::-1]
multilinear: [a, b]
vjp:
  a: grad * conj(flip(b, -1))
  b: flip(grad * conj(a), -1)
samples:
- f(x(2, 3), x(2, 3))
- f(x(2, 1, 4), x(3, 4))
""",
    "a composite of ours": """
op: soft(x, float scale=1.0) -> y
doc: A composite that calls operators of the library.
dtype: real
shape: x -> x
composite: logaddexp(scale * x, 0.0) / scale
samples:
- f(x(2, 3), 2.0)
examples:
  f([0.0], 2.0): [log(2) / 2]
""",
    "rules with a mask": """
op: keep(x, Mask wanted, float other=0.0) -> y
doc: What is wanted, and another number elsewhere.
dtype: real
shape: x, wanted -> broadcast(x, wanted)
forward: np.where(wanted, x, other)
vjp:
  x: where(wanted, grad, 0.0)
jvp: where(wanted, x_t, 0.0)
samples:
- f(x(3, 4), mask(3, 4))
- f(x(3, 4), mask(4), 2.0)
- f(x(4), mask(3, 4), 1.5)
""",
    "nothing to differentiate": """
op: above(x, float bound=0.0) -> Mask y
doc: Whether it is above a bound.
dtype: real
shape: x -> x
forward: np.greater(x, bound)
nondifferentiable: true
samples:
- f(x(3, 4), 0.5)
""",
}


@pytest.fixture(scope="module")
def gudermann():
    return gs.operator(GUDERMANN)


@each("text", OTHERS.values(), ids=OTHERS)
def test_an_entry_of_each_form_stands_all_questions(text):
    made = gs.operator(text)
    assert isinstance(made, Operator) and len(made.proofs) == len(CHECKS) + 1
    assert all(found for _, found in made.proofs)


def test_a_kernel_in_python_and_its_adjoint():
    def spread(x, n, step):
        y = np.zeros((*x.shape[:-1], n), x.dtype)
        y[..., ::step] = x
        return y

    every = gs.operator("""
        - op: every(x, int step=2) -> y
          doc: Some elements of the last axis.
          shape: (..., n) -> (..., _)
          forward: np.copy(x[..., ::step])
          linear: [x]
          vjp:
            x: _spread(grad, x.shape[-1], step)
          samples:
          - f(x(2, 6))
          - f(x(3, 2, 7), 3)

        - op: _spread(x, int n, int step) -> y
          doc: The adjoint of every.
          shape: (..., _) -> (..., n)
          forward: kernels.spread(x, n, step)
          linear: [x]
          vjp:
            x: every(grad, step)
          samples:
          - f(x(2, 3), 6, 2)
          - f(x(2, 3, 2), 5, 3)
        """, kernels={"spread": spread})  # fmt: skip
    x = gs.tensor(np.arange(6.0), requires_grad=True)
    (every(x, 4) * gs.asarray([2.0, 3.0])).sum().backward()
    assert x.grad.tolist() == [2, 0, 0, 0, 3, 0]


def test_it_looks_like_an_operator(gudermann):
    x = gs.tensor([0.5, 1.0], requires_grad=True)
    y = gudermann(x)
    assert type(y.grad_fn).__name__ == "GudermannBackward" and repr(gudermann) == f"<operator gudermann(x) -> y of {__name__}>"
    assert gudermann.__name__ == "gudermann" and "Parameters" in gudermann.__doc__ and str(gudermann.__signature__) == "(x, *, out=None)"
    assert pickle.loads(pickle.dumps(gudermann)) is gudermann
    assert "differences at 6 calls, both modes" in gudermann.page
    html = gudermann._repr_html_()
    assert html.startswith("<table><caption><code>gudermann(x) -&gt; y</code>") and "second order" in html and html.endswith("</table>")

    class Layer:
        call = gudermann

    assert Layer.call is gudermann and Layer().call.args != ()


def test_it_is_traced_compiled_profiled_and_nested(gudermann):
    x = np.array([0.5, 1.0])
    exact = 1 / np.cosh(x)
    assert np.allclose(gs.vmap(gs.grad(gudermann))(x), exact)
    assert np.allclose(gs.compile(gs.vmap(gs.grad(gudermann)))(x), exact)
    assert np.allclose(gs.vmap(gs.grad(gs.grad(gs.grad(gudermann))))(x), (2 / np.cosh(x) ** 2 - 1) * -exact)
    assert np.allclose(gs.hessian(lambda x: gudermann(x).sum())(x).numpy(), np.diag(-np.sinh(x) * exact**2))
    with gs.profiler.profile() as found:
        gudermann(gs.tensor(x, requires_grad=True)).sum().backward()
    assert any("Gudermann" in event.name for event in found.events())


def test_what_a_hidden_result_hides_is_found():
    """It counts as constant: a rule whose second derivative goes through it is refused."""
    with pytest.raises(OperatorError, match="^swing: second order: second derivative at f"):
        gs.operator("""
            op: swing(x) -> y, _angle
            doc: Sine of the double.
            dtype: real
            shape: x -> x, x
            forward: (np.sin(2 * x), np.multiply(2, x))
            vjp:
              x: 2 * grad * cos(_angle)
            jvp: 2 * x_t * cos(_angle)
            samples:
            - f(x(2, 3))
            """)


def test_a_wrong_call_says_what_is_wrong(gudermann):
    with pytest.raises(TypeError, match=r"gudermann: .*missing a required argument: 'x'; it is called as gudermann\(x, \*, out=None\)"):
        gudermann()
    with pytest.raises(TypeError, match="gudermann: argument 'x' is of dtype complex128, but gudermann takes real numbers"):
        gudermann([1j])
    with pytest.raises(TypeError, match="argument 'x' must be an array, got None"):
        gudermann(None)
    x = gs.tensor([1.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="gudermann: functions with out=... arguments don't support automatic differentiation"):
        gudermann(x, out=gs.zeros(1))
    with pytest.raises(RuntimeError, match=r"output with shape \[2\] doesn't match the broadcast shape \[1\]"):
        gudermann([1.0], out=gs.zeros(2))
    with pytest.raises(TypeError, match="result type float64 can't be cast to the target's dtype int64"):
        gudermann([1.0], out=gs.asarray([1]))


def test_what_is_saved_is_guarded(gudermann):
    x = gs.tensor([0.5], requires_grad=True)
    z = x * 1.0
    y = gudermann(z)
    with gs.no_grad():
        z.add_(1.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


REFUSED = {
    "an unknown function": (("1 / cosh(x)", "1 / coshh(x)"), "entry:7:12: error: gudermann: dy/dx: unknown function 'coshh'"),
    "a wrong derivative": (("1 / cosh(x)", "2 / cosh(x)"), "entry:7:8: error: gudermann: dy/dx: is wrong: expected"),
    "a name of ours": (("gudermann(", "tanh("), "entry:1:5: error: tanh: op: 'tanh' is an operator of gradspec already"),
    "an unknown key": (("doc:", "dock:"), "entry:2:1: error: gudermann: unknown key 'dock'; did you mean 'doc'?"),
    "Python beyond formulas": (("2 * np.arctan", "np.f2py.os.system"), "entry:6:"),
    "no sample": (("shape: x -> x", "shape: (n, n) -> (n, n)"), "entry:1:5: error: gudermann: samples: missing"),
}


@each("change, message", REFUSED.values(), ids=REFUSED)
def test_a_wrong_entry_is_refused_with_its_line(change, message):
    assert change[0] in GUDERMANN
    with pytest.raises(OperatorError, match=re.escape(message)):
        gs.operator(GUDERMANN.replace(*change))


@each("module", ["yaml", "jinja2"])
def test_what_is_missing_is_named(module, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("gradspec.codegen")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=r'needs PyYAML and Jinja2: pip install "gradspec\[codegen\]"'):
        gs.operator(GUDERMANN)


def test_a_tensor_that_a_kernel_closes_over_is_refused():
    """Its gradient would be dropped."""
    held = [2.0]
    made = gs.operator("op: scaled(x) -> y\ndoc: Twice x.\ndtype: real\nshape: x -> x\nforward: kernels.scale(x)\nlinear: [x]\n"
                       "vjp:\n  x: 2.0 * grad", kernels={"scale": lambda x: x * held[0]})  # fmt: skip
    held[0] = gs.tensor(2.0, requires_grad=True)
    with pytest.raises(TypeError, match="scaled: its forward gave a tensor in the place of an array: what a kernel closes over gets no"):
        made([1.0])


def test_a_rule_that_is_missing_is_said_to_be():
    made = gs.operator("op: far(x) -> y\ndoc: A function whose rule nobody wrote.\ndtype: real\nshape: x -> x\n"
                       "forward: np.sin(x)\nunimplemented: true")  # fmt: skip
    x = gs.tensor([1.0], requires_grad=True)
    for question in (lambda: made(x).sum().backward(), lambda: gs.jvp(made, (x.detach(),), (gs.ones(1),)), lambda: gs.jet(made, (x.detach(),), ([gs.ones(1)],))):
        with pytest.raises(NotImplementedError, match="far"):
            question()


def test_what_has_no_derivative_is_constant():
    made = gs.operator("op: steps(x) -> y\ndoc: A staircase.\ndtype: real\nshape: x -> x\nforward: np.floor(x / 2.0)\n"
                       "nondifferentiable: true")  # fmt: skip
    x = gs.tensor([1.3], requires_grad=True)
    assert not made(x).requires_grad and gs.jvp(made, (x.detach(),), (gs.ones(1),))[1].tolist() == [0]


def test_a_question_finds_a_wrong_operator(gudermann):
    """Each question that has something to compare fails on an operator whose rules are other than its values."""
    wrong = Operator(replace(gudermann.facts, module="wrong"), gudermann.forward, lambda wanted, x, grad: (grad * x,),
                     lambda x, y, x_t: (x_t * x,))  # fmt: skip
    with pytest.raises(AssertionError, match="gradient at f\\("):
        CHECKS[1](wrong)
    once = Operator(replace(gudermann.facts, module="once"), gudermann.forward, lambda wanted, x, grad: (grad / gs.cosh(x.detach()),),
                    gudermann.jvp)  # fmt: skip
    with pytest.raises(AssertionError, match="second derivative at f\\("):
        CHECKS[2](once)
    with pytest.raises(AssertionError, match="coefficient"):
        next(q for q in CHECKS if q.__name__ == "series")(wrong)
    shifted = Operator(replace(gudermann.facts, module="shifted", batch=("elements", "a")), lambda x: np.cumsum(x, axis=0) if x.ndim else x,
                       gudermann.vjp, gudermann.jvp)  # fmt: skip
    with pytest.raises(AssertionError, match="vmap at f\\("):
        next(q for q in CHECKS if q.__name__ == "batches")(shifted)
