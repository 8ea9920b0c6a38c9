"""HIPS autograd's way to an operator of your own: `primitive`, and rules beside it.

Owns these names.  An operator is an `autograd.Function`: its rules run on tensors, and are differentiated as they stand.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import gradspec  # noqa: F401 (waits for it)

from .autograd import Function
from .core.operand import asarray
from .core.tensor import TensorBase
from .support.dispatch import ops
from .support.later import answer

__all__ = ["defjvp", "defvjp", "primitive"]
answer(__name__)


def __dir__() -> list[str]:
    return __all__


class primitive:
    """A function that is an operator: it is called with NumPy's arrays, and its derivatives are those of `defvjp` and `defjvp`.

    Parameters
    ----------
    f : callable
        Of arrays and numbers; its result is an array or a number.

    Examples
    --------
    >>> import numpy as np
    >>> import gradspec as gs
    >>> from gradspec.extend import defvjp, primitive
    >>> @primitive
    ... def cube(x):
    ...     return np.power(x, 3)
    >>> defvjp(cube, lambda ans, x: lambda g: g * 3 * x**2)
    >>> gs.grad(cube)(2.0).item()
    12.0
    """

    def __init__(self, f: Callable[..., Any]) -> None:
        functools.update_wrapper(self, f)
        self.f, self.vjps, self.jvps = f, {}, {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _Primitive.apply(self, kwargs, *args)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)


def defvjp(f: primitive, *vjpmakers: Callable[..., Any] | None, argnums: Sequence[int] | None = None) -> None:
    """Give an operator its backward pass.

    Parameters
    ----------
    f : primitive
    *vjpmakers : callable or None
        One for each argument: it takes the result and the arguments, and returns a function from the gradient of the result to
        that of the argument; None where that is 0.
    argnums : sequence of int, optional
        The numbers of the arguments, if they are not 0, 1 and so on.
    """
    f.vjps.update(zip(range(len(vjpmakers)) if argnums is None else argnums, vjpmakers))


def defjvp(f: primitive, *jvpmakers: Callable[..., Any] | None, argnums: Sequence[int] | None = None) -> None:
    """Give an operator its forward mode.

    Parameters
    ----------
    f : primitive
    *jvpmakers : callable or None
        One for each argument: it takes the tangent of the argument, the result and the arguments, and returns the tangent of the
        result; None where that is 0.
    argnums : sequence of int, optional
        The numbers of the arguments, if they are not 0, 1 and so on.
    """
    f.jvps.update(zip(range(len(jvpmakers)) if argnums is None else argnums, jvpmakers))


class _Primitive(Function):
    @staticmethod
    def forward(ctx, owner, keywords, *args):
        y = asarray(owner.f(*map(_plain, args), **{name: _plain(value) for name, value in keywords.items()}))
        kept = [arg for arg in args if isinstance(arg, TensorBase)]
        ctx.owner, ctx.keywords = owner, keywords
        ctx.args = [None if isinstance(arg, TensorBase) else (arg,) for arg in args]
        ctx.save_for_backward(y, *kept)
        ctx.save_for_forward(y, *kept)
        return y

    @staticmethod
    def backward(ctx, grad):
        y, args = _Primitive.call(ctx)
        found = [None, None]
        for i, needed in enumerate(ctx.needs_input_grad[2:]):
            maker = _rule(ctx.owner, ctx.owner.vjps, i, "defvjp") if needed else None
            found.append(None if maker is None else asarray(maker(y, *args, **ctx.keywords)(grad)))
        return tuple(found)

    @staticmethod
    def jvp(ctx, _owner, _keywords, *tangents):
        y, args = _Primitive.call(ctx)
        y_t = ops.zeros_like(y)
        for i, tangent in enumerate(tangents):
            maker = None if tangent is None else _rule(ctx.owner, ctx.owner.jvps, i, "defjvp")
            if maker is not None:
                y_t = y_t + maker(tangent, y, *args, **ctx.keywords)
        return y_t

    @staticmethod
    def call(ctx):
        """The result and the arguments of the call."""
        y, *kept = ctx.saved_tensors
        rest = iter(kept)
        return y, [next(rest) if arg is None else arg[0] for arg in ctx.args]


def _plain(value: Any) -> Any:
    return value.detach().numpy()[()] if isinstance(value, TensorBase) else value


def _rule(owner: primitive, rules: dict, i: int, word: str) -> Any:
    if i not in rules:
        kind = "backward pass" if word == "defvjp" else "forward mode"
        name = owner.f.__name__
        raise NotImplementedError(f"{name}: no {kind} is given for argument {i}; write {word}({name}, ...)")
    return rules[i]
