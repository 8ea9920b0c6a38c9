"""Distributions of one number with SciPy's interface: derive all methods from the formulas of a family.

Handles `loc` and `scale`, supports and domains, and conversions between formulas.  Families state formulas for `loc` 0 and
`scale` 1 inside the support; without a formula, SciPy gives the value, and its derivative is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.conversion import asarray
from ...func import stop_gradient
from ...support.dispatch import ops
from ..values import elementwise, generator_for, reals, refused
from .frozen import Frozen

Formula = Callable[..., Any]
RESULT = "Returns\n-------\nFrozen\n    The distribution with these parameters, whose methods take no others."  # of the call of a distribution
QUANTITIES = ("mean", "variance", "skewness", "kurtosis")


def log_less(complement: Any) -> Any:
    """log(1 - exp(complement)): the log-probability from the complement's log-probability."""
    return ops.log1mexp(-complement)


def log_either(probability: Any, rest: Any) -> Any:
    """The logarithm of a probability with a known complement: from the smaller one of the two."""
    low = probability < 0.5
    return ops.where(low, ops.log(ops.where(low, probability, 0.5)), ops.log1p(-ops.where(low, 0.5, rest)))


# How to derive a missing formula from others: the first entry whose formulas all exist.
WAYS: dict[str, list[tuple[tuple[str, ...], Formula]]] = {
    "logpdf": [(("pdf",), lambda p: ops.log(p))],
    "pdf": [(("logpdf",), lambda p: ops.exp(p))],
}
for _name, _other in (("cdf", "sf"), ("sf", "cdf")):
    WAYS[f"log{_name}"] = [
        ((_name, _other), log_either), ((f"log{_other}",), log_less), ((_name,), lambda p: ops.log(p)),
        ((_other,), lambda p: ops.log1p(-p)),
    ]  # fmt: skip
    WAYS[_name] = [
        ((f"log{_name}",), lambda p: ops.exp(p)), ((f"log{_other}",), lambda p: -ops.expm1(p)), ((_other,), lambda p: 1 - p),
    ]  # fmt: skip


class Distribution:
    """Common methods of continuous and discrete distributions: parameters, moments, entropy, support.

    Parameters
    ----------
    name : str
        SciPy's.
    shapes : str
        Names of the parameters other than `loc` and `scale`, separated by spaces.
    doc : str
        One line.
    support : pair, or callable
        Ends of the support, or a function of the shape parameters that gives them.
    domain : callable, optional
        Takes the shape parameters, returns whether they are admissible.  By default all must be positive.
    stats : callable, optional
        Takes the shape parameters, returns mean, variance, skewness, excess kurtosis; None for a moment without a formula.
    entropy : callable, optional
        A function of the shape parameters.
    **formulas : callable
        `pdf`, `logcdf` and so on, functions of a number inside the support and the shape parameters.
    """

    _has_scale = True
    _ways = WAYS

    def __init__(self, name: str, shapes: str = "", *, doc: str, support: Any = (-math.inf, math.inf),
                 domain: Formula | None = None, stats: Formula | None = None, entropy: Formula | None = None,
                 **formulas: Formula) -> None:  # fmt: skip
        self._names = tuple(shapes.split())
        names = ", ".join(f"`{name}`" for name in (*self._names, "loc", *["scale"] * self._has_scale))
        said = f"{names}: by position or by name; `loc` is 0{' and `scale` 1' * self._has_scale} by default."
        self.name, self.__doc__ = name, f"{doc}\n\nParameters\n----------\n*args, **kwds : array_like\n    {said}\n\n{RESULT}"
        self.shapes = ", ".join(self._names) or None
        self.numargs = len(self._names)
        self._support, self._domain, self._stats, self._entropy = support, domain, stats, entropy
        self._formulas = {**formulas, **self._derived(formulas)}

    def _derived(self, stated: dict[str, Formula]) -> dict[str, Formula]:
        found = {}
        for name, ways in self._ways.items():
            for sources, way in ways if name not in stated else ():
                if all(source in stated for source in sources):
                    found[name] = _composed(way, [stated[source] for source in sources])
                    break
        return found

    def __repr__(self) -> str:
        return f"<gradspec.scipy.stats.{self.name}>"

    def __call__(self, *args: Any, **kwds: Any) -> Frozen:
        return Frozen(self, args, kwds)

    freeze = __call__

    # Arguments.

    def _tensors(self, where: str, args: tuple[Any, ...], kwds: dict[str, Any], x: tuple[Any, ...] = ()) -> Any:
        """Arguments of one dtype: those in `x`, then a list of shape parameters, `loc` and `scale`."""
        names = [*self._names, "loc", *(["scale"] if self._has_scale else [])]
        title = f"{self.name}.{where}"
        if len(args) > len(names):
            raise TypeError(f"{title}() takes at most {len(names)} parameters ({', '.join(names)}), got {len(args)}")
        given = dict(zip(names, args))
        for name, value in kwds.items():
            if name not in names:
                raise TypeError(f"{title}() got an unexpected keyword argument {name!r}; its parameters are {', '.join(names)}")
            if name in given:
                raise TypeError(f"{title}() got multiple values for argument {name!r}")
            given[name] = value
        missing = [name for name in self._names if name not in given]
        if missing:
            raise TypeError(f"{title}() misses the shape parameter{'s' * (len(missing) > 1)} {', '.join(missing)}")
        found = reals(title, *x, *(given[name] for name in self._names), given.get("loc", 0.0), given.get("scale", 1.0))
        return *found[: len(x)], found[len(x) : -2], *found[-2:]

    def _valid(self, shapes: list[Any], scale: Any) -> Any:
        valid = scale > 0
        if self._domain is not None:
            return valid & self._domain(*shapes)
        for shape in shapes:
            valid = valid & (shape > 0)
        return valid

    def _ends(self, shapes: list[Any]) -> Any:
        return self._support(*shapes) if callable(self._support) else self._support

    def _between(self, which: str, valid: Any, below: Any, above: Any, value: Any) -> Any:
        """A probability, which is 0 or 1 on either side of the support."""
        first, last = (0.0, 1.0) if which.endswith("cdf") else (1.0, 0.0)
        if which.startswith("log"):
            first, last = (-math.inf, 0.0) if first == 0 else (0.0, -math.inf)
        return ops.where(valid, ops.where(below, first, ops.where(above, last, value)), math.nan)

    def _scipys(self, method: str, *arguments: Any) -> Any:
        """SciPy's value of a method; no derivative."""
        import scipy.stats

        distribution = getattr(scipy.stats, self.name)
        if method in QUANTITIES:
            place = "mvsk"[QUANTITIES.index(method)]
            return elementwise(lambda *arrays: distribution.stats(*arrays, moments=place))(*arguments)
        return elementwise(getattr(distribution, method))(*arguments)

    def _words(self, method: str) -> str:
        return (f"scipy.stats.{self.name}.{method} has no derivative in {self.shapes} here, for there is no formula of it; pass "
                f"{self._names[0]}.detach()")  # fmt: skip

    def _without(self, method: str, shapes: list[Any], *before: Any) -> Any:
        """SciPy's value of a method of `before` and the shape parameters; derivatives in the latter are refused."""
        return refused(self._scipys(method, *before, *shapes), shapes, self._words(method))

    def _drawn(self, shapes: list[Any], loc: Any, scale: Any, size: Any, random_state: Any) -> Any:
        """SciPy's random numbers at `loc` 0 and `scale` 1, in the shape of the result."""
        import scipy.stats

        random_state = generator_for(f"scipy.stats.{self.name}.rvs", random_state)
        if size is None:
            size = np.broadcast_shapes(*(tensor.shape for tensor in (*shapes, loc, scale)))
        parameters = [stop_gradient(shape).numpy() for shape in shapes]
        drawn = getattr(scipy.stats, self.name).rvs(*parameters, size=size, random_state=random_state)
        return asarray(np.asarray(drawn), dtype=loc.dtype)

    # Moments.

    def _moment(self, which: str, shapes: list[Any]) -> Any:
        """A moment of the standard distribution."""
        found = self._stats(*shapes)[QUANTITIES.index(which)] if self._stats is not None else None
        if found is None:
            return self._without(which, shapes)
        return found

    def _statistic(self, which: str, args: tuple[Any, ...], kwds: dict[str, Any]) -> Any:
        shapes, loc, scale = self._tensors(which, args, kwds)
        with np.errstate(all="ignore"):
            value = self._moment(which, shapes)
            if which == "mean":
                value = value * scale + loc
            elif which == "variance":
                value = value * (scale * scale)
            return ops.where(self._valid(shapes, scale), value + ops.zeros_like(loc + scale), math.nan)

    def mean(self, *args: Any, **kwds: Any) -> Any:
        """The mean; inf or nan if it is infinite or does not exist."""
        return self._statistic("mean", args, kwds)

    def var(self, *args: Any, **kwds: Any) -> Any:
        """The variance."""
        return self._statistic("variance", args, kwds)

    def std(self, *args: Any, **kwds: Any) -> Any:
        """The standard deviation."""
        return ops.sqrt(self.var(*args, **kwds))

    def stats(self, *args: Any, moments: str = "mv", **kwds: Any) -> Any:
        """The moments named in `moments`: "m" mean, "v" variance, "s" skewness, "k" excess kurtosis; a tuple, or a single one."""
        found = tuple(self._statistic(which, args, kwds) for letter, which in zip("mvsk", QUANTITIES) if letter in moments)
        return found[0] if len(found) == 1 else found

    def moment(self, order: int, *args: Any, **kwds: Any) -> Any:
        """The mean of x**order, for an order from 0 to 4.

        Raises
        ------
        NotImplementedError
            For any other order.
        """
        if order not in (0, 1, 2, 3, 4):
            raise NotImplementedError(f"{self.name}.moment: moments of the orders 0 to 4 are offered, got {order!r}")
        mean = self.mean(*args, **kwds)
        if order == 0:
            return ops.ones_like(mean)
        central = [1.0, 0.0]
        if order > 1:
            central.append(self.var(*args, **kwds))
        if order > 2:
            central.append(self.stats(*args, moments="s", **kwds) * central[2] ** 1.5)
        if order > 3:
            central.append((self.stats(*args, moments="k", **kwds) + 3) * central[2] ** 2)
        total = mean**order
        for k in range(2, order + 1):
            total = total + math.comb(order, k) * central[k] * mean ** (order - k)
        return total

    def entropy(self, *args: Any, **kwds: Any) -> Any:
        """The entropy in nats; for a continuous distribution, the differential entropy."""
        shapes, _, scale = self._tensors("entropy", args, kwds)
        with np.errstate(all="ignore"):
            found = self._entropy(*shapes) if self._entropy is not None else self._without("entropy", shapes)
            return ops.where(self._valid(shapes, scale), found + ops.log(scale), math.nan)

    def support(self, *args: Any, **kwds: Any) -> Any:
        """The ends of the support."""
        shapes, loc, scale = self._tensors("support", args, kwds)
        valid = self._valid(shapes, scale)
        return tuple(ops.where(valid, end * scale + loc, math.nan) for end in self._ends(shapes))

    def median(self, *args: Any, **kwds: Any) -> Any:
        """The median."""
        return self.ppf(0.5, *args, **kwds)

    def interval(self, confidence: Any, *args: Any, **kwds: Any) -> Any:
        """The ends of the interval around the median that contains the fraction `confidence` of the probability."""
        confidence = reals(f"{self.name}.interval", confidence)[0]
        return self.ppf((1 - confidence) / 2, *args, **kwds), self.ppf((1 + confidence) / 2, *args, **kwds)

    def ppf(self, q: Any, *args: Any, **kwds: Any) -> Any:
        """The quantile: the least number whose `cdf` is at least q."""
        raise NotImplementedError

    def _inside(self, ends: Any) -> Any:
        """A regular point inside the support, which replaces points outside as an argument of formulas."""
        a, b = ends
        low = _finite(a, _finite(b - 2, -1.0))
        return low + 0.365 * (_finite(b, low + 2) - low)


def _finite(end: Any, other: Any) -> Any:
    """An end of a support, or another number if it is infinite."""
    if isinstance(end, (int, float)):
        return end if math.isfinite(end) else other
    return ops.where(ops.isfinite(end), end, other)


def _composed(way: Formula, sources: list[Formula]) -> Formula:
    return lambda *arguments: way(*(source(*arguments) for source in sources))
