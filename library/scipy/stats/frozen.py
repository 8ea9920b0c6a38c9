"""A distribution with its parameters: `norm(loc, scale)`."""

from __future__ import annotations

import functools
from typing import Any


class Frozen:
    """A distribution with fixed parameters, whose methods take no parameters: `norm(0.0, 2.0).logpdf(x)`.

    Attributes
    ----------
    dist : Distribution
    args, kwds : tuple, dict
        The parameters, in the form of the call.
    """

    def __init__(self, dist: Any, args: tuple[Any, ...] = (), kwds: dict[str, Any] | None = None) -> None:
        self.dist, self.args, self.kwds = dist, args, kwds or {}

    def __repr__(self) -> str:
        return f"{self.dist!r}{self.args}"

    def __dir__(self) -> list[str]:
        return sorted([*super().__dir__(), *(name for name in (*OF_A_NUMBER, *OF_NOTHING) if hasattr(self.dist, name))])

    def rvs(self, size: Any = None, random_state: Any = None) -> Any:
        """Random numbers; for their derivatives see `rvs` of the distribution."""
        return self.dist.rvs(*self.args, size=size, random_state=random_state, **self.kwds)

    def expect(self, func: Any = None, lb: Any = None, ub: Any = None, conditional: bool = False) -> Any:
        """The mean of a function; see `expect` of the distribution."""
        count, kwds = self.dist.numargs, dict(self.kwds)
        given = [*self.args[:count], *(kwds.pop(name) for name in self.dist._names if name in kwds)]
        rest = dict(zip(("loc", "scale"), self.args[count:])) | kwds
        return self.dist.expect(func, tuple(given), lb=lb, ub=ub, conditional=conditional, **rest)

    def stats(self, moments: str = "mv") -> Any:
        """The moments that `moments` names, see `stats` of the distribution."""
        return self.dist.stats(*self.args, moments=moments, **self.kwds)

    def __getattr__(self, name: str) -> Any:
        if name in OF_A_NUMBER and hasattr(self.dist, name):
            method = getattr(self.dist, name)
            return functools.wraps(method)(lambda x: method(x, *self.args, **self.kwds))
        if name in OF_NOTHING and hasattr(self.dist, name):
            return functools.partial(getattr(self.dist, name), *self.args, **self.kwds)
        raise AttributeError(f"{self.dist!r} with its parameters has no {name!r}")


OF_A_NUMBER = ("pdf", "logpdf", "pmf", "logpmf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf", "interval", "moment")
OF_NOTHING = ("mean", "var", "std", "median", "entropy", "support", "cov", "mode")
