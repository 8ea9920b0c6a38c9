"""Inverses of distribution functions in a parameter, and noncentral distributions, under the names of Cephes.

Defines their derivatives, by the implicit function theorem; the values are SciPy's.  If SciPy's value does not solve the equation,
because it is at an end of the parameter's range, the derivative is NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import gradspec

from ...func import jvp, stop_gradient
from ...generated.ops import abs, minimum, where
from ...special import betainc, gammainc, gammaincc, ndtri, stdtr
from ...support.dispatch import ops
from ..values import implicit, named, smooth
from .compositions import fdtr, kolmogorov


def _noncentral(family: str) -> Callable[..., Any]:
    def cdf(*arguments: Any) -> Any:
        noncentral = gradspec.scipy.stats.noncentral  # an import would be a circle

        return getattr(noncentral, family).cdf(*arguments)

    return cdf


_ncx2, _ncf, _nct = map(_noncentral, ("ncx2", "ncf", "nct"))


def _inverse(name: str, arguments: str, function: Callable[..., Any]) -> Any:
    """The inverse of `function` in its first argument; SciPy's arguments, the probability in capitals."""
    names = arguments.split()
    at = next(place for place, one in enumerate(names) if one.isupper())
    values = smooth(name)

    def value(target: Any, *others: Any) -> Any:
        return values(*others[:at], target, *others[at:-1])

    def condition(y: Any, *others: Any) -> Any:
        return function(y, *others[:-1])

    def slope(y: Any, *others: Any) -> Any:
        found, moved = jvp(lambda y: condition(y, *others), (y,), (ops.ones_like(y),))
        target = others[-1]
        near = stop_gradient(abs(found - target)) <= np.finfo(y.dtype).eps ** (1 / 3) * minimum(target, 1 - target)
        return where(near, moved, np.nan)

    solution = implicit(value, condition, slope)

    def of_tensors(*given: Any) -> Any:
        given = ops.broadcast_arrays(*given)
        target = given[at]
        return solution(target, *given[:at], *given[at + 1 :], stop_gradient(target))

    return named(name, arguments.lower(), f"Inverse of a distribution function, in the argument that is missing: its value is "
                 f"{names[at].lower()}.", of_tensors)  # fmt: skip


# Name -> the arguments, the probability in capitals; the distribution function of the unknown and the other arguments.
_TABLE: dict[str, tuple[str, Callable[..., Any]]] = {
    "bdtrik": ("Y n p", lambda k, n, p: betainc(n - k, k + 1, 1 - p)),
    "bdtrin": ("k Y p", lambda n, k, p: betainc(n - k, k + 1, 1 - p)),
    "btdtria": ("P b x", betainc),
    "btdtrib": ("a P x", lambda b, a, x: betainc(a, b, x)),
    "chdtriv": ("P x", lambda v, x: gammainc(v / 2, x / 2)),
    "chndtridf": ("x P nc", lambda df, x, nc: _ncx2(x, df, nc)),
    "chndtrinc": ("x df P", lambda nc, x, df: _ncx2(x, df, nc)),
    "chndtrix": ("P df nc", _ncx2),
    "fdtridfd": ("dfn P x", lambda dfd, dfn, x: fdtr(dfn, dfd, x)),
    "gdtria": ("P b x", lambda a, b, x: gammainc(b, a * x)),
    "gdtrib": ("a P x", lambda b, a, x: gammainc(b, a * x)),
    "kolmogi": ("P", kolmogorov),
    "nbdtrik": ("Y n p", lambda k, n, p: betainc(n, k + 1, p)),
    "nbdtrin": ("k Y p", lambda n, k, p: betainc(n, k + 1, p)),
    "ncfdtri": ("dfn dfd nc P", lambda f, dfn, dfd, nc: _ncf(f, dfn, dfd, nc)),
    "ncfdtridfd": ("dfn P nc f", lambda dfd, dfn, nc, f: _ncf(f, dfn, dfd, nc)),
    "ncfdtridfn": ("P dfd nc f", lambda dfn, dfd, nc, f: _ncf(f, dfn, dfd, nc)),
    "ncfdtrinc": ("dfn dfd P f", lambda nc, dfn, dfd, f: _ncf(f, dfn, dfd, nc)),
    "nctdtridf": ("P nc t", lambda df, nc, t: _nct(t, df, nc)),
    "nctdtrinc": ("df P t", lambda nc, df, t: _nct(t, df, nc)),
    "nctdtrit": ("df nc P", lambda t, df, nc: _nct(t, df, nc)),
    "pdtrik": ("P m", lambda k, m: gammaincc(k + 1, m)),
    "stdtridf": ("P t", stdtr),
}
globals().update({name: _inverse(name, *row) for name, row in _TABLE.items()})

# By their formulas.
_FORMULAS = {
    "nrdtrimn": ("p std x", "Mean of a normal distribution with the probability p below x.", lambda p, std, x: x - std * ndtri(p)),
    "nrdtrisd": ("mn p x", "Deviation of a normal distribution with the probability p below x.", lambda mn, p, x: (x - mn) / ndtri(p)),
    "chndtr": ("x df nc", "Noncentral chi-squared distribution function.", _ncx2),
    "ncfdtr": ("dfn dfd nc f", "Noncentral F distribution function.", lambda dfn, dfd, nc, f: _ncf(f, dfn, dfd, nc)),
    "nctdtr": ("df nc t", "Noncentral t distribution function.", lambda df, nc, t: _nct(t, df, nc)),
}
globals().update({name: named(name, *row) for name, row in _FORMULAS.items()})
__all__ = sorted([*_TABLE, *_FORMULAS])
