"""Functions with derivative rules by users, as in JAX: `custom_jvp`, `custom_vjp` and `stop_gradient`.

Converts a rule on pytrees of arrays to an `autograd.Function`.  For a derivative of the derivative the rule is run again and
recorded, so the rule itself is differentiated.
"""

import functools
import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

from ..autograd import Function
from ..autograd import grad as gradients
from ..core.conversion import asarray
from ..core.grad_mode import enable_grad, is_grad_enabled
from ..core.tensor import TensorBase
from ..engine.backward import depends_on_others
from ..support.dispatch import ops
from ..support.pytree import flatten, rebuild, without_leaves
from ..transforms.batching.batched_backward import ReadsRow, aligned, of_every_row, stood, union
from ..transforms.batching.level_tensor import LevelTensor
from .call_context import current_keeping
from .closures import has_tangent, recording, taken

_transposing = threading.local()  # for each thread, the functions whose tangent rules are being transposed


def _running() -> list:
    """The functions whose forward rule is running in this thread."""
    return vars(_transposing).setdefault("running", [])


class _Custom:
    """A function, and the positions of its arguments that are not differentiated."""

    def __init__(self, fun: Callable[..., Any], nondiff_argnums: Sequence[int] = ()) -> None:
        functools.update_wrapper(self, fun)
        self.__name__ = getattr(fun, "__name__", type(fun).__name__)
        self.fun, self.rule, self.signature = fun, None, Signature(fun)
        self.fixed = (nondiff_argnums,) if isinstance(nondiff_argnums, int) else tuple(nondiff_argnums)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def split(self, args: tuple) -> tuple[list, list]:
        """The arguments that are not variables, and the variables."""
        return [args[i] for i in self.fixed], [arg for i, arg in enumerate(args) if i not in self.fixed]

    def joined(self, fixed: list, variables: list) -> list:
        """All arguments, in the order of the signature."""
        found, rest = dict(zip(self.fixed, fixed)), iter(variables)
        return [found[i] if i in found else next(rest) for i in range(len(fixed) + len(variables))]

    def applied(self, kind: Any, fixed: list, variables: list, function: Callable[[list], tuple]) -> Any:
        """The first result of `function` for the variables, attached to the graph by a kind of rule.

        The variables are detached for the call.  If a result still has a derivative, it depends on another tensor; this is an
        error, because the rule computes no gradient for that tensor.
        """
        leaves, form = flatten(variables)
        given = [taken(leaf) if isinstance(leaf, TensorBase) else leaf for leaf in leaves]
        result, *kept = function(rebuild(form, given))
        outputs, out_form = flatten(result)
        if any(map(has_derivative, outputs)):
            raise RuntimeError(f"{self.__name__}: it reads a tensor that requires grad, or has a tangent, but is not one of its "
                               "variables, so the derivative by it would be lost; make it an argument outside of "
                               "nondiff_argnums, or write gs.stop_gradient(...) where the function reads it")  # fmt: skip
        originals = {id(new): old for new, old in zip(given, leaves)}
        outputs = [originals[id(leaf)] if id(leaf) in originals else apart(leaf) for leaf in outputs]
        return applied(kind, self, fixed, leaves, form, [(outputs, out_form), *kept])


class custom_jvp(_Custom):
    """A function with a user's rule for its tangents; backward passes transpose the rule.

    Parameters
    ----------
    fun : callable
        Function of arrays, numbers, or pytrees of them.
    nondiff_argnums : int or sequence of int
        Positions of arguments that are not differentiated: the rule takes them as its first arguments.

    Examples
    --------
    >>> import gradspec as gs
    >>> @gs.custom_jvp
    ... def log1pexp(x):
    ...     return gs.log(1 + gs.exp(x))
    >>> @log1pexp.defjvp
    ... def rule(primals, tangents):
    ...     (x,), (x_t,) = primals, tangents
    ...     return log1pexp(x), (1 - 1 / (1 + gs.exp(x))) * x_t
    >>> gs.grad(log1pexp)(100.0).item()
    1.0
    """

    def defjvp(self, jvp: Callable[..., Any]) -> Callable[..., Any]:
        """Set the rule.

        Parameters
        ----------
        jvp : callable
            Takes a tuple of the arguments and a tuple of their tangents; returns the result and its tangent.

        Returns
        -------
        callable
            The rule.
        """
        self.rule = jvp
        return jvp

    def defjvps(self, *jvps: Callable[..., Any] | None) -> None:
        """Set one rule per argument: it takes the argument's tangent, the result and the arguments, and returns the tangent of
        the result.  None is a derivative of 0."""

        def jvp(primals: tuple, tangents: tuple) -> Any:
            ans = self(*primals)
            terms = [rule(tangent, ans, *primals) for rule, tangent in zip(jvps, tangents, strict=True) if rule is not None]
            return ans, functools.reduce(ops.add, terms) if terms else ops.zeros_like(ans)

        self.rule = jvp

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.rule is None:
            raise AttributeError(f"{self.fun.__name__}: no rule is given; write @{self.fun.__name__}.defjvp above one")
        fixed, variables = self.split(self.signature.bound(args, kwargs))
        return self.applied(_ByTangents, fixed, variables, lambda given: (self.fun(*self.joined(fixed, given)), None))

    def tangent(self, fixed: list, variables: list, tangents: list) -> list:
        """The leaves of the tangent of the result, as computed by the rule."""
        out = self.rule(*fixed, tuple(variables), tuple(tangents))
        if not isinstance(out, (tuple, list)) or len(out) != 2:
            raise TypeError(f"{self.fun.__name__}: its rule must return a pair: the result and the tangent of the result")
        return [asarray(leaf) for leaf in flatten(out[1])[0]]


class custom_vjp(_Custom):
    """A function with a user's rule for its backward pass.

    Parameters
    ----------
    fun : callable
        Function of arrays, numbers, or pytrees of them.
    nondiff_argnums : int or sequence of int
        Positions of arguments that are not differentiated: the backward function takes them as its first arguments.

    Examples
    --------
    >>> import gradspec as gs
    >>> @gs.custom_vjp
    ... def clipped(x, limit):
    ...     return x
    >>> def forward(x, limit):
    ...     return x, limit
    >>> def backward(limit, g):
    ...     return gs.clip(g, -limit, limit), None
    >>> clipped.defvjp(forward, backward)
    >>> gs.grad(lambda x: 5 * clipped(x, 1.0))(2.0).item()
    1.0
    """

    def defvjp(self, fwd: Callable[..., Any], bwd: Callable[..., Any]) -> None:
        """Set the forward and the backward function.

        Parameters
        ----------
        fwd : callable
            Takes the arguments; returns the result and the residuals, which are the saved values of the backward function.
        bwd : callable
            Takes the residuals and the gradient of the result; returns a tuple of a gradient or None for each argument.
        """
        self.rule = fwd, bwd

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.rule is None:
            raise AttributeError(f"{self.fun.__name__}: no rule is given; write {self.fun.__name__}.defvjp(forward, backward)")
        if self in _running() and not any(map(has_derivative, flatten([args, kwargs])[0])):
            return self.fun(*args, **kwargs)  # called by its own forward rule, for the value
        fixed, variables = self.split(self.signature.bound(args, kwargs))
        return self.applied(_ByGradients, fixed, variables, lambda given: self.forward(fixed, given))

    def forward(self, fixed: list, variables: list) -> tuple:
        _running().append(self)
        try:
            out = self.rule[0](*self.joined(fixed, variables))
        finally:
            _running().pop()
        if not isinstance(out, (tuple, list)) or len(out) != 2:
            raise TypeError(f"{self.fun.__name__}: its forward must return a pair: the result and the residuals for its backward")
        return tuple(out)

    def backward(self, fixed: list, kept: Any, grad: Any, count: int) -> tuple:
        found = self.rule[1](*fixed, kept, grad)
        if not isinstance(found, (tuple, list)) or len(found) != count:
            raise TypeError(f"{self.fun.__name__}: its backward must return a tuple of {count}, a gradient or None for each "
                            "argument")
        return tuple(found)


class Rule(Function):
    """Base of both kinds of rule: its inputs are the leaves of the variables, its outputs the leaves of the result."""

    generate_vmap_rule = True
    pure = True  # as in JAX: a function and its rules have no side effects

    @staticmethod
    def keep(ctx, owner, fixed, form, found, leaves, result, too=False):
        """Save the leaves of the variables for the rules, and with `too` the leaves of the (flattened) result."""
        outputs, ctx.out_form = result
        outputs = tuple(map(asarray, outputs))
        ctx.owner, ctx.fixed, ctx.form, ctx.kinds = owner, fixed, form, [isinstance(leaf, TensorBase) for leaf in leaves]
        ctx.plain = [None if isinstance(leaf, TensorBase) else leaf for leaf in leaves]
        ctx.keeping = current_keeping()
        kept = [leaf for leaf in leaves if isinstance(leaf, TensorBase)]
        ctx.save_for_backward(*kept, *(outputs if too else ()))
        ctx.save_for_forward(*kept, *(outputs if too else ()))
        found.append(ctx.out_form)
        return outputs

    @staticmethod
    def leaves(ctx):
        """The leaves of the variables, and the saved leaves of the result."""
        tensors = iter(ctx.saved_tensors)
        return [next(tensors) if kind else leaf for kind, leaf in zip(ctx.kinds, ctx.plain)], list(tensors)

    @staticmethod
    def transposed(ctx, leaves, grads, tangents_of):
        """The gradients of the leaves: the transpose of a tangent rule, which is linear in the tangents."""
        recorded, owner = is_grad_enabled(), ctx.owner
        if owner in vars(_transposing).setdefault("owners", []):
            raise NotImplementedError(f"{owner.__name__}: its rule for tangents calls the function itself on a tangent, which "
                                      "says nothing of a backward pass; give that as well")  # fmt: skip
        _transposing.owners.append(owner)
        try:
            return Rule.pulled(ctx, leaves, grads, tangents_of, recorded)
        finally:
            _transposing.owners.remove(owner)

    @staticmethod
    def pulled(ctx, leaves, grads, tangents_of, recorded):
        with enable_grad():
            own = union(*leaves, *grads)  # rows that share a leaf have one gradient each
            tensors = [*map(asarray, leaves)]
            zeros = [stood(ops.zeros_like(aligned(leaf, own)), own).requires_grad_(is_variable(leaf)) for leaf in tensors]
            variables = leaves if recorded else detached(leaves)
            tangents = tangents_of(rebuild(ctx.form, variables), rebuild(ctx.form, zeros))
            live = [(tangent, grad) for tangent, grad in zip(tangents, grads) if tangent.requires_grad and grad is not None]
            wanted = [zero for zero, needed in zip(zeros, ctx.needs_input_grad[4:]) if needed]
            if not live:
                return (None,) * (4 + len(leaves))
            if not recorded:
                refuse_loss(ctx, [tangent for tangent, _ in live], zeros)
            found = iter(gradients([t for t, _ in live], wanted, [g for _, g in live], create_graph=recorded, allow_unused=True))
            for zero in zeros:  # no caller differentiates by them
                zero.requires_grad_(False)
        return None, None, None, None, *(next(found) if needed else None for needed in ctx.needs_input_grad[4:])


class _ByTangents(Rule):
    @staticmethod
    def forward(ctx, owner, fixed, form, found, *leaves):
        return Rule.keep(ctx, owner, fixed, form, found, leaves, found[0])

    @staticmethod
    def backward(ctx, *grads):
        leaves, _ = Rule.leaves(ctx)
        return Rule.transposed(ctx, leaves, grads, lambda *both: ctx.owner.tangent(ctx.fixed, *both))

    @staticmethod
    def jvp(ctx, *tangents):
        leaves, _ = Rule.leaves(ctx)
        filled = [ops.zeros_like(leaf) if t is None else t for leaf, t in zip(leaves, tangents[4:])]
        return tuple(ctx.owner.tangent(ctx.fixed, rebuild(ctx.form, leaves), rebuild(ctx.form, filled)))


class _ByGradients(Rule):
    @staticmethod
    def forward(ctx, owner, fixed, form, found, *leaves):
        ctx.kept = found[1]
        return Rule.keep(ctx, owner, fixed, form, found, leaves, found[0])

    @staticmethod
    def backward(ctx, *grads):
        (leaves, _), kept = Rule.leaves(ctx), ctx.kept
        if is_grad_enabled():  # the residuals were computed without a graph: compute them again, recorded
            kept = ctx.owner.forward(ctx.fixed, rebuild(ctx.form, leaves))[1]
        variables = rebuild(ctx.form, leaves)
        with looked_at(ctx):
            found = ctx.owner.backward(ctx.fixed, kept, rebuild(ctx.out_form, grads), len(variables))
        every = [grad for variable, part in zip(variables, found) for grad in spread(variable, part)]
        looked_through(ctx, every)
        return None, None, None, None, *(grad if needed else None for grad, needed in zip(every, ctx.needs_input_grad[4:]))


def detached(leaves: Sequence) -> list:
    return [leaf.detach() if isinstance(leaf, TensorBase) else leaf for leaf in leaves]


# Tensors that a rule reads beside its arguments.


def loses(ctx: Any) -> bool:
    """Whether the running pass records no graph although its caller records graphs."""
    return not is_grad_enabled() and ctx.keeping is not None and ctx.keeping.leaves is not None


def looked_at(ctx: Any) -> Any:
    """A context for a rule that records the tensors which the rule reads; its arguments are detached."""
    return recording() if loses(ctx) else nullcontext()


def looked_through(ctx: Any, gradients: list) -> None:
    """Raise an error if the gradients from a rule have a derivative that would be lost."""
    if loses(ctx):
        refuse_loss(ctx, [grad for grad in gradients if grad is not None and grad.requires_grad])


def refuse_loss(ctx: Any, values: list, given: Sequence = ()) -> None:
    if ctx.keeping is not None and ctx.keeping.leaves is not None and depends_on_others(values, [*given, *ctx.keeping.leaves]):
        raise RuntimeError(f"{ctx.owner.__name__}: its rule reads a tensor that requires grad and that the function does not "
                           "depend on, so that the derivative of this gradient by it would be lost; make it an argument of the "
                           "function, or write gs.stop_gradient(...) where the rule reads it")  # fmt: skip


def apart(leaf: Any) -> Any:
    """A new tensor that may get a history; a view is returned unchanged, since writes to its base update it."""
    return leaf.detach() if isinstance(leaf, TensorBase) and not isinstance(leaf, LevelTensor) and leaf._base is None else leaf


def has_derivative(leaf: Any) -> bool:
    return isinstance(leaf, TensorBase) and (leaf.requires_grad or has_tangent(leaf))


class Signature:
    """Converts the arguments of a call to positional ones, defaults included, as rules take them."""

    def __init__(self, fun: Callable[..., Any]) -> None:
        self.fun, self.found = fun, None

    def bound(self, args: tuple, kwargs: dict) -> tuple:
        if self.found is None:
            import inspect

            try:
                self.found = inspect.signature(self.fun)
            except ValueError:  # a builtin has no signature
                return args
        given = self.found.bind(*args, **kwargs)
        given.apply_defaults()
        return given.args


def applied(kind: Any, owner: Any, fixed: Any, leaves: list, form: Any, found: list) -> Any:
    """Call a function by its rule, on the leaves of a pytree; the rule's forward appends the result's structure to `found`."""
    form = without_leaves(form)
    try:
        outputs = kind.apply(owner, fixed, form, found, *leaves)
    except ReadsRow:  # a row of an outer vmap: then the variables are rows as well, each with its own derivative
        every = [of_every_row(leaf) if isinstance(leaf, TensorBase) else leaf for leaf in leaves]
        outputs = kind.apply(owner, fixed, form, found, *every)
    return rebuild(found[-1], outputs)


def spread(variable: Any, gradient: Any) -> list:
    """A gradient for each leaf of an argument; None means None for every leaf."""
    count = len(flatten(variable)[0])
    leaves = [None] * count if gradient is None else flatten(gradient)[0]
    if len(leaves) != count:
        raise TypeError(f"the gradient of an argument must be a pytree of its structure, or None: expected {count} arrays, got "
                        f"{len(leaves)}")
    return [leaf if leaf is None else asarray(leaf) for leaf in leaves]


def is_variable(tensor: TensorBase) -> bool:
    return tensor.dtype.kind in "fc"


def stop_gradient(x: Any) -> Any:
    """Return a pytree unchanged, but constant for all derivatives.

    Parameters
    ----------
    x : nest
        Pytree of tensors, arrays and numbers.

    Returns
    -------
    nest
        Tensors of the same numbers, in the same memory, without a graph and without tangents.  Other leaves are unchanged.

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.grad(lambda x: x * gs.stop_gradient(x))(3.0).item()
    3.0
    """
    leaves, form = flatten(x)
    return rebuild(form, detached(leaves))
