"""Cosine and sine transforms under SciPy's names: dct, dst, their inverses, along one axis or several.

Computes their adjoints: each is again such a transform, between products with weights that differ from 1 only at the ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...autograd import Function
from ...core.conversion import asarray
from ...support.dispatch import ops
from ..values import computed

__all__ = ["dct", "dctn", "dst", "dstn", "idct", "idctn", "idst", "idstn"]
INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}


class _Transform(Function):
    """The transform that SciPy has without a norm, along the last axis."""

    pure = True

    @staticmethod
    def forward(ctx, name, kind, x):
        import scipy.fft

        ctx.name, ctx.kind = name, kind
        return computed(lambda x: getattr(scipy.fft, name)(x, kind, axis=-1), x)

    @staticmethod
    def backward(ctx, grad):
        return None, None, _adjoint(ctx.name, ctx.kind, grad)

    @staticmethod
    def jvp(ctx, _, __, tangent):
        return _Transform.apply(ctx.name, ctx.kind, tangent)

    @staticmethod
    def vmap(info, in_dims, name, kind, x):
        return _Transform.apply(name, kind, ops.moveaxis(x, in_dims[2], 0)), 0


def _ends(x: Any, first: float, last: float) -> Any:
    """x with its first and last elements times these numbers."""
    factors = np.ones(x.shape[-1], x.dtype)
    factors[0] *= first
    factors[-1] *= last
    return x * asarray(factors)


def _adjoint(name: str, kind: int, y: Any) -> Any:
    at = (1.0, 0.0) if name == "dct" else (0.0, 1.0)  # the end that the types 2 and 3 count once
    if kind == 1 and name == "dct":
        return _ends(_Transform.apply(name, 1, _ends(y / 2, 2.0, 2.0)), 0.5, 0.5) * 2.0
    if kind in (1, 4):
        return _Transform.apply(name, kind, y)
    scale = 2.0 if kind == 2 else 0.5
    before, after = (scale, 1.0) if kind == 2 else (1.0, scale)
    x = _ends(y, *(before if end else 1.0 for end in at))
    return _ends(_Transform.apply(name, INVERSE[kind], x), *(after if end else 1.0 for end in at))


def _along(name: str, x: Any, kind: int, n: int | None, axis: int, norm: str | None, orthogonalize: bool | None,
           inverse: bool) -> Any:  # fmt: skip
    """One of the transforms, or the inverse of one, along an axis."""
    title = ("i" if inverse else "") + name
    if kind not in INVERSE:
        raise ValueError(f"{title}: type must be 1, 2, 3 or 4, got {kind!r}")
    if norm not in (None, "backward", "ortho", "forward"):
        raise ValueError(f"{title}: norm must be 'backward', 'ortho' or 'forward', got {norm!r}")
    if orthogonalize is None:
        orthogonalize = norm == "ortho"
    kind = INVERSE[kind] if inverse else kind
    x = ops.moveaxis(x, axis, -1)
    length = x.shape[-1]
    if n is not None and n != length:
        wanted = [(0, 0)] * (x.ndim - 1) + [(0, max(n - length, 0))]
        x, length = ops.pad(x[..., :n], wanted), n
    if length < 1 or length < 2 and kind == 1 and name == "dct":
        raise ValueError(f"{title}: invalid number of data points ({length}) specified")
    root = float(np.sqrt(2))
    first, last = {"dct": {1: (1, 1), 2: (1, 0), 3: (1, 0)}, "dst": {2: (0, 1), 3: (0, 1)}}[name].get(kind, (0, 0))
    if orthogonalize and kind in (1, 3):
        x = _ends(x, root if first else 1.0, root if last else 1.0)
    y = _Transform.apply(name, kind, x)
    if orthogonalize and kind in (1, 2):
        y = _ends(y, 1 / root if first else 1.0, 1 / root if last else 1.0)
    count = 2 * (length + {"dct": -1, "dst": 1}[name] * (kind == 1))
    power = 0.5 if norm == "ortho" else float((norm == "forward") != inverse)
    return ops.moveaxis(y / count**power if power else y, -1, axis)


def _operand(x: Any) -> Any:
    x = asarray(x)
    return x if x.dtype.kind in "fc" else ops.astype(x, np.float64)


def _one(name: str, inverse: bool, doc: str) -> Any:
    def transform(x: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None, overwrite_x: bool = False,
                  workers: int | None = None, orthogonalize: bool | None = None) -> Any:  # fmt: skip
        return _along(name, _operand(x), type, n, axis, norm, orthogonalize, inverse)

    transform.__name__ = transform.__qualname__ = ("i" if inverse else "") + name
    transform.__doc__ = f"""{doc} along one axis.

Parameters
----------
x : array_like
type : {{1, 2, 3, 4}}
n : int, optional
    The length; x is cut or filled with zeros to it.
axis : int
norm : {{'backward', 'ortho', 'forward'}}, optional
overwrite_x, workers
    As SciPy has them; nothing is overwritten.
orthogonalize : bool, optional
    As SciPy has it: True for the norm 'ortho'.

Returns
-------
Tensor
"""
    return transform


def _several(name: str, inverse: bool, doc: str) -> Any:
    def transform(x: Any, type: int = 2, s: int | Sequence[int] | None = None, axes: int | Sequence[int] | None = None,
                  norm: str | None = None, overwrite_x: bool = False, workers: int | None = None, *,
                  orthogonalize: bool | None = None) -> Any:  # fmt: skip
        x = _operand(x)
        lengths = [s] if isinstance(s, int) else s
        if axes is None:
            axes = range(x.ndim) if lengths is None else range(x.ndim - len(lengths), x.ndim)
        axes = [axes] if isinstance(axes, int) else list(axes)
        if lengths is not None and len(lengths) != len(axes):
            raise ValueError(f"{transform.__name__}: s and axes must be of one length, got {len(lengths)} and {len(axes)}")
        for axis, n in zip(axes, lengths or [None] * len(axes)):
            x = _along(name, x, type, n, axis, norm, orthogonalize, inverse)
        return x

    transform.__name__ = transform.__qualname__ = ("i" if inverse else "") + name + "n"
    transform.__doc__ = f"""{doc} along several axes.

Parameters
----------
x : array_like
type : {{1, 2, 3, 4}}
s : int or sequence of int, optional
    The lengths; x is cut or filled with zeros to them.
axes : int or sequence of int, optional
    As many as `s`; by default the last ones, or all without `s`.
norm : {{'backward', 'ortho', 'forward'}}, optional
overwrite_x, workers
    As SciPy has them; nothing is overwritten.
orthogonalize : bool, optional
    As SciPy has it: True for the norm 'ortho'.

Returns
-------
Tensor
"""
    return transform


_COSINE, _SINE = "cosine transform", "sine transform"
dct, idct = _one("dct", False, f"Discrete {_COSINE}"), _one("dct", True, f"Inverse discrete {_COSINE}")
dst, idst = _one("dst", False, f"Discrete {_SINE}"), _one("dst", True, f"Inverse discrete {_SINE}")
dctn, idctn = _several("dct", False, f"Discrete {_COSINE}"), _several("dct", True, f"Inverse discrete {_COSINE}")
dstn, idstn = _several("dst", False, f"Discrete {_SINE}"), _several("dst", True, f"Inverse discrete {_SINE}")
