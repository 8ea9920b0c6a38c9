"""Distances of vectors with derivatives: gradspec.scipy.spatial.distance.

Computes each metric between vectors, and from it the distances of all pairs.  If a norm of a difference is 0, its derivative is
0, the subgradient of least norm.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import gradspec  # noqa: F401 (waits for it)
import gradspec.linalg  # noqa: F401 (as well)

from ...core.conversion import asarray
from ...generated.ops import abs, amax, sqrt, where
from ...linalg import inv
from ...special import rel_entr
from ...support.dispatch import ops
from ...support.lazy_import import answer
from ..values import reals
from ..without import add_without_derivative


def _sum(x: Any) -> Any:
    return ops.sum(x, -1)


def _root(x: Any, exponent: float = 0.5) -> Any:
    """A root, with the derivative 0 at 0."""
    zero = x == 0
    return where(zero, 0.0 * x, where(zero, 1.0, x) ** exponent)


def _ratio(part: Any, whole: Any, empty: float = 0.0) -> Any:
    zero = whole == 0
    return where(zero, empty, part / where(zero, 1.0, whole))


def _minkowski(u: Any, v: Any, w: Any, p: float = 2) -> Any:
    if not p > 0:
        raise ValueError(f"minkowski: p must be greater than 0, got {p}")
    size = abs(u - v)
    if p == math.inf:
        return amax(where(w > 0, size, 0.0), -1)
    return _root(_sum(w * (size if p == 1 else size * size if p == 2 else _root(size, p))), 1 / p)


def _cosine(u: Any, v: Any, w: Any) -> Any:
    return 1 - _sum(w * u * v) / sqrt(_sum(w * u * u) * _sum(w * v * v))


def _correlation(u: Any, v: Any, w: Any, centered: bool = True) -> Any:
    share = w / ops.sum(w, -1, keepdims=True)
    middle = lambda x: x - ops.sum(share * x, -1, keepdims=True) if centered else x  # noqa: E731
    return _cosine(middle(u), middle(v), share)


def _canberra(u: Any, v: Any, w: Any) -> Any:
    return _sum(w * _ratio(abs(u - v), abs(u) + abs(v)))


def _braycurtis(u: Any, v: Any, w: Any) -> Any:
    return _sum(w * abs(u - v)) / _sum(w * abs(u + v))


def _jensenshannon(p: Any, q: Any, base: float | None = None) -> Any:
    p, q = p / ops.sum(p, -1, keepdims=True), q / ops.sum(q, -1, keepdims=True)
    m = (p + q) / 2
    found = (_sum(rel_entr(p, m)) + _sum(rel_entr(q, m))) / 2
    return _root(where(found > 0, found, 0.0 * found) / (1.0 if base is None else math.log(base)))


def _mahalanobis(u: Any, v: Any, VI: Any) -> Any:
    return _root(_sum((u - v) * ops.matmul(VI, (u - v)[..., None])[..., 0]))


# Metric -> its function of two vectors and the weights.
_WEIGHTED: dict[str, Callable[..., Any]] = {
    "braycurtis": _braycurtis,
    "canberra": _canberra,
    "chebyshev": lambda u, v, w: _minkowski(u, v, w, math.inf),
    "cityblock": lambda u, v, w: _minkowski(u, v, w, 1),
    "correlation": _correlation,
    "cosine": _cosine,
    "euclidean": _minkowski,
    "minkowski": _minkowski,
    "sqeuclidean": lambda u, v, w: _sum(w * (u - v) ** 2),
}
_OTHERS: dict[str, Callable[..., Any]] = {
    "jensenshannon": _jensenshannon,
    "mahalanobis": _mahalanobis,
    "seuclidean": lambda u, v, V: _root(_sum((u - v) ** 2 / V)),
}
_SHORT = {"cityblock": "cblock cb c l1 manhattan", "chebyshev": "cheby cheb ch chebychev", "cosine": "cos", "correlation": "co",
          "euclidean": "euclid eu e l2", "mahalanobis": "mahal mah mi", "minkowski": "mi m pnorm", "jensenshannon": "js",
          "seuclidean": "se s", "sqeuclidean": "sqe sqeuclid"}  # fmt: skip
_NAMES = {short: name for name, others in _SHORT.items() for short in others.split()}


def _of_rows(metric: str, u: Any, v: Any, options: dict[str, Any]) -> Any:
    """A metric of vectors along the last axis."""
    if metric in _WEIGHTED:
        w = options.pop("w", None)
        (w,) = reals(metric, w) if w is not None else (ops.ones_like(u),)
        return _WEIGHTED[metric](u, v, w, **options)
    if metric not in _OTHERS:
        raise NotImplementedError(f"scipy.spatial.distance: the metric must be one of {', '.join([*_WEIGHTED, *_OTHERS])}, got "
                                  f"{metric!r}; others count elements that are alike, or are functions: map them with gs.vmap")  # fmt: skip
    return _OTHERS[metric](u, v, **{key: asarray(value) if key in ("V", "VI") else value for key, value in options.items()})


def _vectors(metric: str, first: tuple[str, ...] = ()) -> Callable[..., Any]:
    def distance(u: Any, v: Any, *args: Any, **options: Any) -> Any:
        u, v = reals(metric, u, v)
        if metric != "jensenshannon" and (u.ndim != 1 or v.ndim != 1):
            raise ValueError(f"{metric}: expected vectors, got the shapes {u.shape} and {v.shape}")
        axis = options.pop("axis", 0) if metric == "jensenshannon" else -1
        kept = options.pop("keepdims", False)
        options.update(zip(first, args, strict=False))
        found = _of_rows(metric, ops.moveaxis(u, axis, -1), ops.moveaxis(v, axis, -1), options)
        return ops.expand_dims(found, axis) if kept else found

    distance.__name__ = distance.__qualname__ = metric
    distance.__doc__ = (
        f"The {metric} distance of two vectors.\n\nParameters\n----------\nu, v : array_like, shape (n,), real\n**options\n"
        f"    SciPy's: {', '.join(first) or 'none'}, which have derivatives if they are arrays.\n\nReturns\n-------\nTensor"
    )
    return distance


_FIRST = {"jensenshannon": ("base",), "mahalanobis": ("VI",), "minkowski": ("p", "w"), "seuclidean": ("V",), "correlation": ("w", "centered")}
globals().update({name: _vectors(name, _FIRST.get(name, ("w",))) for name in (*_WEIGHTED, *_OTHERS)})


def cdist(XA: Any, XB: Any, metric: str = "euclidean", *, out: None = None, **options: Any) -> Any:
    """Distances of each row of a matrix to each row of another matrix.

    Parameters
    ----------
    XA : array_like, shape (..., m, n), real
    XB : array_like, shape (..., k, n), real
    metric : str
        Of vectors: "euclidean", "sqeuclidean", "seuclidean", "mahalanobis", "minkowski", "cityblock", "chebyshev", "cosine",
        "correlation", "canberra", "braycurtis" or "jensenshannon".
    out : None
    **options
        SciPy's `p`, `w`, `V` and `VI`; the last two are estimated from both matrices if they are missing.

    Returns
    -------
    Tensor, shape (..., m, k)

    Raises
    ------
    NotImplementedError
        The metric counts elements that are alike, or is a function.
    """
    a, b = reals("cdist", XA, XB)
    if out is not None:
        raise ValueError("cdist: out must be None: a result is a new tensor")
    if a.ndim < 2 or b.ndim < 2 or a.shape[-1] != b.shape[-1]:
        raise ValueError(f"cdist: expected matrices with rows of one length, got the shapes {a.shape} and {b.shape}")
    metric = _NAMES.get(metric, metric)
    _estimate(metric, options, lambda: ops.concat([a, b], -2))
    return _of_rows(metric, a[..., :, None, :], b[..., None, :, :], options)


def _estimate(metric: str, options: dict[str, Any], rows: Callable[[], Any]) -> None:
    if metric == "seuclidean" and options.get("V") is None:
        options["V"] = ops.var(rows(), axis=-2, ddof=1)
    if metric == "mahalanobis" and options.get("VI") is None:
        x = rows()
        x = x - ops.mean(x, -2, keepdims=True)
        options["VI"] = inv(ops.matmul(ops.swapaxes(x, -1, -2), x) / (x.shape[-2] - 1)).mT


def pdist(X: Any, metric: str = "euclidean", *, out: None = None, **options: Any) -> Any:
    """Distances of each pair of rows, as the upper triangle of their matrix row by row; parameters as for `cdist`."""
    (x,) = reals("pdist", X)
    if out is not None:
        raise ValueError("pdist: out must be None: a result is a new tensor")
    if x.ndim != 2:
        raise ValueError(f"pdist: expected a matrix, got the shape {x.shape}")
    metric = _NAMES.get(metric, metric)
    _estimate(metric, options, lambda: x)
    rows, columns = np.triu_indices(x.shape[0], 1)
    return _of_rows(metric, x[rows], x[columns], options)


def squareform(X: Any, force: str = "no", checks: bool = True) -> Any:
    """Distances of pairs as a symmetric matrix, and a matrix as distances of pairs.

    Parameters
    ----------
    X : array_like, shape (n * (n - 1) / 2,) or (n, n)
    force : {"no", "tovector", "tomatrix"}
    checks : bool
        Whether a matrix must be symmetric, with zeros on its diagonal.

    Returns
    -------
    Tensor
        The elements of a vector come from the upper triangle.
    """
    x = asarray(X)
    if (force, x.ndim) in (("tomatrix", 2), ("tovector", 1)):
        raise ValueError(f"squareform: force={force!r} does not fit an array of shape {x.shape}")
    if x.ndim == 2:
        n = x.shape[0]
        plain = x.detach().numpy() if checks else None
        if x.shape[1] != n or (plain is not None and (np.abs(plain - plain.T) > 1e-8).any() or plain is not None and np.diag(plain).any()):
            raise ValueError(f"squareform: expected a symmetric matrix with zeros on its diagonal, got one of shape {x.shape}")
        return x[np.triu_indices(n, 1)]
    n = int(math.ceil(math.sqrt(2 * x.shape[0]))) or 1
    if x.ndim != 1 or n * (n - 1) != 2 * x.shape[0]:
        raise ValueError(f"squareform: the length must be n * (n - 1) / 2 for a whole n, got the shape {x.shape}")
    places = np.zeros((n, n), np.int64)
    places[np.triu_indices(n, 1)] = np.arange(1, x.shape[0] + 1)
    return ops.concat([ops.zeros_like(x[:1]) if x.shape[0] else ops.zeros(1, dtype=x.dtype), x])[places + places.T]


__all__ = [*_WEIGHTED, *_OTHERS, "cdist", "pdist", "squareform"]
add_without_derivative(globals())
__dir__ = __all__.copy
answer(__name__)
