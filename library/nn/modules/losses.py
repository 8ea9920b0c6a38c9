"""Losses as layers: each calls the function of its name.

Owns the table, and what PyTorch's older arguments `size_average` and `reduce` mean.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gradspec as gs

from .. import functional as F
from .linear import Linear
from .module import Module
from .operator import Operator
from .shapes import PairwiseDistance


class _Loss(Operator):
    def _prepare(self) -> None:
        average, reduce = getattr(self, "size_average", None), getattr(self, "reduce", None)
        if average is not None or reduce is not None:
            meant = "none" if reduce is False else "sum" if average is False else "mean"
            setattr(self, "reduction", meant)  # noqa: B010 (a field of the classes below)
            warnings.warn(
                f"size_average and reduce args will be deprecated, please use reduction='{meant}' instead.", stacklevel=3
            )


class _Older(_Loss):
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"


class _Weighed(_Loss, held="weight"):
    weight: gs.Tensor | None = None
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"


@dataclass(slots=True, frozen=True)
class LinearCrossEntropyOptions:
    """How the cross entropy of a linear layer goes from group to group of examples, with the logits of one group at a time.

    Parameters
    ----------
    allow_retain_graph : bool
        Nothing: a graph may be kept whatever it says, and has derivatives of any order.
    batch_chunk_size : int, optional
        Examples in a group; all of them where there is no `chunking_method` either.
    chunking_method : str, optional
        "aspect_ratio:N", a group whose logits take an Nth of the memory of all inputs, rounded up to a power of 2; "auto" is 2
        for N where there is no `batch_chunk_size`.
    acc_policy : str
        "accurate", "balanced", "compact" or "auto": which intermediate results PyTorch holds in `acc_dtype`; all of them here.
    acc_dtype : dtype, optional
        In which dtype logits and losses are computed; in that of the inputs when it is None.

    References
    ----------
    Wijmans et al. (2025), Cut your losses in large-vocabulary language models, for the memory.
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: Any = None

    def __post_init__(self) -> None:
        if self.acc_policy not in ("auto", "accurate", "balanced", "compact"):
            raise ValueError(f"invalid acc_policy: {self.acc_policy!r}")
        if self.chunking_method not in (None, "auto"):
            name, _, divisor = str(self.chunking_method).partition(":")
            if name != "aspect_ratio" or not (divisor or "1").isdigit() or int(divisor or 1) < 1:
                raise ValueError(f"invalid chunking_method: {self.chunking_method!r}")
        size = self.batch_chunk_size
        if size is not None and not (isinstance(size, int) and size > 0):
            raise ValueError(f"batch_chunk_size must be positive int or None, got {size!r}")

    def examples_at_once(self, examples: int, features: int, classes: int) -> int:
        """How many examples a group has."""
        given, method = self.batch_chunk_size, self.chunking_method
        if method is None or method == "auto" and given is not None:
            return max(1, min(given or examples, examples))
        divisor = 2 if method == "auto" else int(method.partition(":")[2] or 1)
        wanted = -(-examples // max(1, -(-classes // max(1, features))))
        size = max(1, min((1 << max(0, wanted - 1).bit_length()) // divisor, examples))
        if given is not None and given != size:
            raise ValueError(f"batch_chunk_size (={given}) and chunking_method ({method!r}) give different chunk sizes "
                             f"({given} vs {size}); pass only one.")  # fmt: skip
        return size


class LinearCrossEntropyLoss(Module):
    """The cross entropy of what a linear layer gives.

    Parameters
    ----------
    in_features, num_classes : int
    out_features : tuple of int
        The lengths of the axes of a target beside the batch, of each position of which the layer chooses a class.
    bias : bool
    device : str, optional
    dtype : dtype, optional
    reduction, weight, ignore_index, label_smoothing, options
        As of `nn.linear_cross_entropy`.

    Attributes
    ----------
    linear : Linear
    """

    weight: gs.Tensor | None

    def __init__(
        self, in_features: int, num_classes: int, *, out_features: tuple[int, ...] = (), bias: bool = False, device: Any = None,
        dtype: Any = None, reduction: str = "mean", weight: Any = None, ignore_index: int | None = None,
        label_smoothing: float = 0.0, options: LinearCrossEntropyOptions | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_classes, self.out_features, self.reduction = num_classes, out_features, reduction
        self.ignore_index, self.label_smoothing, self.options = ignore_index, label_smoothing, options
        self.linear = Linear(in_features, math.prod((num_classes, *out_features)), bias, device, dtype)
        self.register_buffer("weight", None if weight is None else gs.asarray(weight))

    def forward(self, x: gs.Tensor, target: gs.Tensor) -> gs.Tensor:
        shape = self.num_classes, *self.out_features
        bias = None if self.linear.bias is None else self.linear.bias.reshape(shape)
        return F.linear_cross_entropy(
            x, self.linear.weight.reshape((*shape, -1)), target, linear_bias=bias, weight=self.weight, reduction=self.reduction,
            ignore_index=self.ignore_index, label_smoothing=self.label_smoothing, options=self.options,
        )  # fmt: skip

    def extra_repr(self) -> str:
        return (f"in_features={self.linear.in_features}, num_classes={self.num_classes}, out_features={self.out_features}, "
                f"bias={self.linear.bias is not None}, reduction={self.reduction}, ignore_index={self.ignore_index}, "
                f"label_smoothing={self.label_smoothing}, options={self.options}")  # fmt: skip


class L1Loss(_Older, call=F.l1_loss):
    """The distances of the numbers."""


class MSELoss(_Older, call=F.mse_loss):
    """The squares of the differences."""


class SmoothL1Loss(_Older, call=F.smooth_l1_loss):
    """Squares of small differences, distances of those above `beta`."""

    beta: float = 1.0


class HuberLoss(_Loss, call=F.huber_loss):
    """Squares of small differences, multiples of those above `delta`."""

    reduction: str = "mean"
    delta: float = 1.0


class SoftMarginLoss(_Older, call=F.soft_margin_loss):
    """log(1 + exp(-target * x))."""


class MultiLabelMarginLoss(_Older, call=F.multilabel_margin_loss):
    """How far each class of the target is not above each other class by 1."""


class KLDivLoss(_Older, call=F.kl_div):
    """target * (log(target) - x): x holds logarithms of probabilities."""

    log_target: bool = False


class BCELoss(_Weighed, call=F.binary_cross_entropy):
    """Cross entropy of probabilities of yes."""


class BCEWithLogitsLoss(_Weighed, call=F.binary_cross_entropy_with_logits, held="weight pos_weight"):
    """Cross entropy of logits of yes; `pos_weight` is how much more a yes counts."""

    pos_weight: gs.Tensor | None = None


class MultiLabelSoftMarginLoss(_Weighed, call=F.multilabel_soft_margin_loss):
    """The mean over classes of the cross entropy of logits of yes."""


class NLLLoss(_Loss, call=F.nll_loss, held="weight"):
    """Minus the logarithm of the probability of the target: x holds logarithms, classes along axis 1."""

    weight: gs.Tensor | None = None
    size_average: bool | None = None
    ignore_index: int = -100
    reduce: bool | None = None
    reduction: str = "mean"


class CrossEntropyLoss(_Loss, call=F.cross_entropy, held="weight"):
    """Cross entropy of logits, classes along axis 1, with class numbers or probabilities as target."""

    weight: gs.Tensor | None = None
    size_average: bool | None = None
    ignore_index: int = -100
    reduce: bool | None = None
    reduction: str = "mean"
    label_smoothing: float = 0.0


class MultiMarginLoss(_Loss, call=F.multi_margin_loss, held="weight"):
    """How far the class of the target is not above each other class by `margin`, to the power p."""

    p: int = 1
    margin: float = 1.0
    weight: gs.Tensor | None = None
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"


class _Margin(_Loss):
    margin: float = 0.0
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"


class CosineEmbeddingLoss(_Margin, call=F.cosine_embedding_loss):
    """1 less the cosine of two vectors where the target is 1, what the cosine is above `margin` where it is -1."""


class MarginRankingLoss(_Margin, call=F.margin_ranking_loss):
    """How far the first number is not above the second by `margin`, or the second above the first where the target is -1."""


class HingeEmbeddingLoss(_Loss, call=F.hinge_embedding_loss):
    """x where the target is 1, how far x is below `margin` where it is -1."""

    margin: float = 1.0
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"


class TripletMarginLoss(_Loss, call=F.triplet_margin_loss):
    """How much farther the anchor is from the positive than from the negative, plus `margin`, where that is above 0."""

    margin: float = 1.0
    p: float = 2.0
    eps: float = 1e-6
    swap: bool = False
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"


class TripletMarginWithDistanceLoss(_Loss, call=F.triplet_margin_with_distance_loss):
    """TripletMarginLoss with a distance of your own."""

    distance_function: Callable[[gs.Tensor, gs.Tensor], gs.Tensor] | None = None
    margin: float = 1.0
    swap: bool = False
    reduction: str = "mean"

    def _prepare(self) -> None:
        if self.distance_function is None:
            self.distance_function = PairwiseDistance()


class PoissonNLLLoss(_Loss, call=F.poisson_nll_loss):
    """Minus the logarithm of the probability of a count whose mean, or its logarithm, is x."""

    log_input: bool = True
    full: bool = False
    size_average: bool | None = None
    eps: float = 1e-8
    reduce: bool | None = None
    reduction: str = "mean"


class GaussianNLLLoss(_Loss, call=F.gaussian_nll_loss):
    """Minus the logarithm of a normal density; calls with the mean, the target and the variance."""

    full: bool = False
    eps: float = 1e-6
    reduction: str = "mean"


class CTCLoss(_Loss, call=F.ctc_loss):
    """Minus the logarithm of the probability of a sequence, over all of its alignments."""

    blank: int = 0
    reduction: str = "mean"
    zero_infinity: bool = False


class NLLLoss2d(NLLLoss, call=F.nll_loss):
    """NLLLoss, under the name that it had for images."""
