"""Compute sparse Jacobians and Hessians from few products with vectors.

Defines plans: a pattern, the groups of columns and rows that are computed together, and the place of each element in the
products. All products of a plan in one direction are one batched pass.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from ..autograd.flat_derivatives import filled, gradients, has_history, recording
from ..core.conversion import asarray
from ..core.tensor import TensorBase
from ..engine.backward import grad as batched_grad
from ..support.compressed_columns import CompressedColumns, Directions
from ..support.dispatch import ops
from ..support.error_hints import answering
from ..support.errors import CallValueError, NotBatched
from ..support.generator import numpy_random
from ..support.pytree import flatten
from .call_context import Point, chosen
from .colouring import acyclic, both_ways, lone, star
from .products import pushed
from .sparsity_patterns import PatternError, is_number, pattern_of, refuse_closed, refuse_differentiated, taken_apart
from .sparsity_probing import scipy_sparse
from .substitution import Substitution

CHECKS = ("always", "first", "never")


class SparsePlan:
    """A plan that computes a function's Jacobian or Hessian from few products; `sparse_plan` returns it.

    `plan(*args, **kwargs)` returns the matrix at other arguments of the same shapes, as a `scipy.sparse.csr_array` with the
    elements of `pattern`, zeros included.  The matrix is compared with the function's own product with a random vector.  If the
    pattern does not hold, because it is local or the function has changed, the call raises a ValueError.

    Parameters
    ----------
    func, pattern, argnums, hessian, substitution, local
        As for `sparse_plan`, which finds the pattern; this class is not called by users.

    Attributes
    ----------
    pattern : csr_array of bool
    columns, rows : ndarray of int
        The group of each column, computed by products from the right (for a Hessian, from either side), and of each row, computed
        by products from the left; -1 for columns and rows without a group.
    substitution : bool
        Whether the elements of a Hessian are computed from each other by substitution, instead of being read from the products.
    products : int
        Number of products: groups of columns plus groups of rows.
    """

    def __init__(
        self, func: Callable[..., Any], pattern: Any, argnums: int | tuple[int, ...], hessian: bool, substitution: bool = False,
        local: bool = True,
    ) -> None:  # fmt: skip
        self.func, self.pattern, self.argnums, self.hessian, self.substitution = func, pattern, argnums, hessian, substitution
        self.local, self._rounding = local, 0.0
        if substitution:
            self.columns, self.rows = acyclic(pattern), np.full(pattern.shape[0], -1)
            self._directions = Directions(unit_sums(self.columns), unit_sums(self.rows))
            self._substituted = Substitution(pattern, self.columns)
            return
        if hessian:
            self.columns, self.rows = star(pattern), np.full(pattern.shape[0], -1)
        else:
            self.columns, self.rows = both_ways(pattern)
        self._directions = Directions(unit_sums(self.columns), unit_sums(self.rows))
        at = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
        by_column = lone(pattern, self.columns)
        group, place, length = self.columns[pattern.indices], at, pattern.shape[0]
        if hessian:  # an element that its column's group does not determine is read at the transposed place
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
        return self.matrix(args, kwargs, True)

    def compressed(self, *args: Any, **kwargs: Any) -> CompressedColumns:
        """The matrix in compressed columns, whose elements are a Tensor: for `gs.compile`, and for C (docs/native.md).

        It is not compared with a product: it is correct as long as the pattern holds.

        Raises
        ------
        ValueError
            The elements are computed from each other: `substitution=True`.
        """
        if self.substitution:
            raise CallValueError("compressed: SciPy solves for the elements of this plan; make it without substitution")
        from scipy.sparse import csr_array

        for leaf in flatten((args, kwargs))[0]:
            refuse_differentiated("compressed", leaf)
        point = Point("compressed", self.func, args, kwargs, self.argnums)
        ways = [(True, self._by_column, self._from_columns), (False, ~self._by_column, self._from_rows)]
        found, place, length = [], np.zeros(self.pattern.nnz, int), 0
        for forward, which, places in ways:
            if places.size:
                found.append(ops.reshape(self._several(point, self._seeds(forward), forward), (-1,)))
                place[which] = places + length
                length += found[-1].size
        order = np.arange(self.pattern.nnz)
        matrix = csr_array((order, self.pattern.indices, self.pattern.indptr), self.pattern.shape).tocsc()
        data = ops.concat(found, 0)[place[matrix.data]] if found else ops.zeros(0, dtype=point.inputs[0].dtype)
        rows, starts = tuple(matrix.indices.tolist()), tuple(matrix.indptr.tolist())
        return CompressedColumns(data, rows, starts, self.pattern.shape, self._directions)

    def check(self, *args: Any, **kwargs: Any) -> None:
        """Raise a ValueError if the pattern does not hold, as each call does."""
        self.matrix(args, kwargs, True)

    def matrix(self, args, kwargs, compared):
        """The matrix at some arguments; if `compared`, checked against one more product, computed together with the others."""
        from scipy.sparse import csr_array

        taken_apart("sparse plan", self.func, args, kwargs, self.argnums)
        point = Point("sparse plan", self.func, args, kwargs, self.argnums)
        forward = self.substitution or self._by_column.any() or not self._from_rows.size
        vector, data, product = self._vector(point, forward) if compared else None, None, None
        if forward:
            products, product = self._products(point, True, vector)
            if self.substitution:
                data = self._substituted(products)
            else:
                data = np.zeros(self.pattern.nnz, products.dtype)
                data[self._by_column] = products.reshape(-1)[self._from_columns]
        if not self.substitution and self._from_rows.size:
            products, other = self._products(point, False, None if forward else vector)
            if data is None:
                data, product = np.zeros(self.pattern.nnz, products.dtype), other
            data[~self._by_column] = products.reshape(-1)[self._from_rows]
        found = csr_array((data, self.pattern.indices.copy(), self.pattern.indptr.copy()), self.pattern.shape)
        if compared:
            self._compare(found, forward, vector, product, point, args, kwargs)
        return found

    def _vector(self, point, forward):
        """A random vector; its numbers are exact in every dtype of the variables."""
        digits = 2 ** min(np.finfo(x.dtype).nmant for x in point.inputs)
        random = numpy_random().default_rng(0)
        size = self.pattern.shape[1 if forward else 0]
        return random.integers(digits, 2 * digits, size) * random.choice([-1.0, 1.0], size) / digits

    def _compare(self, matrix, forward, vector, wanted, point, args, kwargs):
        """Refuse a matrix that differs from the function's own product.

        If the difference may be due to rounding, the pattern at these arguments is computed.  If it has no other elements,
        rounding is larger than usual, and the larger error is accepted from then on.
        """
        matrix = matrix if forward else matrix.T
        found, bound = matrix @ vector, abs(matrix) @ abs(vector)
        known, seen = np.isfinite(wanted), np.isfinite(found)
        with np.errstate(all="ignore"):
            off = abs(found - wanted) / (bound + np.abs(wanted).max(initial=0, where=known))
        off = np.where(known, np.where(seen & (found != wanted), off, 0), np.where(seen, np.inf, 0))
        eps = max(np.finfo(dtype).eps for dtype in (matrix.dtype, *(x.dtype for x in point.inputs)))
        largest = off.max(initial=0)
        if largest <= max(self._rounding, min(1024 * eps, np.sqrt(eps))):
            return
        if largest <= np.sqrt(eps):
            now = pattern_of("sparse plan", self.func, args, kwargs, self.argnums, self.hessian, self.local)
            if now.multiply(self.pattern).nnz == now.nnz:
                self._rounding = 2 * largest
                return
        place = f"{'row' if forward else 'column'} {int(np.argmax(off))} of the {'Hessian' if self.hessian else 'Jacobian'}"
        raise PatternError(f"sparse plan: the pattern does not hold at these arguments: {place} has an element outside of "
                           "it. Make a new plan with these arguments, or a plan for all arguments (local=False)")  # fmt: skip

    def _products(self, point, forward, vector):
        """Products with the sum of the unit vectors of each group, and with `vector` if it is given."""
        seeds = self._seeds(forward)
        if vector is None:
            return self._several(point, seeds, forward).numpy(), None
        found = self._several(point, np.concatenate([seeds.numpy(), vector[None]]), forward).numpy()
        return found[:-1], found[-1]

    def _seeds(self, forward):
        """The sum of the unit vectors of each group."""
        return self._directions.tensors[0 if forward else 1]

    def _several(self, point, seeds, forward):
        """Products with some vectors, one for each row of the result, as a tensor."""
        if not len(seeds):
            return ops.zeros((0, self.pattern.shape[0 if forward else 1]), dtype=point.inputs[0].dtype)
        if self.hessian:
            found = _hvps(point, seeds)
        else:
            found = jvps(point, seeds) if forward else vjps(point, seeds)
        wanted = self.pattern.shape[0 if forward else 1]
        if found.shape[1] != wanted or seeds.shape[1] != self.pattern.shape[1 if forward else 0]:
            raise PatternError(f"sparse plan: it was made for a matrix of shape {self.pattern.shape}, and the function now has "
                               f"vectors of {seeds.shape[1]} and {found.shape[1]} elements; make the plan anew")  # fmt: skip
        return found


@answering
def sparse_plan(
    func: Callable[..., Any], *args: Any, argnums: int | tuple[int, ...] = 0, hessian: bool = False, local: bool = False,
    pattern: Any = None, substitution: bool = False, **kwargs: Any,
) -> SparsePlan:  # fmt: skip
    """Plan the computation of a function's sparse Jacobian or Hessian once, for use at many arguments.

    Parameters
    ----------
    func, *args, argnums, hessian, local
        As for `sparsity`.
    pattern : sparse matrix or array_like, shape (outputs, inputs), optional
        The elements that may be nonzero, if known; by default `sparsity` finds them.
    substitution : bool
        For a Hessian, whether its elements may be computed from each other, which takes about half as many products.  The error
        of an element is then as large as the errors of the largest elements that it is computed from.  Without substitution each
        element is read from a product.
    **kwargs
        Keyword arguments of `func`.

    Returns
    -------
    SparsePlan
        `plan(x)` is the matrix at x; `plan.products` is the number of products it takes, without the one for comparison.

    Raises
    ------
    ValueError
        As for `sparsity`; or the pattern of a Hessian is not symmetric; or `substitution` of a Jacobian.

    Notes
    -----
    Columns without a common row are computed together (greedy distance-1 colouring; Curtis, Powell, Reid 1974).  A few dense rows
    or columns are computed by products from the other side.  For Hessians a star colouring determines each element from one of
    its two places (Gebremedhin, Manne, Pothen: What color is your Jacobian?, SIAM Review 47, 2005).  With `substitution` an
    acyclic colouring determines the elements one after the other, from the leaves of forests on (Coleman, Cai 1986).

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
        local = True  # `_compare` computes the pattern at the arguments of a call
    return SparsePlan(func, pattern, argnums, hessian, substitution, local)


@answering
def sparse_jacobian(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, *, local: bool = False, check: str = "always"
) -> Callable[..., Any]:
    """The Jacobian of a function as a sparse matrix, as a function of the same arguments.

    The first call computes the pattern and the groups of columns, and keeps them as a plan.  Later calls at arguments of the same
    shapes take a few products with vectors, in one batched pass.  If the plan does not hold, because it is local or the function
    has changed, a new one is made.

    Parameters
    ----------
    func : callable
        Returns a Tensor or a pytree of them.
    argnums : int or tuple of int
        The positional arguments to differentiate by: real floating point numbers.
    local : bool
        Whether the pattern need only hold at the arguments of the call that made the plan; see `sparsity`.
    check : {'always', 'first', 'never'}
        When to compare the matrix with the function's own product with a random vector, at the cost of one product: in each
        call, in the call that creates the plan, or never.  A matrix that is not compared is correct as long as the pattern holds.

    Returns
    -------
    callable
        Returns a `scipy.sparse.csr_array` of shape (outputs, inputs), where the elements of all outputs, and of the chosen
        arguments, are concatenated.  It contains numbers, which cannot be differentiated again.

    Raises
    ------
    ValueError
        The matrix of a new plan differs from the product: a coefficient was lost in the rounding of others, or the function
        returns different results each time.
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


@answering
def sparse_hessian(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, *, local: bool = False, check: str = "always",
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
        As for `sparse_plan`: fewer products, and larger errors if elements differ much in size.

    Returns
    -------
    callable
        Returns a `scipy.sparse.csr_array` of shape (inputs, inputs).

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
        if key in plans:
            try:
                return plans[key].matrix(args, kwargs, check == "always")
            except PatternError:  # the pattern was local, or the function has changed
                del plans[key]
        plan = plans[key] = sparse_plan(func, *args, argnums=argnums, local=local, **ways, **kwargs)
        return plan.matrix(args, kwargs, check != "never")

    return matrix


def _kind(args, kwargs):
    """The key of a plan: shapes, and the values of arguments that are not floating point numbers."""
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


def unit_sums(groups):
    """The sum of the unit vectors of each group, as rows."""
    return asarray((groups == np.arange(groups.max(initial=-1) + 1)[:, None]).astype(float))


# Products with each row of `seeds`.


def jvps(point, seeds):
    """Products of the Jacobian with the rows of a matrix, by one pass in forward mode: a tensor of shape (rows, outputs)."""
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
    """Gradients by some variables, or their edges, for batches of cotangents."""
    kept = [(root, part) for root, part in zip(roots, cotangents) if has_history(root)]
    found = [None] * len(variables)
    if kept:
        found = batched_grad([root for root, _ in kept], edges, [part for _, part in kept], retain_graph, False, True,
                             is_grads_batched=True)  # fmt: skip
    count = len(cotangents[0])
    return [ops.zeros((count, *x.shape), dtype=x.dtype) if value is None else value for value, x in zip(found, variables)]


def split(seeds, tensors):
    """The rows of a matrix as batches with the shapes and dtypes of some tensors."""
    parts, start = [], 0
    seeds = asarray(seeds)
    for x in tensors:
        parts.append(asarray(ops.reshape(seeds[:, start : start + x.size], (len(seeds), *x.shape)), dtype=x.dtype))
        start += x.size
    return parts


def joined(found, count):
    """Batches as the rows of one matrix, a tensor."""
    parts = [ops.reshape(value.detach(), (count, -1)) for value in found]
    return ops.concat(parts, 1) if len(parts) != 1 else parts[0]
