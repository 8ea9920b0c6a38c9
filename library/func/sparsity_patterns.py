"""Sparsity detection: find the elements of a Jacobian or Hessian that may be nonzero.

Records the program of the product with a vector, and runs it with index sets in place of the vector (`sparsity_propagation`).
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.conversion import asarray
from ..core.grad_mode import is_grad_enabled
from ..core.tensor import TensorBase
from ..support.errors import CallTypeError, CallValueError
from ..support.pytree import flatten, rebuild
from ..transforms.batching.batched_backward import is_mapped
from ..transforms.batching.level_tensor import LevelTensor
from .call_context import chosen, positions
from .closures import closed_over, has_tangent
from .gradients import grad
from .products import jvp
from .sparsity_probing import scipy_sparse

LARGEST = 1 << 27  # elements; larger patterns are refused
TO_PYTHON = "to Python"  # marks a note of a program about values that Python has read


class PatternError(CallValueError):
    """The pattern of a plan does not hold at the present arguments."""


def sparsity(
    func: Callable[..., Any], *args: Any, argnums: int | tuple[int, ...] = 0, hessian: bool = False, local: bool = False,
    **kwargs: Any,
) -> Any:  # fmt: skip
    """The elements of the Jacobian of a function, or of its Hessian, that may be nonzero.

    The program of the product with a vector is recorded once, in forward mode, and run with index sets in place of the vector.

    Parameters
    ----------
    func : callable
        Returns a Tensor or a pytree of them; with `hessian` a single number.
    *args
        Its arguments: arrays, tensors, or pytrees of tuples, lists and dictionaries of them.
    argnums : int or tuple of int
        The positional arguments to differentiate by.
    hessian : bool
        Whether to find the pattern of the matrix of second derivatives.
    local : bool
        Whether the pattern need only hold at these arguments: branches of `where` that are not taken, elements that are not the
        largest, and slopes that are zero there contribute no elements.  By default the pattern holds for all real arguments of
        the same shapes; integers and booleans among the arguments, and the values that the function closes over, stay fixed.
    **kwargs
        Further arguments of `func`.

    Returns
    -------
    scipy.sparse.csr_array of bool, shape (outputs, inputs)
        The elements of all outputs, and of the chosen arguments, are concatenated.

    Raises
    ------
    ValueError
        The function has read numbers from a tensor, so that the pattern for other arguments is unknown; or the pattern has more
        than 1.3e8 elements.
    ImportError
        SciPy is missing.

    Notes
    -----
    The pattern may have more elements than needed, and should never have fewer.  One limit is numerical: the structure of
    operators that are not elementwise is found by runs on random numbers, which miss a coefficient that is lost in the rounding
    of others.  Values cut off by `detach()`, or changed by a rule of `custom_vjp`, count as in forward mode.

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.func.sparsity(lambda x: x[1:] * x[:-1], gs.ones(4)).toarray().astype(int).tolist()
    [[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]
    >>> gs.func.sparsity(lambda x: (x[1:] * x[:-1]).sum() + x.sum(), gs.ones(3), hessian=True).toarray().astype(int).tolist()
    [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    """
    argnums = chosen("sparsity", func, argnums)
    return pattern_of("sparsity", func, args, kwargs, argnums, hessian, local)


def pattern_of(caller, func, args, kwargs, argnums, hessian, local):
    """Implement `sparsity` for the function named `caller`."""
    sparse = scipy_sparse(caller)
    from ..compiler.tracing.traced import trace_call
    from .sparsity_propagation import Travel

    variables, others, call = taken_apart(caller, func, args, kwargs, argnums)
    if is_mapped():
        refuse_closed(caller, False, [x for x in closed_over(lambda: func(*args, **kwargs))[1] if isinstance(x, LevelTensor)])
    if hessian:
        call_alone = call

        def call(xs, rest):
            return grad(lambda *leaves: call_alone(leaves, rest), tuple(range(len(xs))))(*xs)

    def tangents(xs, ts, rest):
        return jvp(lambda *leaves: call(leaves, rest), tuple(xs), tuple(ts))[1]

    xs = [np.array(x) for x in variables]
    rest = [np.array(x) for x in others]
    taken = trace_call(tangents, xs, [np.ones_like(x) for x in xs], rest, check=False, apart=lambda call, level: True)
    left = [note for note in taken.notes if TO_PYTHON in note]
    if left and not local:
        raise CallValueError(f"{caller}: {left[0]}, so the pattern for other arguments is not known; write gs.where for a "
                             "branch, or ask for the pattern at these arguments with local=True")  # fmt: skip
    inputs, count = taken.inputs, len(xs)
    fixed = [value for value in inputs[2 * count :] if value.dtype.kind not in "fc"]
    travel = Travel(taken, inputs[count : 2 * count], inputs if local else fixed, local)
    found = travel.run([asarray(np.array(leaf)) for leaf in flatten(taken.arguments)[0]])
    total = sum(int(np.diff(sets.rows.indptr)[sets.cells].sum()) for sets in found)
    if total > LARGEST:
        raise CallValueError(f"{caller}: the pattern has {total} elements: the matrix is not sparse; use jacobian or hessian, or "
                             "products with vectors")  # fmt: skip
    matrices = [sets.matrix() for sets in found]
    if not matrices:
        return sparse.csr_array((0, travel.count), dtype=bool)
    whole = sparse.csr_array(sparse.vstack(matrices, format="csr"))
    if hessian:  # the recorded rules need not show the symmetry
        whole = sparse.csr_array(whole + whole.T)
    whole.sum_duplicates()
    return whole


def refuse_closed(caller, kept, values=()):
    """Refuse results that code outside could differentiate, because they will be plain numbers."""
    if kept or any(isinstance(value, LevelTensor) or value.requires_grad or has_tangent(value) for value in values):
        raise CallTypeError(f"{caller}: the function closes over a tensor that is being differentiated or mapped, but a "
                            "SciPy matrix has no derivative; close over its detach(), or use jacobian, hessian or products "
                            "with vectors")  # fmt: skip


def taken_apart(caller, func, args, kwargs, argnums):
    """The leaves of the variables, the other inexact numbers and arrays among the arguments, and the function of both."""
    numbers, _ = positions(caller, argnums, len(args))
    variables, form = flatten([args[i] for i in numbers])
    variables = [_real(caller, leaf) for leaf in variables]
    leaves, others_form = flatten([[arg for i, arg in enumerate(args) if i not in numbers], kwargs])
    arrays = [is_number(leaf) for leaf in leaves]
    others = [_array(caller, leaf) for leaf, is_array in zip(leaves, arrays) if is_array]

    def call(xs, rest):
        rest = iter(rest)
        unchosen, keywords = rebuild(others_form, [next(rest) if is_array else leaf for leaf, is_array in zip(leaves, arrays)])
        given = dict(zip(numbers, rebuild(form, xs))) | dict(zip([i for i in range(len(args)) if i not in numbers], unchosen))
        return func(*[given[i] for i in range(len(args))], **keywords)

    return variables, others, call


def is_number(leaf):
    """Whether a leaf is an input of the program: an array, a tensor, or an inexact number."""
    return isinstance(leaf, (TensorBase, np.ndarray, np.generic, float))


def _array(caller, leaf):
    """The numbers of a leaf."""
    refuse_differentiated(caller, leaf)
    return leaf.detach().numpy() if isinstance(leaf, TensorBase) else np.asarray(leaf)


def refuse_differentiated(caller, leaf):
    """Refuse an argument that requires grad or has a tangent, because SciPy's matrices are not differentiable."""
    if isinstance(leaf, TensorBase) and (is_grad_enabled() and leaf.requires_grad or has_tangent(leaf)):
        raise CallTypeError(f"{caller}: an argument is being differentiated, but a SciPy matrix has no derivative; "
                            "pass x.detach(), or use jacobian, hessian or products with vectors")  # fmt: skip


def _real(caller, leaf):
    """A leaf of the variables as an array."""
    array = np.asarray(float(leaf)) if type(leaf) is int else _array(caller, leaf)
    if array.dtype.kind != "f":
        raise CallTypeError(f"{caller}: an argument that is differentiated must hold real floating point numbers, got "
                            f"{array.dtype}; pass x.astype(float), or real and imaginary parts")  # fmt: skip
    return array
