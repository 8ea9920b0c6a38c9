"""Operators that refuse an operand ask it for an answer."""

import pytest

import gradspec as gs
from gradspec.core.overrides import ask, let_operands_answer
from gradspec.support.dispatch import ops


class Answering:
    """What no operator takes."""

    def __gradspec_function__(self, function, args, keywords):
        if function.__name__ == "sinh":
            return NotImplemented
        if function.__name__ == "cosh":
            raise ValueError("not along this axis")
        return function.__name__, args, keywords


X = Answering()


def test_most_operators_ask():
    assert let_operands_answer(vars(ops).values()) > 0.95 * len(vars(ops))
    assert let_operands_answer([len, Answering, lambda: 0]) == 0


def test_operands_are_asked():
    assert gs.exp(X) == ("exp", (X,), {})
    assert gs.add(1.0, X) == ("add", (1.0, X), {})
    name, (first,), keywords = gs.concat([1.0, X], dim=1)
    assert (name, first, keywords) == ("concat", [1.0, X], {"dim": 1})
    assert gs.concat((1.0, X)) == ("concat", ((1.0, X),), {})
    assert gs.sum(x=X, keepdims=True) == ("sum", (), {"x": X, "keepdims": True})
    assert ask(gs.exp, (1, [2]), {"x": (3,)}) is NotImplemented


def test_errors_stay_what_they_are():
    with pytest.raises(TypeError, match="sinh: argument 'x' must be a tensor"):
        gs.sinh(X)
    with pytest.raises(ValueError, match="not along this axis"):
        gs.cosh(X)
    with pytest.raises(TypeError, match="exp: argument 'x' must be a tensor, an array or a number, got str"):
        gs.exp("a")
    with pytest.raises(TypeError, match="takes exactly 1 positional argument"):
        gs.exp()
    with pytest.raises(TypeError, match="did you mean 'axis'"):
        gs.sum(gs.ones(3), axes=1)


def test_what_fits_is_called_as_ever():
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    gs.sum(gs.exp(x) * 2, axis=0).backward()
    assert gs.allclose(x.grad, 2 * gs.exp(x.detach()))
    with pytest.raises(ValueError):
        gs.reshape(x, (3,))
