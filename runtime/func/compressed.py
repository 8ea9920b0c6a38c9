"""Compressed: sparse Jacobians and Hessians from few products with vectors.

Owns plans: a pattern, the groups of columns and rows that are computed together, and where each element is found in the products.
All products of a plan are one batched pass in each direction.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from ..autograd.nest import flatten
from ..autograd.passes import filled, gradients, has_history, recording
from ..core.operand import asarray
from ..core.tensor import TensorBase
from ..engine.backward import grad as batched_grad
from ..support.dispatch import ops
from ..support.errors import CallValueError, NotBatched
from ..support.generator import numpy_random
from .colouring import acyclic, both_ways, lone, star
from .patterns import is_number, pattern_of, refuse_closed, taken_apart
from .point import Point, chosen
from .probing import scipy_sparse
from .products import pushed
from .substitution import Substitution

CHECKS = ("first", "always", "never")


class SparsePlan:
    """How the Jacobian, or the Hessian, of a function is computed from few products: what `sparse_plan` makes.

    `plan(*args, **kwargs)` gives the matrix at other arguments of the same shapes, as a `scipy.sparse.csr_array` that has the
    elements of `pattern`, zeros among them.

    Attributes
    ----------
    pattern : csr_array of bool
    columns, rows : ndarray of int
        The group of each column, computed by products from the right (of a Hessian, from either side), and of each row, computed
        by products from the left; -1 of those that are in none.
    substitution : bool
        Whether the elements of a Hessian follow from each other, in place of being read.
    products : int
        How many there are: groups of columns and groups of rows.
    """

    def __init__(
        self, func: Callable[..., Any], pattern: Any, argnums: int | tuple[int, ...], hessian: bool, substitution: bool = False
    ):
        self.func, self.pattern, self.argnums, self.hessian, self.substitution = func, pattern, argnums, hessian, substitution
        if substitution:
            self.columns, self.rows = acyclic(pattern), np.full(pattern.shape[0], -1)
            self._substituted = Substitution(pattern, self.columns)
            return
        if hessian:
            self.columns, self.rows = star(pattern), np.full(pattern.shape[0], -1)
        else:
            self.columns, self.rows = both_ways(pattern)
        at = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
        by_column = lone(pattern, self.columns)
        group, place, length = self.columns[pattern.indices], at, pattern.shape[0]
        if hessian:  # an element that its column's group does not show stands in the place across the diagonal
            group, place = np.where(by_column, group, self.columns[at]), np.where(by_column, at, pattern.indices)
            by_column = np.ones_like(by_column)
        self._by_column = by_column
        self._from_columns = (group * length + place)[by_column]
        self._from_rows = (self.rows[at] * pattern.shape[1] + pattern.indices)[~by_column]

    @property
    def products(self) -> int:
        return int(self.columns.max(initial=-1) + self.rows.max(initial=-1) + 2)

    def __repr__(self) -> str:
        kind = "Hessian" if self.hessian else "Jacobian"
        return f"<SparsePlan of a {kind}: {self.pattern.shape}, {self.pattern.nnz} elements, {self.products} products>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from scipy.sparse import csr_array

        taken_apart("sparse plan", self.func, args, kwargs, self.argnums)
        point = Point("sparse plan", self.func, args, kwargs, self.argnums)
        if self.substitution:
            data = self._substituted(self._products(point, self.columns, True))
            return csr_array((data, self.pattern.indices.copy(), self.pattern.indptr.copy()), self.pattern.shape)
        parts = []
        if self._by_column.any():
            parts.append((self._by_column, self._from_columns, self._products(point, self.columns, True)))
        if len(self._from_rows):
            parts.append((~self._by_column, self._from_rows, self._products(point, self.rows, False)))
        data = np.zeros(self.pattern.nnz, parts[0][2].dtype if parts else float)
        for which, places, products in parts:
            data[which] = products.reshape(-1)[places]
        return csr_array((data, self.pattern.indices.copy(), self.pattern.indptr.copy()), self.pattern.shape)

    def check(self, *args: Any, **kwargs: Any) -> None:
        """Compare the matrix at some arguments with the function's own product with a random vector.

        Raises
        ------
        ValueError
            They differ: the pattern does not hold there.
        """
        self._compare(self(*args, **kwargs), args, kwargs)

    def _compare(self, matrix, args, kwargs):
        v = numpy_random().default_rng(0).standard_normal(matrix.shape[1])
        point = Point("sparse plan", self.func, args, kwargs, self.argnums)
        wanted = self._several(point, v[None], True)[0]
        known = np.isfinite(wanted)
        largest = np.abs(wanted).max(initial=0, where=known)
        wrong = ~(np.abs(matrix @ v - wanted) <= np.sqrt(np.finfo(matrix.dtype).eps) * (abs(matrix) @ abs(v) + largest)) & known
        if wrong.any():
            raise CallValueError(
                f"sparse plan: the pattern does not hold at these arguments: row {int(np.argmax(wrong))} of the "
                f"{'Hessian' if self.hessian else 'Jacobian'} has an element that is not in it. Make the plan anew with these "
                "arguments, or one that holds for all (local=False)")

    def _products(self, point, groups, forward):
        """A product with the sum of the unit vectors of each group."""
        seeds = (groups == np.arange(groups.max(initial=-1) + 1)[:, None]).astype(float)
        return self._several(point, seeds, forward)

    def _several(self, point, seeds, forward):
        """Products with some vectors, a row each."""
        if self.hessian:
            found = _hvps(point, seeds)
        else:
            found = jvps(point, seeds) if forward else vjps(point, seeds)
        wanted = self.pattern.shape[0 if forward else 1]
        if found.shape[1] != wanted or seeds.shape[1] != self.pattern.shape[1 if forward else 0]:
            raise CallValueError(f"sparse plan: it was made for a matrix of shape {self.pattern.shape}, and the function now has "
                                 f"vectors of {seeds.shape[1]} and {found.shape[1]} elements; make the plan anew")  # fmt: skip
        return found


def sparse_plan(
    func: Callable[..., Any], *args: Any, argnums: int | tuple[int, ...] = 0, hessian: bool = False, local: bool = False,
    pattern: Any = None, substitution: bool = False, **kwargs: Any,
) -> SparsePlan:  # fmt: skip
    """How the sparse Jacobian, or Hessian, of a function is computed: made once, and used at many arguments.

    Parameters
    ----------
    func, *args, argnums, hessian, local, **kwargs
        As for `sparsity`.
    pattern : sparse matrix or array_like, shape (outputs, inputs), optional
        Where elements may be other than zero, if that is known.  It is found by `sparsity` if it is not given.
    substitution : bool
        Of a Hessian, whether its elements may be computed one from the other, which takes about half as many products.  The error
        of an element is then that of the largest ones that it is computed from; otherwise each is read in a product.

    Returns
    -------
    SparsePlan
        `plan(x)` is the matrix at x, `plan.check(x)` compares it with a product, `plan.products` says how many products it takes.

    Raises
    ------
    ValueError
        As for `sparsity`; or the pattern of a Hessian is not symmetric; or `substitution` of a Jacobian.

    Notes
    -----
    Columns without a common row are computed together (distance-1 colouring, greedy; Curtis, Powell, Reid 1974); a few dense rows
    or columns by products from the other side; Hessians by a star colouring, which shows each element in one of its two places
    (Gebremedhin, Manne, Pothen: What color is your Jacobian?, SIAM Review 47, 2005), or, with `substitution`, by an acyclic one,
    which shows them one after the other from the leaves of forests on (Coleman, Cai 1986).

    Examples
    --------
    >>> import gradspec as gs
    >>> plan = gs.func.sparse_plan(lambda x: x[1:] * x[:-1], gs.ones(1000))
    >>> plan.products, plan.pattern.nnz
    (2, 1998)
    >>> plan(gs.arange(1000.0)).toarray()[0, :2].tolist()
    [1.0, 0.0]
    """
    argnums = chosen("sparse_plan", func, argnums)
    if substitution and not hessian:
        raise CallValueError("sparse_plan: substitution needs a symmetric matrix; give hessian=True, or leave it out")
    if pattern is None:
        pattern = pattern_of("sparse_plan", func, args, kwargs, argnums, hessian, local)
    else:
        pattern = scipy_sparse("sparse_plan").csr_array(pattern, dtype=bool, copy=True)
        size = sum(x.size for x in taken_apart("sparse_plan", func, args, kwargs, argnums)[0])
        if pattern.shape[1] != size or hessian and pattern.shape[0] != size:
            raise CallValueError(f"sparse_plan: the pattern has shape {pattern.shape}, and there are {size} variables")
        if hessian and (pattern != pattern.T).nnz:
            raise CallValueError("sparse_plan: the pattern of a Hessian must be symmetric; give pattern + pattern.T")
        pattern.sum_duplicates()
    return SparsePlan(func, pattern, argnums, hessian, substitution)


def sparse_jacobian(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, *, local: bool = False, check: str = "first"
) -> Callable[..., Any]:
    """The Jacobian of a function as a sparse matrix, as a function of the same arguments.

    The first call finds the pattern and the groups of columns that are computed together, and keeps them as a plan; later calls
    at arguments of the same shapes take a few products with vectors, in one batched pass.

    Parameters
    ----------
    func : callable
        Returns a Tensor or a nest of them.
    argnums : int or tuple of int
        Which positional arguments to differentiate by: real floating point numbers.
    local : bool
        Whether the pattern is to hold at the arguments of the first call alone, see `sparsity`.
    check : {'first', 'always', 'never'}
        When to compare the matrix with the function's own product with a random vector, at the cost of one.

    Returns
    -------
    callable
        Gives a `scipy.sparse.csr_array` of shape (outputs, inputs): the elements of all outputs in a row, one after the other,
        and of the chosen arguments.  It is an array of numbers, which cannot be differentiated again.

    Raises
    ------
    ValueError
        A matrix that was compared differs from the product: the pattern does not hold there, as that of a local plan may not.
    ImportError
        SciPy is missing.

    Examples
    --------
    >>> import gradspec as gs
    >>> jacobian = gs.func.sparse_jacobian(lambda x: gs.diff(x**2))
    >>> jacobian(gs.asarray([1.0, 2.0, 3.0])).toarray().tolist()
    [[-2.0, 4.0, 0.0], [0.0, -4.0, 6.0]]
    """
    return _sparse("sparse_jacobian", func, argnums, local, check)


def sparse_hessian(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, *, local: bool = False, check: str = "first",
    substitution: bool = False,
) -> Callable[..., Any]:  # fmt: skip
    """The Hessian of a function as a sparse matrix, as a function of the same arguments.

    Parameters
    ----------
    func : callable
        Returns one real number: a Tensor of one element.
    argnums, local, check
        As for `sparse_jacobian`.
    substitution : bool
        As for `sparse_plan`: fewer products, and larger errors where elements differ much in size.

    Returns
    -------
    callable
        Gives a `scipy.sparse.csr_array` of shape (inputs, inputs).

    Examples
    --------
    >>> import gradspec as gs
    >>> hessian = gs.func.sparse_hessian(lambda x: (x[1:] ** 2 * x[:-1]).sum())
    >>> hessian(gs.asarray([1.0, 2.0, 3.0])).toarray().tolist()
    [[0.0, 4.0, 0.0], [4.0, 2.0, 6.0], [0.0, 6.0, 4.0]]
    """
    return _sparse("sparse_hessian", func, argnums, local, check, hessian=True, substitution=substitution)


def _sparse(caller, func, argnums, local, check, **ways):
    argnums = chosen(caller, func, argnums)
    if check not in CHECKS:
        raise CallValueError(f"{caller}: check must be one of {', '.join(map(repr, CHECKS))}, got {check!r}")
    plans: dict[Any, SparsePlan] = {}

    @wraps(func)
    def matrix(*args: Any, **kwargs: Any) -> Any:
        key = _kind(args, kwargs)
        plan = plans.get(key)
        new = plan is None
        if plan is None:
            plan = plans[key] = sparse_plan(func, *args, argnums=argnums, local=local, **ways, **kwargs)
        found = plan(*args, **kwargs)
        if check == "always" or new and check == "first":
            plan._compare(found, args, kwargs)
        return found

    return matrix


def _kind(args, kwargs):
    """What a plan hangs on: shapes, and the values of what is no floating point number."""
    leaves, form = flatten([args, kwargs])
    key: list[Any] = [_form_key(form)]
    for leaf in leaves:
        if not is_number(leaf):
            key.append((type(leaf), leaf if getattr(type(leaf), "__hash__", None) else id(leaf)))
            continue
        array = leaf.detach().numpy() if isinstance(leaf, TensorBase) else np.asarray(leaf)
        key.append((array.shape, array.dtype, b"" if array.dtype.kind in "fc" else array.tobytes()))
    return tuple(key)


def _form_key(form):
    if form is None:
        return None
    _, keys, forms = form
    return keys if keys is None else tuple(keys), tuple(map(_form_key, forms))


# Products, a row of `seeds` each.


def jvps(point, seeds):
    """Products of the Jacobian with the rows of a matrix, by one pass in forward mode: ndarray of shape (rows, outputs)."""
    directions = split(seeds, point.inputs)
    try:
        _, found = pushed(point, directions, len(seeds))
    except NotBatched:
        each = [pushed(point, [d[i] for d in directions])[1] for i in range(len(seeds))]
        found = [ops.stack(list(column)) for column in zip(*each)]
    refuse_closed(point.caller, False, map(point.cut, found))
    return joined(found, len(seeds))


def vjps(point, seeds):
    """Products of the transposed Jacobian with the rows of a matrix, by one backward pass."""
    with recording():
        outputs = point.record()
        found = pulled(outputs, point.values, split(seeds, outputs), point.values)
        point.freeze()
    refuse_closed(point.caller, point.kept, found)
    return joined(found, len(seeds))


def _hvps(point, seeds):
    """Products of the Hessian with the rows of a matrix, by one backward pass through the gradient."""
    with recording():
        output = point.record_single()
        first = filled(gradients([output], point.values, None, True), point.values)
        found = pulled(first, point.values, split(seeds, first), point.values)
        point.freeze()
    refuse_closed(point.caller, point.kept, found)
    return joined(found, len(seeds))


def pulled(roots, edges, cotangents, variables, retain_graph=False):
    """Gradients by some variables, or their edges, of batches of cotangents."""
    kept = [(root, part) for root, part in zip(roots, cotangents) if has_history(root)]
    found = [None] * len(variables)
    if kept:
        found = batched_grad([root for root, _ in kept], edges, [part for _, part in kept], retain_graph, False, True,
                             is_grads_batched=True)  # fmt: skip
    count = len(cotangents[0])
    return [ops.zeros((count, *x.shape), dtype=x.dtype) if value is None else value for value, x in zip(found, variables)]


def split(seeds, tensors):
    """The rows of a matrix as batches of the shapes and dtypes of some tensors."""
    parts, start = [], 0
    for x in tensors:
        parts.append(asarray(seeds[:, start : start + x.size].reshape(len(seeds), *x.shape).astype(x.dtype)))
        start += x.size
    return parts


def joined(found, count):
    """Batches as the rows of one matrix."""
    parts = [value.detach().numpy().reshape(count, -1) for value in found]
    return np.concatenate(parts, axis=1) if len(parts) != 1 else parts[0]
