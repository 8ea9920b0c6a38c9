"""Maximum likelihood and expectations of a distribution, by its own densities.

Decides which parameters of a fit are free, the start of the search, and the ends of an integral.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

import gradspec  # noqa: F401 (waits for it)
import gradspec.scipy.integrate  # noqa: F401 (as well)
import gradspec.scipy.optimize  # noqa: F401 (as well)

from ...core.conversion import asarray
from ...core.grad_mode import is_grad_enabled
from ...core.tensor import TensorBase
from ...func import stop_gradient, value_and_grad
from ...func.callbacks import has_tangent
from ...support.dispatch import ops
from ..integrate.quadrature import quad
from ..optimize.minimizing import minimize

if TYPE_CHECKING:
    from .continuous import Continuous
    from .discrete import Discrete

_PRECISE = {"epsabs": 1e-9, "epsrel": 1e-9}
_MOST = 1_000_000  # maximal number of terms in an expectation
_TAIL = 1e-15  # of a probability that ends it


def fit(distribution: Continuous, data: Any, args: tuple, kwds: dict[str, Any]) -> tuple:
    """The parameters of maximum likelihood, including the fixed ones."""
    data = ops.reshape(ops.astype(asarray(data), np.float64), (-1,))
    values = stop_gradient(data).numpy()
    if not values.size or not np.isfinite(values).all():
        raise ValueError(f"{distribution.name}.fit: the data must be finite numbers, one at least")
    names = [*distribution._names, "loc", "scale"]
    fixed = _fixed(distribution, names, kwds)
    free = [name for name in names if name not in fixed]
    if not free:
        raise ValueError(f"{distribution.name}.fit: all parameters are fixed, so nothing is to be fitted")

    if distribution._estimates is not None:
        import scipy.stats

        getattr(scipy.stats, distribution.name).fit(values, *args, **kwds)  # which refuses data beyond the support
        found = distribution._estimates(data, fixed.get("loc"), fixed.get("scale"))
        return tuple(asarray(value, dtype=data.dtype) for value in found)

    def parameters(theta: Any) -> list[Any]:
        """All parameters from the free ones; a free scale is given by its logarithm."""
        found = dict(zip(free, (theta[i] for i in range(len(free)))))
        if "scale" in found:
            found["scale"] = ops.exp(found["scale"])
        return [found[name] if name in found else fixed[name] for name in names]

    def loss(theta: Any, data: Any) -> Any:
        return -ops.mean(distribution.logpdf(data, *parameters(theta)))

    theta = _greatest(distribution, lambda theta: loss(theta, asarray(values)), names, free, values, args, kwds)
    if is_grad_enabled() and data.requires_grad or has_tangent(data):
        theta = minimize(loss, theta, args=(data,), method="trust-exact", options={"gtol": 1e-10, "maxiter": 20}).x
    return tuple(map(asarray, parameters(asarray(theta))))


def _fixed(distribution: Continuous, names: list[str], kwds: dict[str, Any]) -> dict[str, float]:
    """Values that the keywords `floc`, `fscale`, `f0`, `fa` and `fix_a` fix."""
    spelled = {f"f{name}": name for name in names} | {f"fix_{name}": name for name in distribution._names}
    spelled |= {f"f{i}": name for i, name in enumerate(distribution._names)}
    found = {}
    for key in [key for key in kwds if key in spelled]:
        if isinstance(kwds[key], TensorBase) and kwds[key].requires_grad:
            raise TypeError(f"{distribution.name}.fit: {key} is a number, and the fit has no derivative in it; pass {key}.item()")
        found[spelled[key]] = float(kwds[key])
    if unknown := kwds.keys() - spelled.keys() - {"loc", "scale"}:
        raise TypeError(f"{distribution.name}.fit() got an unexpected keyword argument '{min(unknown)}'; it maximises the "
                        "likelihood, starting at `loc` and `scale`; `floc`, `fscale` and `f0` fix parameters")  # fmt: skip
    return found


def _greatest(distribution: Continuous, loss: Callable[[Any], Any], names: list[str], free: list[str], values: np.ndarray,
              args: tuple, kwds: dict[str, Any]) -> np.ndarray:  # fmt: skip
    """The free parameters by exact gradients from SciPy's first guess; by SciPy's own search if this fails."""
    import scipy.optimize
    import scipy.stats

    theirs = getattr(scipy.stats, distribution.name)

    def vector(found: Any) -> np.ndarray:
        given = dict(zip(names, found))
        return np.array([np.log(given[name]) if name == "scale" else given[name] for name in free], np.float64)

    def computed(theta: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = value_and_grad(loss)(asarray(theta))
        value, slope = value.item(), slope.numpy()
        finite = np.isfinite(value) and np.isfinite(slope).all()
        return (value, slope) if finite else (1e100, np.zeros(slope.shape))

    with np.errstate(all="ignore"):
        try:
            first = theirs.fit(values, *args, **kwds, optimizer=lambda function, guess, args, disp: guess)
        except TypeError:  # a family with a closed form, which asks no optimizer
            first = theirs.fit(values, *args, **kwds)
        found = scipy.optimize.minimize(computed, vector(first), jac=True, method="BFGS", options={"gtol": 1e-8})
        if found.fun < 1e99 and (found.success or np.abs(found.jac).max() < 1e-5):
            return found.x
        return vector(theirs.fit(values, *args, **kwds))


# Expectations.


def expect(distribution: Continuous, func: Callable[..., Any], args: tuple, parameters: dict[str, Any], ends: tuple[Any, Any],
           conditional: bool) -> Any:  # fmt: skip
    """The mean of a function over a continuous distribution, by integrals on both sides of the median."""
    low, high = (end if given is None else given for end, given in zip(distribution.support(*args, **parameters), ends))
    middle = stop_gradient(ops.clip(distribution.median(*args, **parameters), low, high))

    def integrand(x: Any) -> Any:
        return func(x) * distribution.pdf(x, *args, **parameters)

    total = quad(integrand, low, middle, **_PRECISE)[0] + quad(integrand, middle, high, **_PRECISE)[0]
    if not conditional:
        return total
    return total / (distribution.cdf(high, *args, **parameters) - distribution.cdf(low, *args, **parameters))


def expect_of_counts(distribution: Discrete, func: Callable[..., Any], args: tuple, parameters: dict[str, Any],
                     ends: tuple[Any, Any], conditional: bool) -> Any:  # fmt: skip
    """The mean of a function over a discrete distribution, by the sum over all numbers that have a probability."""
    args, plain = tuple(map(asarray, args)), {name: stop_gradient(asarray(value)) for name, value in parameters.items()}
    shapes = [stop_gradient(value) for value in args]
    support = [end.item() for end in distribution.support(*shapes, **plain)]
    far = 2.0 ** np.arange(0, np.log2(_MOST) + 1)
    found = []
    for end, given, tail, places in zip(support, ends, (distribution.cdf, distribution.sf), (-far, far)):
        if given is None and np.isinf(end):
            there = np.flatnonzero(tail(places, *shapes, **plain).numpy() < _TAIL)
            end = places[there[0]] if there.size else end
        found.append(end if given is None else float(given))
    low, high = np.ceil(max(found[0], support[0])), np.floor(min(found[1], support[1]))
    if not high - low < _MOST:
        raise NotImplementedError(f"{distribution.name}.expect: more than {_MOST} numbers would be summed; give lb and ub")
    k = np.arange(low, high + 1)
    mass = distribution.pmf(k, *args, **parameters)
    total = ops.sum(func(asarray(k)) * mass)
    return total / ops.sum(mass) if conditional else total
