"""User-defined operators, as in HIPS autograd: `primitive`, and functions that set its rules.

A primitive is built on `custom.Rule`: its function runs on NumPy's arrays, its rules run on tensors and are therefore
differentiable.
"""

import functools
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

from ..core.conversion import asarray
from ..core.grad_mode import is_grad_enabled
from ..core.tensor import TensorBase
from ..support.dispatch import ops
from ..support.pytree import flatten, rebuild
from .callbacks import OnArrays, called_back
from .closures import recording
from .custom import Rule, applied, detached, looked_at, looked_through, spread


class primitive:
    """Make a function an operator: it is called with NumPy's arrays, and `defvjp` and `defjvp` set its derivatives.

    Parameters
    ----------
    f : callable
        Takes and returns arrays, numbers and pytrees of them.  Keyword arguments are not differentiated.  It must not have side
        effects: a compiled function calls it at each replay.

    Notes
    -----
    One of `defvjp` and `defjvp` is enough: the other mode transposes the rule.  Inside `vmap` the function is called for each
    row.

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
        self.f: Callable[..., Any] = f
        self.vjps: dict[int, Any] = {}  # argument -> rule
        self.jvps: dict[int, Any] = {}
        self.vjp_of_all: Callable[..., Any] | None = None  # a rule for all arguments at once
        self.jvp_of_all: Callable[..., Any] | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return applied(_Primitive, self, kwargs, *flatten(list(args)), [is_grad_enabled()])

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def pull(self, argnums: list[int], ans: Any, args: list, kwargs: dict, gradient: Any) -> Sequence[Any]:
        """The gradients of some arguments."""
        if self.vjp_of_all is not None:
            return self.vjp_of_all(tuple(argnums), ans, tuple(args), kwargs)(gradient)
        makers = [self.rule(self.vjps, i, "defvjp") for i in argnums]
        return [None if maker is None else maker(ans, *args, **kwargs)(gradient) for maker in makers]

    def push(self, argnums: list[int], tangents: list, ans: Any, args: list, kwargs: dict) -> list:
        """The leaves of the tangent of the result, from tangents of some arguments."""
        if self.jvp_of_all is not None:
            terms = [self.jvp_of_all(tuple(argnums), tuple(tangents), ans, tuple(args), kwargs)]
        else:
            terms = []
            for i, tangent in zip(argnums, tangents):
                maker = self.rule(self.jvps, i, "defjvp")
                if maker == "same":
                    terms.append(self(*args[:i], tangent, *args[i + 1 :], **kwargs))
                elif maker is not None:
                    terms.append(maker(tangent, ans, *args, **kwargs))
        columns = zip(*[flatten(term)[0] for term in terms], strict=True)
        found = [functools.reduce(ops.add, map(asarray, column)) for column in columns]
        return found or [ops.zeros_like(leaf) for leaf in flatten(ans)[0]]

    def rule(self, rules: dict[int, Any], i: int, word: str) -> Any:
        if i not in rules:
            kind = "backward pass" if word == "defvjp" else "forward mode"
            name = getattr(self.f, "__name__", repr(self.f))
            raise NotImplementedError(f"{name}: no {kind} is given for argument {i}; write {word}({name}, ...)")
        return rules[i]


def defvjp(f: primitive, *vjpmakers: Callable[..., Any] | None, argnums: Sequence[int] | None = None) -> None:
    """Set the reverse-mode rules of an operator, one for each argument.

    Parameters
    ----------
    f : primitive
    *vjpmakers : callable or None
        One for each argument: it takes the result and the arguments, and returns a function from the gradient of the result to
        the gradient of the argument.  None if the gradient is 0.
    argnums : sequence of int, optional
        The numbers of the arguments, if they are not 0, 1 and so on.
    """
    f.vjps.update(zip(range(len(vjpmakers)) if argnums is None else argnums, vjpmakers))


def defvjp_argnums(f: primitive, vjpmaker: Callable[..., Any]) -> None:
    """Set one reverse-mode rule of an operator for all arguments at once.

    Parameters
    ----------
    f : primitive
    vjpmaker : callable
        Takes the numbers of the arguments whose gradients are needed, the result, the arguments (a tuple) and the keyword
        arguments (a dictionary).  Returns a function from the gradient of the result to a tuple of the needed gradients.

    Examples
    --------
    >>> import numpy as np
    >>> import gradspec as gs
    >>> from gradspec.extend import defvjp_argnums, primitive
    >>> @primitive
    ... def product(*factors):
    ...     return np.prod(factors)
    >>> defvjp_argnums(product, lambda argnums, ans, args, kwargs: lambda g: tuple(g * ans / args[i] for i in argnums))
    >>> [gradient.item() for gradient in gs.grad(product, (0, 2))(2.0, 3.0, 5.0)]
    [15.0, 6.0]
    """
    f.vjp_of_all = vjpmaker


def defvjp_argnum(f: primitive, vjpmaker: Callable[..., Any]) -> None:
    """Set one reverse-mode rule of an operator for any argument.

    Parameters
    ----------
    f : primitive
    vjpmaker : callable
        Takes the number of an argument, the result, the arguments (a tuple) and the keyword arguments (a dictionary).  Returns a
        function from the gradient of the result to the gradient of the argument.
    """
    f.vjp_of_all = lambda argnums, *call: lambda g: tuple([vjpmaker(i, *call)(g) for i in argnums])


def defjvp(f: primitive, *jvpmakers: Callable[..., Any] | str | None, argnums: Sequence[int] | None = None) -> None:
    """Set the forward-mode rules of an operator, one for each argument.

    Parameters
    ----------
    f : primitive
    *jvpmakers : callable, 'same' or None
        One for each argument: from its tangent, the result and the arguments to the tangent of the result.  It is 'same' if the
        operator is linear in the argument, None if the tangent is 0.
    argnums : sequence of int, optional
        The numbers of the arguments, if they are not 0, 1 and so on.
    """
    f.jvps.update(zip(range(len(jvpmakers)) if argnums is None else argnums, jvpmakers))


def defjvp_argnums(f: primitive, jvpmaker: Callable[..., Any]) -> None:
    """Set one forward-mode rule of an operator for all arguments at once.

    Parameters
    ----------
    f : primitive
    jvpmaker : callable
        Takes the numbers of the arguments that have tangents, these tangents (a tuple), the result, the arguments (a tuple) and
        the keyword arguments (a dictionary).  Returns the tangent of the result.
    """
    f.jvp_of_all = jvpmaker


def defjvp_argnum(f: primitive, jvpmaker: Callable[..., Any]) -> None:
    """Set one forward-mode rule of an operator for any argument.

    Parameters
    ----------
    f : primitive
    jvpmaker : callable
        Takes the number of an argument, its tangent, the result, the arguments (a tuple) and the keyword arguments (a
        dictionary).  Returns the tangent of the result.
    """
    def of_all(argnums: tuple, tangents: tuple, *call: Any) -> Any:
        terms = [flatten(jvpmaker(i, tangent, *call)) for i, tangent in zip(argnums, tangents)]
        return rebuild(terms[0][1], [functools.reduce(ops.add, column) for column in zip(*[leaves for leaves, _ in terms])])

    f.jvp_of_all = of_all


def def_linear(f: primitive) -> None:
    """Declare that an operator is linear in each of its arguments, as `defjvp(f, 'same', ...)` does.

    Parameters
    ----------
    f : primitive
        The operator.
    """
    defjvp_argnum(f, lambda i, tangent, ans, args, kwargs: f(*args[:i], tangent, *args[i + 1 :], **kwargs))


class _Primitive(Rule):
    generate_vmap_rule = False

    @staticmethod
    def forward(ctx, owner, keywords, form, found, *leaves):
        ctx.set_materialize_grads(False)
        with recording() if found[0] else nullcontext():  # to find the tensors that it closes over
            result = called_back(OnArrays(owner.f), tuple(rebuild(form, leaves)), keywords)
        return Rule.keep(ctx, owner, keywords, form, found, leaves, flatten(result), True)

    @staticmethod
    def backward(ctx, *grads):
        leaves, outputs = Rule.leaves(ctx)
        if not ctx.owner.vjps and ctx.owner.vjp_of_all is None and (ctx.owner.jvps or ctx.owner.jvp_of_all is not None):
            return Rule.transposed(ctx, leaves, grads, lambda *both: _Primitive.tangent(ctx, outputs, *both))
        grads = [ops.zeros_like(output) if grad is None else grad for output, grad in zip(outputs, grads)]
        args, needed = rebuild(ctx.form, leaves), rebuild(ctx.form, ctx.needs_input_grad[4:])
        argnums = [i for i, one in enumerate(needed) if any(flatten(one)[0])]
        if not is_grad_enabled():
            args, outputs = rebuild(ctx.form, detached(leaves)), detached(outputs)
        with looked_at(ctx):
            pulled = ctx.owner.pull(argnums, rebuild(ctx.out_form, outputs), args, ctx.fixed, rebuild(ctx.out_form, grads))
        found = dict(zip(argnums, pulled, strict=True))
        every = [grad for i, arg in enumerate(args) for grad in spread(arg, found.get(i))]
        looked_through(ctx, every)
        return None, None, None, None, *(grad if one else None for grad, one in zip(every, ctx.needs_input_grad[4:]))

    @staticmethod
    def jvp(ctx, *tangents):
        leaves, outputs = Rule.leaves(ctx)
        return tuple(_Primitive.tangent(ctx, outputs, rebuild(ctx.form, leaves), rebuild(ctx.form, tangents[4:])))

    @staticmethod
    def tangent(ctx, outputs, args, tangents):
        """The leaves of the tangent of the result; the rule receives only the arguments that have tangents."""
        argnums, given = [], []
        for i, (arg, tangent) in enumerate(zip(args, tangents)):
            (leaves, form), found = flatten(arg), flatten(tangent)[0]
            if any(leaf is not None for leaf in found):
                argnums.append(i)
                given.append(rebuild(form, [ops.zeros_like(leaf) if t is None and isinstance(leaf, TensorBase) else t
                                            for leaf, t in zip(leaves, found)]))  # fmt: skip
        return ctx.owner.push(argnums, given, rebuild(ctx.out_form, outputs), args, ctx.fixed)

    @staticmethod
    def vmap(info, in_dims, owner, keywords, form, found, *leaves):
        """Call the function row by row: it does not accept batches."""
        rows = [[leaf if dim is None else ops.select(leaf, dim, i) for leaf, dim in zip(leaves, in_dims[4:])]
                for i in range(info.batch_size)]  # fmt: skip
        results = [_Primitive.apply(owner, keywords, form, found, *row) for row in rows]
        return tuple([ops.stack(list(column)) for column in zip(*results)]), 0
