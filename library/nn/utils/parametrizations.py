"""Parametrisations of weights: weight norm, spectral norm, orthogonal matrices.

Defines the formulas, with their sources.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import gradspec as gs

from ...support.lazy_import import answer
from ..modules import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d, Module
from . import parametrize

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]
answer(__name__)


def norm_except(v: gs.Tensor, dim: int | None) -> gs.Tensor:
    """Norms over all axes but one, with the axes kept; a single norm if `dim` is None or -1."""
    if dim is None or dim == -1:
        return gs.sqrt((v * v).sum())
    axes = [axis for axis in range(v.ndim) if axis != dim % v.ndim]
    return gs.sqrt((v * v).sum(axis=axes, keepdims=True))


class _WeightNorm(Module):
    """w = g v / |v| (Salimans and Kingma, 2016)."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, weight_g: gs.Tensor, weight_v: gs.Tensor) -> gs.Tensor:
        return weight_v * (weight_g / norm_except(weight_v, self.dim))

    def right_inverse(self, weight: gs.Tensor) -> tuple[gs.Tensor, gs.Tensor]:
        return norm_except(weight, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Express a weight as a length times a direction, `original0` and `original1`.

    Parameters
    ----------
    module : Module
    name : str
    dim : int or None
        The axis of separate lengths; None for a single length.

    Returns
    -------
    Module
        This module.
    """
    return parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)


def rows_first(weight: gs.Tensor, dim: int) -> gs.Tensor:
    """A weight as a matrix, with the axis `dim` as its rows."""
    return gs.moveaxis(weight, dim, 0).flatten(1) if dim else weight.flatten(1)


class _SpectralNorm(Module):
    """W / sigma(W), with the largest singular value from power iteration (Miyato et al., 2018)."""

    _u: gs.Tensor
    _v: gs.Tensor

    def __init__(self, weight: gs.Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        if not -weight.ndim <= dim < weight.ndim:
            raise IndexError(f"Dimension out of range (expected to be in range of [-{weight.ndim}, {weight.ndim - 1}] but got "
                             f"{dim})")  # fmt: skip
        if n_power_iterations <= 0:
            raise ValueError(f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}")
        self.dim, self.eps, self.n_power_iterations = dim % weight.ndim, eps, n_power_iterations
        if weight.ndim > 1:
            with gs.no_grad():
                matrix = rows_first(weight, self.dim)
                for name, size in zip(("_u", "_v"), matrix.shape):
                    self.register_buffer(name, gs.nn.normalize(gs.randn(size, dtype=weight.dtype), axis=0, eps=eps))
                self._iterate(matrix, 15)

    def _iterate(self, matrix: gs.Tensor, steps: int) -> None:
        with gs.no_grad():
            for _ in range(steps):
                self._u.copy_(gs.nn.normalize(matrix @ self._v, axis=0, eps=self.eps))
                self._v.copy_(gs.nn.normalize(matrix.mT.conj() @ self._u, axis=0, eps=self.eps))

    def forward(self, weight: gs.Tensor) -> gs.Tensor:
        if weight.ndim == 1:
            return gs.nn.normalize(weight, axis=0, eps=self.eps)
        matrix = rows_first(weight, self.dim)
        if self.training:
            self._iterate(matrix.detach(), self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()  # the next call overwrites the buffers
        return weight / gs.vdot(u, matrix @ v)

    def right_inverse(self, value: gs.Tensor) -> gs.Tensor:
        return value


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """Divide a weight by its largest singular value.

    Parameters
    ----------
    module : Module
    name : str
    n_power_iterations : int
        Power iterations for each access to the weight in training mode.
    eps : float
    dim : int, optional
        The axis of the rows of the matrix; 1 for transposed convolutions, 0 by default.

    Returns
    -------
    Module
        This module.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, gs.Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if dim is None:
        dim = int(isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)))
    return parametrize.register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))


MAPS = ("matrix_exp", "cayley", "householder")


class _Orthogonal(Module):
    """A map from all matrices to matrices with orthonormal rows or columns (Lezcano-Casado, 2019)."""

    base: gs.Tensor

    def __init__(self, weight: gs.Tensor, orthogonal_map: str, use_trivialization: bool) -> None:
        super().__init__()
        if weight.dtype.kind == "c" and orthogonal_map == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape, self.orthogonal_map = weight.shape, orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: gs.Tensor) -> gs.Tensor:
        wide = X.shape[-2] < X.shape[-1]
        X = X.mT if wide else X
        n, k = X.shape[-2:]
        if self.orthogonal_map == "householder":
            A = gs.tril(X, -1)
            tau = 2.0 / (1.0 + (A * A).sum(axis=-2))
            signs = gs.trunc(gs.diagonal(X, 0, -2, -1).detach())
            Q = gs.linalg.householder_product(A, tau) * signs[..., None, :]
        else:
            L = gs.tril(X)
            if n != k:
                L = gs.concatenate([L, gs.zeros((*X.shape[:-2], n, n - k), dtype=X.dtype)], axis=-1)
            A = L - L.mT.conj()  # skew-Hermitian: its exponential and its Cayley transform are unitary
            if self.orthogonal_map == "matrix_exp":
                Q = gs.linalg.matrix_exp(A)
            else:
                one = gs.eye(n, dtype=A.dtype)
                Q = gs.linalg.solve(one - A / 2, one + A / 2)
            Q = Q[..., :k]
        if getattr(self, "base", None) is not None:
            Q = self.base @ Q
        return Q.mT if wide else Q

    def right_inverse(self, Q: gs.Tensor) -> gs.Tensor:
        if Q.shape != self.shape:
            raise ValueError(f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {Q.shape}.")
        wide = Q.shape[-2] < Q.shape[-1]
        columns = (Q.mT if wide else Q).detach()
        n, k = columns.shape[-2:]
        if "base" not in self._buffers:
            if self.orthogonal_map != "householder":
                raise NotImplementedError("It is not possible to assign to the matrix exponential or the Cayley parametrizations "
                                          "when use_trivialization=False.")  # fmt: skip
            h = np.empty(columns.shape, columns.dtype)
            for place in np.ndindex(columns.shape[:-2]):
                h[place] = np.linalg.qr(columns.numpy()[place], mode="raw")[0].T
            A = gs.asarray(np.tril(h, -1))
            signs = np.where(np.diagonal(h, 0, -2, -1) < 0, -1.0, 1.0).astype(h.dtype)
            A = A + gs.asarray(signs[..., None, :] * np.eye(n, k, dtype=h.dtype))
            return A.mT if wide else A
        if n != k:
            columns = gs.concatenate([columns, gs.randn(*columns.shape[:-2], n, n - k, dtype=columns.dtype)], axis=-1)
        if n != k or not is_orthogonal(columns):
            columns = nearest(columns)
        self.base = columns
        return -gs.eye(*Q.shape[-2:], dtype=Q.dtype) + gs.zeros(Q.shape, dtype=Q.dtype)  # its image is the identity


def is_orthogonal(Q: gs.Tensor) -> bool:
    """Whether the columns are orthonormal, up to ten roundings of each."""
    n = Q.shape[-2]
    found = np.swapaxes(Q.numpy().conj(), -1, -2) @ Q.numpy()
    return bool(np.allclose(found, np.eye(Q.shape[-1]), atol=10 * n * np.finfo(Q.dtype).eps))


def nearest(A: gs.Tensor) -> gs.Tensor:
    """The orthogonal factor of A whose triangular factor has a positive diagonal."""
    Q, R = np.linalg.qr(A.numpy())
    signs = np.diagonal(R, 0, -2, -1)
    return gs.asarray(Q * np.where(signs == 0, 1, signs / np.where(signs == 0, 1, np.abs(signs)))[..., None, :], dtype=A.dtype)


def orthogonal(
    module: Module, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Module:
    """Constrain a weight to have orthonormal columns, or rows if it is wider than high.

    Parameters
    ----------
    module : Module
    name : str
        Of a matrix, or a batch of matrices.
    orthogonal_map : {"matrix_exp", "cayley", "householder"}, optional
        By default "matrix_exp" for square and complex matrices, else "householder".
    use_trivialization : bool
        Whether the map is relative to a fixed orthogonal matrix, `base`, so that any value can be assigned.

    Returns
    -------
    Module
        This module.
    """
    weight: Any = getattr(module, name, None)
    if not isinstance(weight, gs.Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        square = weight.shape[-2] == weight.shape[-1]
        orthogonal_map = "matrix_exp" if square or weight.dtype.kind == "c" else "householder"
    if orthogonal_map not in MAPS:
        raise ValueError(f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}')
    made = _Orthogonal(weight, orthogonal_map, use_trivialization)
    return parametrize.register_parametrization(module, name, made, unsafe=True)
