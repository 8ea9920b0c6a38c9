"""Embeddings: rows of a trained matrix, and bags of such rows."""

from __future__ import annotations

from typing import Any

import gradspec as gs

from .. import functional as F
from .. import init
from ..parameter import Parameter, parameter
from .module import Module


class _Rows(Module):
    weight: Parameter

    def _build(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None, max_norm: float | None, norm_type: float,
        scale_grad_by_freq: bool, sparse: bool, weight: gs.Tensor | None, device: Any, dtype: Any,
    ) -> None:  # fmt: skip
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise AssertionError("Padding_idx must be within num_embeddings")
            padding_idx %= num_embeddings
        self.padding_idx, self.max_norm, self.norm_type = padding_idx, max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        if weight is None:
            self.weight = parameter((num_embeddings, embedding_dim), device, dtype)
            self.reset_parameters()
        else:
            if tuple(weight.shape) != (num_embeddings, embedding_dim):
                raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
            self.weight = weight if isinstance(weight, Parameter) else Parameter(weight)

    def reset_parameters(self) -> None:
        """Reinitialise the rows; the padding row is 0."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with gs.no_grad():
                self.weight[self.padding_idx] = 0

    def _shown(self, *first: tuple[str, Any]) -> str:
        shown = f"{self.num_embeddings}, {self.embedding_dim}"
        for name, usual in (*first, ("max_norm", None), ("norm_type", 2), ("scale_grad_by_freq", False), ("sparse", False)):
            if getattr(self, name) != usual:
                shown += f", {name}={getattr(self, name)}"
        return shown


class Embedding(_Rows):
    """A trained row for each index.

    Parameters
    ----------
    num_embeddings, embedding_dim : int
        Number of rows, and their length.
    padding_idx : int, optional
        A row that is 0 and receives no gradient.
    max_norm : float, optional
        Limit of the norm: used rows with a larger norm are shortened, in place.
    norm_type : float
        The order of that norm.
    scale_grad_by_freq : bool
        Whether the gradient of a row is divided by the number of its uses.
    sparse : bool
        Whether the gradient of the weight is kept as the rows that were used, as in `gs.nn.embedding`.
    _weight : Tensor, shape (num_embeddings, embedding_dim), optional
        The rows; drawn from a normal distribution by default.
    _freeze : bool
        Whether the rows are not trained.
    device : str, optional
    dtype : dtype, optional
    """

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None, max_norm: float | None = None,
        norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False, _weight: gs.Tensor | None = None,
        _freeze: bool = False, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self._build(
            num_embeddings, embedding_dim, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse, _weight, device, dtype
        )
        self.weight.requires_grad_(not _freeze)

    def forward(self, indices: gs.Tensor) -> gs.Tensor:
        return F.embedding(
            indices, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse
        )

    def extra_repr(self) -> str:
        return self._shown(("padding_idx", None))

    @classmethod
    def from_pretrained(
        cls, embeddings: gs.Tensor, freeze: bool = True, padding_idx: int | None = None, max_norm: float | None = None,
        norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False,
    ) -> Embedding:  # fmt: skip
        """Create an embedding with given rows.

        Parameters
        ----------
        embeddings : Tensor
            2-d.
        freeze : bool
            Whether the rows are not trained.
        padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse
            As in the constructor.

        Returns
        -------
        Embedding
        """
        if embeddings.ndim != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        return cls(*embeddings.shape, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse, embeddings, freeze)


class EmbeddingBag(_Rows):
    """Sums, means or maxima of the rows in each bag.

    Parameters
    ----------
    num_embeddings, embedding_dim : int
        Number of rows, and their length.
    max_norm : float, optional
        Limit of the norm: used rows with a larger norm are shortened, in place.
    norm_type : float
        The order of that norm.
    scale_grad_by_freq : bool
        Whether the gradient of a row is divided by the number of its uses; not supported if `mode` is 'max'.
    mode : {'mean', 'sum', 'max'}
    sparse : bool
        Whether the gradient of the weight is kept as the rows that were used, as in `gs.nn.embedding`.
    _weight : Tensor, shape (num_embeddings, embedding_dim), optional
        The rows; drawn from a normal distribution by default.
    include_last_offset : bool
        Whether the last of the offsets is the number of indices.
    padding_idx : int, optional
        A row that does not count.
    device : str, optional
    dtype : dtype, optional
    """

    def __init__(
        self, num_embeddings: int, embedding_dim: int, max_norm: float | None = None, norm_type: float = 2.0,
        scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False, _weight: gs.Tensor | None = None,
        include_last_offset: bool = False, padding_idx: int | None = None, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self._build(
            num_embeddings, embedding_dim, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse, _weight, device, dtype
        )
        self.mode, self.include_last_offset = mode, include_last_offset

    def forward(
        self, indices: gs.Tensor, offsets: gs.Tensor | None = None, per_sample_weights: gs.Tensor | None = None
    ) -> gs.Tensor:
        return F.embedding_bag(
            indices, self.weight, offsets, self.mode, per_sample_weights, self.include_last_offset, self.padding_idx, self.sparse,
            max_norm=self.max_norm, norm_type=self.norm_type, scale_grad_by_freq=self.scale_grad_by_freq,
        )  # fmt: skip

    def extra_repr(self) -> str:
        return f"{self._shown()}, mode={self.mode!r}" + (
            f", padding_idx={self.padding_idx}" if self.padding_idx is not None else ""
        )

    @classmethod
    def from_pretrained(
        cls, embeddings: gs.Tensor, freeze: bool = True, max_norm: float | None = None, norm_type: float = 2.0,
        scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False, include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> EmbeddingBag:  # fmt: skip
        """Create bags with given rows.

        Parameters
        ----------
        embeddings : Tensor
            2-d.
        freeze : bool
            Whether the rows are not trained.
        max_norm, norm_type, scale_grad_by_freq, mode, sparse, include_last_offset, padding_idx
            As in the constructor.

        Returns
        -------
        EmbeddingBag
        """
        if embeddings.ndim != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        bag = cls(
            *embeddings.shape, max_norm, norm_type, scale_grad_by_freq, mode, sparse, embeddings, include_last_offset, padding_idx
        )
        bag.weight.requires_grad_(not freeze)
        return bag
