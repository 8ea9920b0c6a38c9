"""Matrices: NumPy's factorisations and solutions, as calls of functions_template.h, one matrix after the other.

NumPy raises for a singular matrix; here the result is NaN.  A function for this machine also notes it, and the caller raises.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import functions  # noqa: F401 - which registers np.tril
from .arrays import FUNCTIONS, Array, fresh, lift
from .loops import Unwritten, nested
from .spelling import suffix


class QR(NamedTuple):
    Q: Array
    R: Array


class SignAndLogarithm(NamedTuple):
    sign: Array
    logabsdet: Array


def each(name: str, text: str, given: list[Array], made: list[Array], axes: list[int]) -> None:
    """Call a function for each matrix; `{f}` is its name, `{0}`, ... are the addresses of the matrices in `given` and `made`.

    Parameters
    ----------
    axes : list of int
        The last axes of each array that are a matrix.
    """
    arrays, code = [*given, *made], given[0].code
    code.functions.add((name, given[0].dtype))
    code.factorises = True
    code.products = max(code.products, given[0].shape[-1] ** 3)
    batch = given[0].shape[:-2]
    if not all(one.size for one in made):
        return
    found = [one[(..., *(0,) * count)].access(batch) for one, count in zip(arrays, axes)]
    word = f"gs_{name}{suffix(given[0].dtype)}"

    def body(at: dict) -> list[str]:
        return [text.format(*(f"&{at[one]}" for one in found), f=word, failed=code.failed())]

    lines = nested(tuple(size for size in batch if size > 1), found, body)
    failure = [] if code.failure is None else [code.failure]
    code.block(lines, [*(one.buffer for one in arrays), *failure], [*(one.buffer for one in made), *failure])


def copied(a: Any, batch: tuple[int, ...] | None = None) -> Array:
    """A copy of matrices in C order, repeated for a batch."""
    if a.dtype.kind != "f":
        raise Unwritten(f"matrices of {a.dtype} have no C here")
    a = a if batch is None else a.moved(np.broadcast_to, (*batch, *a.shape[-2:]))
    return a.copy()


def cholesky(a: Array, *, upper: bool = False) -> Array:
    if upper:
        raise Unwritten("np.linalg.cholesky with upper has no C here")
    a, y = copied(a), fresh(a.code, a.shape, a.dtype)
    each("cholesky", f"{{failed}}{{f}}({{0}}, {{1}}, {a.shape[-1]});", [a], [y], [2, 2])
    return y


def solve(a: Any, b: Any) -> Array:
    code = a.code if type(a) is Array else b.code
    triangle = getattr(a, "triangle", None)
    a, b = lift(code, a), lift(code, b)
    vector = b.ndim == 1
    b = b[:, None] if vector else b
    dtype, batch = np.result_type(a.dtype, b.dtype), np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = copied(a.astype(dtype), batch), copied(b.astype(dtype), batch)
    size = f"{a.shape[-1]}, {b.shape[-1]}"
    if triangle is None:
        each("solve", f"{{failed}}{{f}}({{0}}, {{1}}, {size});", [a, b], [b], [2, 2, 2])
    else:
        each("substitute", f"{{f}}({{0}}, {{1}}, {size}, {int(triangle == 'tril')});", [a, b], [b], [2, 2, 2])
    return b[..., 0] if vector else b


def inverse(a: Array) -> Array:
    return solve(a, np.eye(a.shape[-1], dtype=a.dtype))


def determinant(a: Array) -> Array:
    a, y = copied(a), fresh(a.code, a.shape[:-2], a.dtype)
    each("det", f"*({{1}}) = {{f}}({{0}}, {a.shape[-1]});", [a], [y], [2, 0])
    return y


def sign_and_logarithm(a: Array) -> SignAndLogarithm:
    a, (sign, logarithm) = copied(a), (fresh(a.code, a.shape[:-2], a.dtype) for _ in range(2))
    each("slogdet", f"*({{1}}) = {{f}}({{0}}, {{2}}, {a.shape[-1]});", [a], [sign, logarithm], [2, 0, 0])
    return SignAndLogarithm(sign, logarithm)


def orthogonal(a: Array, mode: str = "reduced") -> QR:
    rows, columns = a.shape[-2:]
    if mode != "reduced" or rows < columns:
        raise Unwritten(f"np.linalg.qr of {rows} rows and {columns} columns with mode {mode} has no C here")
    a = copied(a)
    q, r = fresh(a.code, a.shape, a.dtype), fresh(a.code, (*a.shape[:-2], columns, columns), a.dtype)
    each("qr", f"{{f}}({{0}}, {{1}}, {{2}}, {rows}, {columns});", [a], [q, r], [2, 2, 2])
    return QR(q, r)


def triangle(name: str) -> Any:
    """np.tril or np.triu, whose result knows its triangle."""
    plain = FUNCTIONS[name]

    def function(x: Any, k: int = 0) -> Array:
        y = plain(x, k)
        if k == 0:
            y.triangle = name
        return y

    return function


FUNCTIONS.update({
    "cholesky": cholesky, "solve": solve, "inv": inverse, "det": determinant, "slogdet": sign_and_logarithm, "qr": orthogonal,
    "tril": triangle("tril"), "triu": triangle("triu"),
})  # fmt: skip
