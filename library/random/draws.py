"""Draws: random numbers as functions of a key, under JAX's names and with JAX's order of parameters.

A name that NumPy has as well is one function here: its first argument says whether it is a key.
"""

import inspect
import operator
from collections.abc import Callable
from functools import wraps
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

import gradspec  # noqa: F401 (waits for it)

from .. import _random
from ..api.promotion import result_type
from ..core.conversion import asarray
from ..core.tensor import TensorBase
from ..support.dispatch import ops
from ..support.errors import CallTypeError, CallValueError
from ..support.generator import numpy_random
from .keys import checked_key, is_key, split

if TYPE_CHECKING:
    from ..generated.tensor import Tensor

__all__ = [
    "ball", "bernoulli", "beta", "binomial", "bits", "categorical", "cauchy", "chisquare", "choice", "dirichlet",
    "double_sided_maxwell", "exponential", "f", "gamma", "generalized_normal", "geometric", "gumbel", "laplace", "loggamma",
    "logistic", "lognormal", "maxwell", "multinomial", "multivariate_normal", "normal", "orthogonal", "pareto", "permutation",
    "poisson", "rademacher", "randint", "rayleigh", "t", "triangular", "truncated_normal", "uniform", "wald", "weibull_min",
]  # fmt: skip
_WORDS = {
    "key": "Tensor\n    A key, as of `key`, `split` or `fold_in`.  Equal keys draw equal numbers.",
    "shape": "int or tuple of int\n    Shape of the result; None means the broadcast shape of the parameters.",
    "dtype": "dtype, optional\n    By default the dtype of the parameters, float64 without parameters, and int64 for counts.",
    "x": "int or array_like\n    A number n means the numbers from 0 to n - 1.",
    "a": "array_like\n    A parameter of the form; for `choice` the slices, where n means the numbers from 0 to n - 1.",
    "p": "array_like\n    A probability, or the weights of the slices; for `ball` and `generalized_normal` the power.",
    "n": "array_like of int\n    Number of trials; for `orthogonal` the number of rows.",
    "m": "int, optional\n    Number of columns, by default as many as rows.",
    "d": "int\n    Number of dimensions.",
    "axis": "int\n    Axis of the slices or categories.",
    "replace": "bool\n    Whether one may be drawn more than once.",
    "independent": "bool\n    Whether each row along `axis` gets an order of its own.",
}


def _draw(function: Callable[..., Any]) -> Callable[..., "Tensor"]:
    """Export a draw: check its key, and call NumPy's function of the name, if there is one, without a key."""
    name, parameters = function.__name__, inspect.signature(function).parameters
    plain = getattr(_random, name, None)
    call = f"{name}({', '.join(str(one.replace(annotation=one.empty)) for one in parameters.values())})"
    told = [f"{one} : {_WORDS.get(one, 'array_like')}" for one in parameters]
    said = inspect.getdoc(function)
    if plain is None:
        text = "\n".join([said, "", "Parameters", "----------", *told, "", "Returns", "-------", "Tensor"])
    else:
        first, _, rest = inspect.getdoc(plain).partition("\n\n")
        text = f"{first}\n\nWith a key as first argument, `{call}`: {said[0].lower()}{said[1:]}\n\n{rest}"

    @wraps(function)
    def drawn(*args: Any, **kwargs: Any) -> "Tensor":
        for i, value in enumerate((*args, *kwargs.values())):
            if i and is_key(value) and kwargs.get("key") is not value:
                raise CallTypeError(f"{name}: a key is the first argument, and no other one is a key: {call}")
        if plain is None or "key" in kwargs or (args and is_key(args[0])):
            first = args[0] if args else kwargs.get("key")
            checked_key(first, name, hasattr(numpy_random().Generator, name) and "key" not in kwargs)
            return function(*args, **kwargs)
        return plain(*args, **kwargs)

    drawn.__doc__ = text
    return drawn


def _axes(shape: Any) -> tuple[int, ...]:
    return (operator.index(shape),) if not isinstance(shape, (tuple, list)) else tuple(map(operator.index, shape))


def _of(name: str, shape: Any, *parameters: Any) -> tuple[int, ...]:
    """The shape of a draw, which parameters broadcast to."""
    own = np.broadcast_shapes(*(np.shape(one) for one in parameters))
    if shape is None:
        return own
    shape = _axes(shape)
    if len(own) > len(shape) or any(n not in (1, m) for n, m in zip(own[::-1], shape[::-1])):
        raise CallValueError(f"{name}: parameters of shape {own} do not broadcast to shape {shape}")
    return shape


def _floats(dtype: Any, *parameters: Any) -> Any:
    """The dtype of a draw: `dtype`, or the dtype of the parameters as floats."""
    if dtype is not None:
        return np.dtype(dtype)
    arrays = [one for one in parameters if hasattr(one, "dtype")]
    return result_type(*arrays, 1.0)


def _standard(name: str, doc: str) -> Callable[..., "Tensor"]:
    def draw(key: Any, shape: Any = (), dtype: Any = None) -> "Tensor":
        return ops._keyed(key, name, _axes(shape), _floats(dtype))

    draw.__name__ = draw.__qualname__ = name
    draw.__doc__ = doc
    return _draw(draw)


normal = _standard("normal", "Standard normal numbers.")
exponential = _standard("exponential", "Exponential distribution of mean 1.")
gumbel = _standard("gumbel", "Standard Gumbel distribution.")
cauchy = _standard("cauchy", "Standard Cauchy distribution.")
laplace = _standard("laplace", "Standard Laplace distribution.")
logistic = _standard("logistic", "Standard logistic distribution.")


@_draw
def bits(key: Any, shape: Any = (), dtype: Any = np.uint64) -> Any:
    """Whole numbers of random bits."""
    return ops._keyed(key, "bits", _axes(shape), np.dtype(dtype))


@_draw
def uniform(key: Any, shape: Any = (), dtype: Any = None, minval: Any = 0.0, maxval: Any = 1.0) -> Any:
    """Numbers uniformly distributed over [minval, maxval), differentiable in both."""
    z = ops._keyed(key, "uniform", _of("uniform", shape, minval, maxval), _floats(dtype, minval, maxval))
    return minval + (maxval - minval) * z


@_draw
def randint(key: Any, shape: Any, minval: Any, maxval: Any, dtype: Any = np.int64) -> Any:
    """Whole numbers from `minval` up to but not including `maxval`."""
    return ops._keyed_counts(key, "integers", minval, maxval, _of("randint", shape, minval, maxval), np.dtype(dtype))


@_draw
def poisson(key: Any, lam: Any, shape: Any = None, dtype: Any = np.int64) -> Any:
    """Poisson distribution of mean `lam`."""
    return ops._keyed_counts(key, "poisson", lam, 0, _of("poisson", shape, lam), np.dtype(dtype))


@_draw
def binomial(key: Any, n: Any, p: Any, shape: Any = None, dtype: Any = np.int64) -> Any:
    """Number of successes in `n` trials."""
    return ops._keyed_counts(key, "binomial", n, p, _of("binomial", shape, n, p), np.dtype(dtype))


@_draw
def geometric(key: Any, p: Any, shape: Any = None, dtype: Any = np.int64) -> Any:
    """Number of trials up to and including the first success."""
    return ops._keyed_counts(key, "geometric", p, 0, _of("geometric", shape, p), np.dtype(dtype))


@_draw
def bernoulli(key: Any, p: Any = 0.5, shape: Any = None) -> Any:
    """True with probability `p`."""
    return ops._keyed(key, "uniform", _of("bernoulli", shape, p), np.dtype(np.float64)) < p


@_draw
def rademacher(key: Any, shape: Any = (), dtype: Any = np.int64) -> Any:
    """1 or -1 with equal probability."""
    return 1 - 2 * (ops._keyed(key, "bits", _axes(shape), np.dtype(np.uint8)) & 1).astype(dtype)


@_draw
def categorical(key: Any, logits: Any, axis: int = -1, shape: Any = None, replace: bool = True) -> Any:
    """Indices along `axis`, with probabilities proportional to the exponential of `logits`."""
    logits = ops.moveaxis(asarray(logits), axis, -1)
    batch, dtype = logits.shape[:-1], _floats(None, logits)
    shape = batch if shape is None else _axes(shape)
    if shape[len(shape) - len(batch) :] != batch:
        raise CallValueError(f"categorical: shape {shape} must end with the shape of the rows, {batch}")
    if replace:
        return ops.argmax(logits + ops._keyed(key, "gumbel", (*shape, logits.shape[-1]), dtype), -1)
    front = shape[: len(shape) - len(batch)]
    if prod(front) > logits.shape[-1]:
        raise CallValueError(f"categorical: {prod(front)} draws without replacement from {logits.shape[-1]} categories")
    order = ops.argsort(logits + ops._keyed(key, "gumbel", logits.shape, dtype), -1, descending=True)[..., : prod(front)]
    return ops.reshape(ops.moveaxis(order, -1, 0), shape)


@_draw
def permutation(key: Any, x: Any, axis: int = 0, independent: bool = False) -> Any:
    """Slices of `x` along `axis` in random order."""
    if not np.shape(x):
        return ops._keyed(key, "permutation", (operator.index(x),), np.dtype(np.int64))
    x = asarray(x)
    if independent:
        return ops.take_along_axis(x, ops.argsort(ops._keyed(key, "bits", x.shape, np.dtype(np.uint64)), axis), axis)
    return ops.take(x, ops._keyed(key, "permutation", (x.shape[axis],), np.dtype(np.int64)), axis)


@_draw
def choice(key: Any, a: Any, shape: Any = (), replace: bool = True, p: Any = None, axis: int = 0) -> Any:
    """Slices of `a` along `axis`, drawn at random."""
    shape, count = _axes(shape), np.shape(a)[axis] if np.shape(a) else operator.index(a)
    if not replace and prod(shape) > count:
        raise CallValueError(f"choice: {prod(shape)} draws without replacement from {count} slices")
    if p is not None and np.shape(p) != (count,):
        raise CallValueError(f"choice: p must have shape ({count},), got {np.shape(p)}")
    if not (replace or p is None or isinstance(p, TensorBase)) and np.count_nonzero(p) < prod(shape):
        raise CallValueError(f"choice: {prod(shape)} draws without replacement from {np.count_nonzero(p)} weights that are not 0")
    if p is None and replace:
        indices = ops._keyed_counts(key, "integers", 0, count, shape, np.dtype(np.int64))
    elif p is None:
        indices = ops.reshape(ops._keyed(key, "permutation", (count,), np.dtype(np.int64))[: prod(shape)], shape)
    elif replace:
        edges = ops.cumsum(asarray(p, dtype=np.float64), 0)
        indices = ops.searchsorted(edges, edges[-1] * ops._keyed(key, "uniform", shape, np.dtype(np.float64)), "right")
    else:
        noise = ops._keyed(key, "gumbel", (count,), np.dtype(np.float64))
        scores = ops.log(ops.maximum(asarray(p, dtype=np.float64), 5e-324))
        indices = ops.reshape(ops.argsort(scores + noise, 0, descending=True)[: prod(shape)], shape)
    return ops.take(asarray(a), indices, axis) if np.shape(a) else indices


@_draw
def lognormal(key: Any, sigma: Any = 1.0, shape: Any = None, dtype: Any = None) -> Any:
    """Exponential of normal numbers with standard deviation `sigma`."""
    return ops.exp(sigma * ops._keyed(key, "normal", _of("lognormal", shape, sigma), _floats(dtype, sigma)))


@_draw
def rayleigh(key: Any, scale: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Rayleigh distribution."""
    return scale * ops.sqrt(2 * ops._keyed(key, "exponential", _of("rayleigh", shape, scale), _floats(dtype, scale)))


@_draw
def pareto(key: Any, b: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Pareto distribution of the first kind, of numbers above 1; without a key NumPy's, which is less by 1."""
    return ops.exp(ops._keyed(key, "exponential", _of("pareto", shape, b), _floats(dtype, b)) / b)


@_draw
def weibull_min(key: Any, scale: Any, concentration: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Weibull distribution."""
    z = ops._keyed(key, "exponential", _of("weibull_min", shape, scale, concentration), _floats(dtype, scale, concentration))
    return scale * z ** (1 / asarray(concentration))


@_draw
def truncated_normal(key: Any, lower: Any, upper: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Standard normal numbers between two bounds."""
    shape, dtype = _of("truncated_normal", shape, lower, upper), _floats(dtype, lower, upper)
    lower, upper = ops.broadcast_to(asarray(lower, dtype=dtype), shape), ops.broadcast_to(asarray(upper, dtype=dtype), shape)
    sign = ops.where(lower > 0, -1, 1).astype(dtype)  # in the upper tail the other half is exact
    low, high = ops.ndtr(ops.minimum(sign * lower, sign * upper)), ops.ndtr(ops.maximum(sign * lower, sign * upper))
    return ops.clip(sign * ops.ndtri(low + (high - low) * ops._keyed(key, "uniform", shape, dtype)), lower, upper)


@_draw
def gamma(key: Any, a: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Gamma distribution with scale 1, differentiable in `a`."""
    z = ops._keyed(key, "uniform", _of("gamma", shape, a), _floats(dtype, a))
    return ops.gammaincinv(asarray(a, dtype=z.dtype), z)


@_draw
def loggamma(key: Any, a: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Logarithm of gamma numbers, finite also for small `a`."""
    z = ops._keyed(key, "uniform", (2, *_of("loggamma", shape, a)), _floats(dtype, a))
    a = asarray(a, dtype=z.dtype)
    return ops.log(ops.gammaincinv(a + 1, z[0])) + ops.log1p(-z[1]) / a


@_draw
def chisquare(key: Any, df: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Chi-squared distribution."""
    return 2 * gamma(key, asarray(df, dtype=_floats(dtype, df)) / 2, shape, dtype)


@_draw
def t(key: Any, df: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Student's t distribution."""
    first, second = split(key)
    shape, dtype = _of("t", shape, df), _floats(dtype, df)
    half = asarray(df, dtype=dtype) / 2
    return ops._keyed(first, "normal", shape, dtype) * ops.exp((ops.log(half) - loggamma(second, half, shape, dtype)) / 2)


@_draw
def f(key: Any, dfnum: Any, dfden: Any, shape: Any = None, dtype: Any = None) -> Any:
    """F distribution, the ratio of two means of squares."""
    first, second = split(key)
    shape, dtype = _of("f", shape, dfnum, dfden), _floats(dtype, dfnum, dfden)
    above, below = asarray(dfnum, dtype=dtype) / 2, asarray(dfden, dtype=dtype) / 2
    return below / above * ops.exp(loggamma(first, above, shape, dtype) - loggamma(second, below, shape, dtype))


@_draw
def beta(key: Any, a: Any, b: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Beta distribution, differentiable in both parameters."""
    first, second = split(key)
    shape, dtype = _of("beta", shape, a, b), _floats(dtype, a, b)
    return ops.sigmoid(loggamma(first, a, shape, dtype) - loggamma(second, b, shape, dtype))


@_draw
def dirichlet(key: Any, alpha: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Dirichlet distribution along the last axis of `alpha`; `shape` does not include that axis."""
    if not np.shape(alpha):
        raise CallValueError("dirichlet: alpha needs an axis")
    shape = np.shape(alpha) if shape is None else (*_axes(shape), np.shape(alpha)[-1])
    return ops.softmax(loggamma(key, alpha, shape, dtype), -1)


@_draw
def multivariate_normal(key: Any, mean: Any, cov: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Normal vectors; `shape` does not include their axis."""
    size, dtype = np.shape(mean)[-1:], _floats(dtype, mean, cov)
    if np.shape(cov)[-2:] != size * 2:
        raise CallValueError(f"multivariate_normal: a mean of shape {np.shape(mean)} does not fit cov of shape {np.shape(cov)}")
    own = np.broadcast_shapes(np.shape(mean)[:-1], np.shape(cov)[:-2])
    z = ops._keyed(key, "normal", (*(own if shape is None else _axes(shape)), *size), dtype)
    return mean + ops.squeeze(ops.matmul(ops.cholesky(asarray(cov, dtype=dtype)), z[..., None]), -1)


@_draw
def triangular(key: Any, left: Any, mode: Any, right: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Triangular distribution on [left, right], differentiable in all three parameters."""
    shape, dtype = _of("triangular", shape, left, mode, right), _floats(dtype, left, mode, right)
    left, mode, right = (asarray(one, dtype=dtype) for one in (left, mode, right))
    z, width = ops._keyed(key, "uniform", shape, dtype), right - left
    below = z * width < mode - left
    area = ops.where(below, z * (mode - left), (1 - z) * (right - mode)) * width
    return ops.where(below, left, right) + ops.where(below, 1, -1).astype(dtype) * ops.sqrt(area)


@_draw
def wald(key: Any, mean: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Inverse normal distribution with shape parameter 1.

    Numbers come from the inverse of the distribution function, so gradients of expectations in `mean` are right on average.
    """
    z = ops._keyed(key, "uniform", _of("wald", shape, mean), _floats(dtype, mean))
    return gradspec.scipy.stats.invgauss.ppf(z, asarray(mean, dtype=z.dtype))


@_draw
def maxwell(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Maxwell distribution of scale 1, the length of three standard normal numbers."""
    return ops.sqrt(ops.sum(ops._keyed(key, "normal", (*_axes(shape), 3), _floats(dtype)) ** 2, -1))


@_draw
def double_sided_maxwell(key: Any, loc: Any, scale: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Maxwell numbers with a random sign, times `scale`, plus `loc`; `shape` does not include the shape of the parameters."""
    first, second = split(key)
    shape, dtype = (*_axes(shape), *_of("double_sided_maxwell", None, loc, scale)), _floats(dtype, loc, scale)
    return loc + scale * rademacher(first, shape, dtype) * maxwell(second, shape, dtype)


@_draw
def generalized_normal(key: Any, p: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Numbers with density proportional to exp(-abs(x)**p), differentiable in `p`."""
    first, second = split(key)
    shape, dtype = _of("generalized_normal", shape, p), _floats(dtype, p)
    p = asarray(p, dtype=dtype)
    return rademacher(first, shape, dtype) * ops.exp(loggamma(second, 1 / p, shape, dtype) / p)


@_draw
def ball(key: Any, d: int, p: Any = 2.0, shape: Any = (), dtype: Any = None) -> Any:
    """Points uniformly distributed in the unit ball of the p-norm; `shape` does not include their axis."""
    first, second = split(key)
    shape, dtype = _of("ball", shape, p), _floats(dtype, p)
    p = ops.broadcast_to(asarray(p, dtype=dtype), shape)[..., None]
    x = generalized_normal(first, p, (*shape, operator.index(d)), dtype)
    beside = ops._keyed(second, "exponential", (*shape, 1), dtype)
    return x / (ops.sum(ops.absolute(x) ** p, -1, True) + beside) ** (1 / p)


@_draw
def orthogonal(key: Any, n: int, shape: Any = (), dtype: Any = None, m: int | None = None) -> Any:
    """Uniformly distributed matrices with orthonormal columns, or rows if there are fewer; `shape` leaves out their axes."""
    columns = n if m is None else m
    q, r = ops.qr(ops._keyed(key, "normal", (*_axes(shape), max(n, columns), min(n, columns)), _floats(dtype)))
    q = q * ops.where(ops.diagonal(r, 0, -2, -1) < 0, -1, 1).astype(q.dtype)[..., None, :]
    return q if n >= columns else ops.mT(q)


@_draw
def multinomial(key: Any, n: Any, p: Any, *, shape: Any = None, dtype: Any = np.int64) -> Any:
    """How many of `n` trials fall into each category; the last axis of `p` has their probabilities, which sum to 1."""
    if not np.shape(p):
        raise CallValueError("multinomial: p needs an axis")
    left, p = asarray(n)[..., None], asarray(p)
    shape = _of("multinomial", shape, left, p)
    left, p = ops.broadcast_to(left, (*shape[:-1], 1))[..., 0], ops.broadcast_to(p, shape)
    rest = ops.flip(ops.cumsum(ops.flip(p, -1), -1), -1)  # the probability of a category and all later ones
    counts = []
    for i, one in enumerate(split(key, shape[-1] - 1)):
        share = ops.clip(p[..., i] / ops.where(rest[..., i] > 0, rest[..., i], 1), 0, 1)
        counts.append(ops._keyed_counts(one, "binomial", left, share, shape[:-1], np.dtype(np.int64)))
        left = left - counts[-1]
    return ops.stack([*counts, left.astype(np.int64)], -1).astype(dtype)
