"""The linear equation of a derivative of a boundary value problem, with its Jacobian as a sparse matrix.

Computes the positions of the Jacobian's elements, and a colouring: one product with a vector gives all columns of a colour.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import gradspec

from ...func import jvp, pure_callback, stop_gradient, vmap
from ...support.dispatch import ops

__all__ = ["by_collocation"]


def _places(n: int, m: int, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows and columns of the elements, and a colour for each column: no two columns of a colour share a row.

    The unknowns are y, (n, m), and k parameters; the rows are the equations of the m - 1 intervals, (n, m - 1), and n + k
    boundary conditions.
    """
    of_y, inner = np.arange(n * m).reshape(n, m), np.arange(n * (m - 1)).reshape(n, 1, m - 1)
    last = np.arange(n * (m - 1), n * m + k)
    shape = (n, n, m - 1)
    pairs = [(np.broadcast_to(inner, shape), np.broadcast_to(of_y[:, side], shape)) for side in (slice(None, -1), slice(1, None))]
    ends, unknown = np.concatenate([of_y[:, 0], of_y[:, -1]]), np.arange(n * m, n * m + k)
    pairs += [np.meshgrid(last, ends, indexing="ij"), np.meshgrid(np.arange(n * m + k), unknown, indexing="ij")]
    rows, columns = (np.concatenate([np.ravel(pair[i]) for pair in pairs]) for i in (0, 1))
    node = np.arange(m) % 2
    node[-1] = 2  # shares the rows of the boundary conditions with the first node
    colours = np.concatenate([np.ravel(3 * np.arange(n)[:, None] + node), 3 * n + np.arange(k)])
    return rows, columns, colours


def by_collocation(residual: Any, xs: list, b: list, transposed: bool, form: Any) -> list:
    """J x = b or J^T x = b, for `attach`; the unknowns are the mesh, which is constant, y and the parameters.

    Raises
    ------
    RuntimeError
        If the equation reads y at other points of the mesh than its own.
    """
    mesh, y, *unknown = xs
    (n, m), k = y.shape, sum(p.size for p in unknown)
    rows, columns, colours = _places(n, m, k)

    def of_unknowns(vector: Any) -> Any:
        leaves = [ops.reshape(vector[: n * m], (n, m)), *([vector[n * m :]] if unknown else [])]
        (found,) = residual(mesh, *leaves)
        return found[m:]

    at = ops.concat([ops.reshape(leaf, (-1,)) for leaf in xs[1:]])
    seeds = (colours == np.arange(3 * n + k)[:, None]).astype(at.dtype)
    probe = np.cos(np.arange(1.0, at.size + 1)).astype(at.dtype)  # a direction without zero components
    products = vmap(lambda seed: jvp(of_unknowns, (at,), (seed,))[1])(np.concatenate([seeds, probe[None]]))
    values = products[colours[columns], rows]
    factor = pure_callback(lambda *arrays: _regular(*(array.numpy() for array in arrays), probe, rows, columns), ops.zeros(()),
                           stop_gradient(values), stop_gradient(products[-1]))  # fmt: skip
    safe = ops.where(ops.isnan(factor), np.cos(np.arange(rows.size)), values)  # replaces a singular matrix
    matrix = gradspec.sparse.coo(safe, (columns, rows) if transposed else (rows, columns), (at.size, at.size))
    right = ops.concat([ops.reshape(leaf, (-1,)) for leaf in b])
    found = ops.concat([right[:m], gradspec.sparse.spsolve(matrix, right[m:]) * factor])
    if transposed:
        return [found]
    leaves = [found[:m], ops.reshape(found[m : m + n * m], (n, m))]
    return [*leaves, *([found[m + n * m :]] if unknown else [])]


def _regular(values: np.ndarray, moved: np.ndarray, probe: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """1, or NaN if the matrix, with rows and columns scaled to a largest element of 1, is singular to working precision."""
    from scipy.sparse import csc_array
    from scipy.sparse.linalg import LinearOperator, onenormest, splu

    size, scaled = probe.size, np.abs(values)
    if not np.isfinite(values).all():
        return np.array(np.nan)
    A = csc_array((values, (rows, columns)), shape=(size, size))
    if (np.abs(A @ probe - moved) > 1e-6 * (abs(A) @ np.abs(probe) + np.abs(moved))).any():
        raise RuntimeError("solve_bvp: fun reads y at other places of the mesh than its own; fun(x, y)[:, i] must depend on "
                           "x[i] and y[:, i] alone")  # fmt: skip
    with np.errstate(all="ignore"):
        for places in (rows, columns):
            largest = np.zeros(size)
            np.maximum.at(largest, places, scaled)
            values, scaled = values / largest[places], scaled / largest[places]
        try:
            lu = splu(csc_array((values, (rows, columns)), shape=(size, size)))
        except RuntimeError:
            return np.array(np.nan)
    inverse = LinearOperator((size, size), matvec=lu.solve, rmatvec=lambda b: lu.solve(b, "T"), dtype=float)
    return np.array(1.0 if 4 * size * np.finfo(values.dtype).eps * onenormest(inverse) < 1 else np.nan)
