"""Solutions: attach the solution of a solver to the graph, as a function of all tensors that its condition depends on.

Defines the graph node of a solution.  Its rules call the condition again at the solution, which this same node computes; so
derivatives of all orders are correct.  Also solves the linear equation of a derivative as a matrix.
"""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np

from ..core.conversion import asarray
from ..core.grad_mode import _set_fwd_grad_enabled, is_grad_enabled, no_grad
from ..core.non_operator_events import array_of
from ..core.tensor import TensorBase
from ..methods.dual_level import innermost_level
from ..support.dispatch import ops
from ..support.errors import CallTypeError, CallValueError
from ..support.pytree import flatten, places, rebuild, without_leaves
from ..transforms.batching.batched import innermost
from ..transforms.batching.batched_backward import guarded, is_mapped
from .closures import closed_over, taken, with_closed
from .custom import Rule
from .custom_batching import sequential_vmap
from .gradients import grad
from .matrices import jacrev
from .products import jvp
from .pytree_arguments import as_tensors

__all__ = ["Linear", "by_matrix", "pulled", "solved"]

Linear = Callable[..., Any]
CHANGED = 1e-6  # tolerance, relative to the change by a step as large as the solution


def solved(
    caller: str, solver: Callable[..., Any], condition: Callable[..., Any], args: tuple, linear: Linear, has_aux: bool = False,
    example: Any = None,
) -> tuple[Any, Any]:  # fmt: skip
    """Call a solver; return its solution, attached to the tensors that it depends on, and aux.

    Parameters
    ----------
    caller : str
        The public function's name, for messages.
    solver, condition, args, has_aux
        As for `implicit`.
    linear : callable
        Solves the linear equation of a derivative.  Takes the residual as a function of the leaves of the solution, these leaves,
        the right-hand side, whether to transpose the Jacobian, and the structure of the solution.
    example : nest, optional
        A pytree with the structure of the solution.  With it the solver reads detached versions of the tensors that the condition
        closes over, and may close over rows of a vmap as the condition does.
    """
    leaves, form = flatten(args)
    leaves = [asarray(leaf) if isinstance(leaf, (float, complex, np.generic, np.ndarray)) else leaf for leaf in leaves]
    args = rebuild(form, leaves)
    closed = None
    if example is not None:
        _, closed = closed_over(condition, as_tensors(example, caller, "x"), *args)
    problem = _Problem(caller, condition, closed, linear, without_leaves(form), len(leaves))
    with no_grad(), _set_fwd_grad_enabled(False):
        outputs = problem.solve(solver, has_aux, [*leaves, *problem.closed])
    xs, aux = outputs[: problem.count], rebuild(problem.aux_form, outputs[problem.count :])
    if is_grad_enabled() or innermost_level():
        # Once more at the solution, because the condition may read other tensors there.
        residual, read = closed_over(condition, problem.nest(xs), *args)
        problem.closed = list({id(tensor): tensor for tensor in (*problem.closed, *read)}.values())
        problem.remember(residual)
    found = _Solved.apply(problem, *xs, *leaves, *problem.closed)
    return problem.nest(found), aux


class _Problem:
    """A condition, and the structure and residuals of its solution."""

    def __init__(self, caller: str, condition: Any, closed: list | None, linear: Linear, form: Any, given: int) -> None:
        self.caller, self.condition, self.linear = caller, condition, linear
        self.closed, self.watched = closed or [], closed is not None
        self.form, self.given = form, given
        self.residuals: list | None = None  # at the solution when it was found, as arrays
        self.x_form: Any = None
        self.aux_form: Any = None
        self.count = 0

    def nest(self, xs: Any) -> Any:
        return rebuild(self.x_form, list(xs))

    def solve(self, solver: Any, has_aux: bool, leaves: list) -> list:
        """The leaves of the solution and of aux; inside of vmap each row is solved separately."""

        def run(*values: Any) -> Any:
            found = with_closed(solver, self.closed)(*rebuild(self.form, list(values[: self.given])), *values[self.given :])
            if has_aux and (not isinstance(found, (tuple, list)) or len(found) != 2):
                raise CallTypeError(f"{self.caller}: with has_aux=True the solver must return a pair (solution, aux), got "
                                    f"{type(found).__name__}")  # fmt: skip
            x, aux = found if has_aux else (found, ())
            xs, self.x_form = flatten(x)
            others, self.aux_form = flatten(aux)
            self.count = len(xs)
            return [self.unknown(leaf) for leaf in xs] + [asarray(leaf) for leaf in others]

        run.__name__ = self.caller
        values = [taken(leaf) if isinstance(leaf, TensorBase) else leaf for leaf in leaves]
        if not is_mapped():
            return run(*values)
        with guarded() if self.watched and innermost(values) is None else nullcontext():  # nor does it close over rows
            return sequential_vmap(run)(*values)

    def unknown(self, leaf: Any) -> Any:
        try:
            value = asarray(leaf).detach()
        except (TypeError, ValueError):
            value = None
        if value is None or value.dtype.kind not in "fc":
            raise CallTypeError(f"{self.caller}: the solver must return real or complex arrays, in tuples, lists and "
                                f"dictionaries, got {type(leaf).__name__ if value is None else value.dtype}")  # fmt: skip
        return value

    def remember(self, residual: Any) -> None:
        if not is_mapped():
            self.residuals = [np.array(array_of(leaf)) for leaf in flatten(residual)[0] if isinstance(leaf, TensorBase)]

    def compare(self, xs: list, leaves: list) -> None:
        """Raise an error if the condition has changed since the solution was found: its derivatives would be wrong."""
        if self.residuals is None or is_mapped():
            return
        plain = [leaf.detach() if isinstance(leaf, TensorBase) else leaf for leaf in leaves]
        xs = [x.detach() for x in xs]
        with no_grad(), _set_fwd_grad_enabled(False):
            pairs = [(array_of(leaf), before) for leaf, before in zip(self.residual(xs, plain), self.residuals)]
        if all(np.array_equal(now, before, equal_nan=True) for now, before in pairs):
            return
        with no_grad():
            steps = tuple([ops.absolute(x) + 1 + 0 * x for x in xs])
            _, moved = jvp(lambda *xs: self.residual(xs, plain), tuple(xs), steps)
        scale = max([np.max(np.abs(array_of(leaf)), initial=0) for leaf in moved], default=0)
        for now, before in pairs:
            if now.shape != before.shape or np.any(np.abs(now - before) > CHANGED * scale):
                raise RuntimeError(f"{self.caller}: the condition gives another value at the solution than when this was found: "
                                   "what it closes over has changed since, as the variable of a loop does; pass that as an "
                                   "argument, or bind it: lambda x, t=t: ...")  # fmt: skip

    def residual(self, xs: Any, leaves: Any) -> list:
        """The leaves of the condition's result for a solution and parameters."""
        condition = with_closed(self.condition, self.closed)
        found, form = flatten(condition(self.nest(xs), *rebuild(self.form, list(leaves[: self.given])), *leaves[self.given :]))
        for leaf, place in zip(found, places(form)):
            if not isinstance(leaf, TensorBase):
                raise CallTypeError(f"{self.caller}: the condition must return tensors, but its result{place} is of type "
                                    f"{type(leaf).__name__}: what is not computed with tensors has no derivative")  # fmt: skip
        if sum(map(_reals, found)) != sum(map(_reals, xs)):
            raise CallValueError(f"{self.caller}: the condition gives {sum(map(_reals, found))} real numbers for "
                                 f"{sum(map(_reals, xs))} unknowns; as many are needed")  # fmt: skip
        return found


class _Solved(Rule):
    """The leaves of a solution as functions of the parameters' leaves and of the tensors that the condition closes over."""

    @staticmethod
    def forward(ctx, problem, *values):
        xs, leaves = values[: problem.count], values[problem.count :]
        ctx.set_materialize_grads(False)
        return Rule.keep(ctx, problem, None, None, [], leaves, flatten([ops.copy(x) for x in xs]), too=True)

    @staticmethod
    def backward(ctx, *grads):
        problem = ctx.owner
        leaves, xs = Rule.leaves(ctx)
        first = 1 + problem.count
        chosen = [i for i, needed in enumerate(ctx.needs_input_grad[first:]) if needed]
        if not chosen or all(grad is None for grad in grads):
            return (None,) * (first + len(leaves))
        problem.compare(xs, leaves)
        filled = [ops.zeros_like(x) if grad is None else grad for x, grad in zip(xs, grads)]
        factor = problem.linear(lambda *xs: problem.residual(xs, leaves), xs, filled, True, problem.x_form)
        nothing = sum([(0 * ops.real(value)).sum() for value in factor])  # NaN if there is no derivative, for all parameters
        found = dict(zip(chosen, pulled(lambda *some: problem.residual(xs, _with(leaves, chosen, some)),
                                        [leaves[i] for i in chosen], [-value for value in factor])))  # fmt: skip
        return (None,) * first + tuple([found[i] + nothing if i in found else None for i in range(len(leaves))])

    @staticmethod
    def jvp(ctx, *tangents):
        problem = ctx.owner
        leaves, xs = Rule.leaves(ctx)
        given = tangents[1 + problem.count :]
        chosen = [i for i, tangent in enumerate(given) if tangent is not None]
        if not chosen:
            return (None,) * problem.count
        _, moved = jvp(lambda *some: problem.residual(xs, _with(leaves, chosen, some)), tuple([leaves[i] for i in chosen]),
                       tuple([given[i] for i in chosen]))  # fmt: skip
        found = problem.linear(lambda *xs: problem.residual(xs, leaves), xs, [-value for value in moved], False, problem.x_form)
        return tuple(found)


def _with(leaves: list, places: list, values: Any) -> list:
    changed = list(leaves)
    for place, value in zip(places, values):
        changed[place] = value
    return changed


def pulled(function: Callable[..., list], values: list, cotangents: list) -> list:
    """The product of the transposed Jacobian with a vector, leaf by leaf, as the gradient of the scalar product of outputs and
    vector.  It is one pass, so a checkpoint inside may call its function again."""

    def along(*values: Any) -> Any:
        total: Any = 0.0
        for output, cotangent in zip(function(*values), cotangents):
            if output.dtype.kind == "c":
                output, cotangent = ops.view_as_real(output), ops.view_as_real(ops.astype(cotangent, output.dtype))
            total = total + (output * cotangent).sum()
        return total

    return list(grad(along, tuple(range(len(values))))(*values))


# The linear equation of a derivative: J y = b, or J^T y = b if `transposed`.


def by_matrix(residual: Any, xs: list, b: list, transposed: bool, form: Any) -> list:
    """Solve with the Jacobian as a matrix."""
    found: list = []

    def vector_of(vector: Any) -> Any:
        found[:] = residual(*_parted(vector, xs))
        return _joined(found)

    matrix = jacrev(vector_of)(_joined(xs))
    matrix = ops.where(_is_regular(matrix), matrix, np.nan)
    y = ops.solve(ops.mT(matrix) if transposed else matrix, _joined(b))
    return _parted(y, found if transposed else xs)


def _is_regular(matrix: Any) -> Any:
    """Whether a matrix has full rank to working precision, after scaling its rows and columns to a largest element of 1."""
    if not matrix.size:
        return np.True_
    scaled = matrix.detach()
    with np.errstate(all="ignore"):  # a row of zeros becomes NaN
        for axis in (1, 0):
            scaled = scaled / ops.max(ops.absolute(scaled), axis=axis, keepdims=True)
    diagonal = ops.absolute(ops.diagonal(ops.qr(scaled)[1]))
    return ops.min(diagonal) > 4 * len(scaled) * np.finfo(scaled.dtype).eps * ops.max(diagonal)


# Leaves and vectors of real numbers.


def _reals(leaf: Any) -> int:
    return leaf.size * (2 if leaf.dtype.kind == "c" else 1)


def _joined(leaves: list) -> Any:
    real = [ops.view_as_real(leaf) if leaf.dtype.kind == "c" else leaf for leaf in leaves]
    return ops.concat([ops.reshape(leaf, (-1,)) for leaf in real])


def _parted(vector: Any, leaves: list) -> list:
    """Split a vector into arrays with the shapes and dtypes of some leaves."""
    parts, start = [], 0
    for leaf in leaves:
        part, start = vector[start : start + _reals(leaf)], start + _reals(leaf)
        if leaf.dtype.kind == "c":
            part = ops.view_as_complex(ops.reshape(part, (*leaf.shape, 2)))
        parts.append(ops.astype(ops.reshape(part, leaf.shape), leaf.dtype))
    return parts
