"""cond and switch: which function is called, with what, and what is recorded of it."""

import numpy as np
import pytest

import gradspec as gs


@pytest.mark.parametrize("pred", [True, 2, np.bool_(True), np.array(True), gs.asarray(0.5), 1j])
def test_only_the_one_that_holds_is_called(pred):
    def never(*operands):
        raise AssertionError("called")

    assert gs.cond(pred, lambda x: x * 2, never, 3.0).item() == 6
    assert gs.cond(pred * 0 if pred is not True else False, never, lambda: 1).item() == 1


def test_operands_and_results_are_tensors():
    def f(x, nest):
        assert isinstance(x, gs.Tensor) and isinstance(nest["a"][0], gs.Tensor) and nest["b"] is None
        return {"y": x.sum(), "n": 3, "none": None}

    found = gs.cond(True, f, None, np.ones(3), {"a": (1.0,), "b": None})
    assert found["y"].item() == 3 and isinstance(found["n"], gs.Tensor) and found["none"] is None


@pytest.mark.parametrize(("index", "wanted"), [(-5, 0), (0, 0), (1, 1), (2, 2), (9, 2), (gs.asarray(1), 1), (np.int8(2), 2)])
def test_an_index_beyond_the_end_is_the_last(index, wanted):
    assert gs.switch(index, [lambda: 0, lambda: 1, lambda: 2]).item() == wanted


def test_the_derivative_is_that_of_the_branch():
    def f(x):
        return gs.cond(x > 1, lambda x: x**2, lambda x: -x, x) + gs.switch(gs.astype(x, int), [gs.sin, gs.exp], x)

    assert gs.grad(f)(3.0).item() == pytest.approx(6 + np.exp(3.0))
    assert gs.jvp(f, (0.5,), (2.0,))[1].item() == pytest.approx(2 * (-1 + np.cos(0.5)))


def test_a_trace_says_that_the_branch_was_chosen():
    taken = gs.trace(lambda x: gs.cond(x > 1, gs.exp, gs.sin, x), np.array(2.0))
    assert [line.name for line in taken.instructions] == ["greater", "exp"]
    assert "bool() gave its truth to Python" in taken.notes[0]


ERRORS = [
    (lambda: gs.cond(gs.ones(2), gs.sin, gs.cos, 1.0), r"cond: pred must be a single bool or number, got shape \(2,\); write gs.where"),
    (lambda: gs.cond("yes", gs.sin, gs.cos, 1.0), "got str"),
    (lambda: gs.cond(True, gs.sin, gs.cos, "x"), r"cond: operands\[0\] is of type str"),
    (lambda: gs.cond(True, lambda: object(), None), "cond: the result is of type object"),
    (lambda: gs.switch(1.0, [gs.sin], 1.0), "switch: index must be a single integer, got float"),
    (lambda: gs.switch(gs.asarray([1, 2]), [gs.sin], 1.0), r"got int64\[2\]"),
    (lambda: gs.switch(0, [], 1.0), "switch: branches is empty"),
]


@pytest.mark.parametrize(("call", "message"), ERRORS)
def test_errors(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()


def test_rows_of_a_vmap_choose_for_themselves():
    """As a loop over the rows does: values, gradients, tangents, nests, writes to the operands, inner and outer levels."""
    xs = np.array([-2.0, 0.5, 3.0])

    def chosen(x):
        return gs.cond(x > 0, lambda x: {"y": (gs.exp(x), x)}, lambda x: {"y": (x.mul_(2.0), x**2)}, x * 1)["y"]

    def switched(x):
        return gs.switch(gs.astype(gs.floor(x), "int64"), [gs.sin, lambda x: x**3, gs.exp, lambda x: 0 * x], x)

    def counted(x):
        return gs.cond(gs.astype(x, "int64"), lambda: gs.asarray(1.0), lambda: gs.asarray(2.0)) * x

    for function in (lambda x: chosen(x)[0], lambda x: chosen(x)[1], switched, counted):
        for transform in (lambda f: f, gs.grad, lambda f: gs.grad(gs.grad(f)), lambda f: lambda x: gs.jvp(f, (x,), (x * 0 + 1,))[1]):
            each = gs.vmap(transform(function))
            wanted = [transform(function)(gs.asarray(x)).item() for x in xs]
            np.testing.assert_allclose(each(xs).tolist(), wanted, rtol=1e-12)
            np.testing.assert_allclose(gs.vmap(each)(np.stack([xs, xs])).tolist(), [wanted, wanted], rtol=1e-12)
    both = gs.grad(lambda xs: gs.vmap(switched)(xs).sum())(xs)
    np.testing.assert_allclose(both.tolist(), gs.vmap(gs.grad(switched))(xs).tolist())


def test_rows_that_choose_want_results_of_one_form():
    for other in (lambda x: (x, x), lambda x: gs.stack([x, x]), lambda x: x > 0):
        with pytest.raises(TypeError, match="cond: rows of a vmap choose for themselves, and the functions return pytrees of different"):
            gs.vmap(lambda x: gs.cond(x > 0, lambda x: x, other, x))(np.ones(2))  # noqa: B023
