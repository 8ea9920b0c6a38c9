"""Losses as layers: each calls the function with its name.

Interprets PyTorch's older arguments `size_average` and `reduce`.
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
    """A loss.

    Parameters
    ----------
    size_average : bool
        Older form of `reduction`, with a warning: False means 'sum', True means 'mean'.
    reduce : bool
        Older form of `reduction`, with a warning: False means 'none', True leaves the choice to `size_average`.
    """

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
    """Options for computing the cross entropy of a linear layer in groups of examples, with the logits of one group at a time.

    Parameters
    ----------
    allow_retain_graph : bool
        Without effect: a graph may always be kept, and has derivatives of any order.
    batch_chunk_size : int, optional
        Number of examples in a group; all examples if `chunking_method` is None, too.
    chunking_method : str, optional
        "aspect_ratio:N": the logits of a group take 1/N of the memory of all inputs, with the group size rounded up to a power of
        2.  "auto" means N = 2 if `batch_chunk_size` is None.
    acc_policy : str
        "accurate", "balanced", "compact" or "auto": PyTorch's choice of intermediate results in `acc_dtype`; here all of them.
    acc_dtype : dtype, optional
        The dtype of logits and losses; None means the dtype of the inputs.

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
        """The number of examples in a group."""
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
    """The cross entropy of the logits of a linear layer.

    Parameters
    ----------
    in_features, num_classes : int
    out_features : tuple of int
        The lengths of the axes of a target after the batch; the layer chooses a class for each position along these axes.
    bias : bool
    device : str, optional
    dtype : dtype, optional
    reduction, weight, ignore_index, label_smoothing, options
        As for `nn.linear_cross_entropy`.

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
    """The absolute differences."""


class MSELoss(_Older, call=F.mse_loss):
    """The squared differences."""


class SmoothL1Loss(_Older, call=F.smooth_l1_loss):
    """Squared differences if small, absolute differences above `beta`."""

    beta: float = 1.0


class HuberLoss(_Loss, call=F.huber_loss):
    """Squared differences if small, multiples of absolute differences above `delta`."""

    reduction: str = "mean"
    delta: float = 1.0


class SoftMarginLoss(_Older, call=F.soft_margin_loss):
    """log(1 + exp(-target * x))."""


class MultiLabelMarginLoss(_Older, call=F.multilabel_margin_loss):
    """Hinge loss with margin 1 for each pair of a target class and another class."""


class KLDivLoss(_Older, call=F.kl_div):
    """target * (log(target) - x): x contains logarithms of probabilities."""

    log_target: bool = False


class BCELoss(_Weighed, call=F.binary_cross_entropy):
    """Binary cross entropy of probabilities."""


class BCEWithLogitsLoss(_Weighed, call=F.binary_cross_entropy_with_logits, held="weight pos_weight"):
    """Binary cross entropy of logits; `pos_weight` is the factor of positive targets."""

    pos_weight: gs.Tensor | None = None


class MultiLabelSoftMarginLoss(_Weighed, call=F.multilabel_soft_margin_loss):
    """The mean over classes of the binary cross entropy of logits."""


class _OfClasses(_Loss, held="weight"):
    weight: gs.Tensor | None = None
    size_average: bool | None = None
    ignore_index: int = -100
    reduce: bool | None = None
    reduction: str = "mean"


class NLLLoss(_OfClasses, call=F.nll_loss):
    """The negative log-probability of the target: x contains log-probabilities, with classes along axis 1."""


class CrossEntropyLoss(_OfClasses, call=F.cross_entropy):
    """Cross entropy of logits, with classes along axis 1, and class indices or probabilities as target."""

    label_smoothing: float = 0.0


class MultiMarginLoss(_Loss, call=F.multi_margin_loss, held="weight"):
    """Hinge loss with `margin`, to the power p, of the target class against each other class."""

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
    """1 minus the cosine of two vectors if the target is 1; if it is -1, the cosine minus `margin`, clamped at 0."""


class MarginRankingLoss(_Margin, call=F.margin_ranking_loss):
    """Hinge loss with `margin` for the first number to exceed the second, or the reverse if the target is -1."""


class HingeEmbeddingLoss(_Margin, call=F.hinge_embedding_loss):
    """x if the target is 1; if it is -1, `margin` minus x, clamped at 0."""

    margin: float = 1.0


class TripletMarginLoss(_Loss, call=F.triplet_margin_loss):
    """The distance to the positive minus the distance to the negative, plus `margin`, clamped at 0."""

    margin: float = 1.0
    p: float = 2.0
    eps: float = 1e-6
    swap: bool = False
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"


class TripletMarginWithDistanceLoss(_Loss, call=F.triplet_margin_with_distance_loss):
    """TripletMarginLoss with a user's distance."""

    distance_function: Callable[[gs.Tensor, gs.Tensor], gs.Tensor] | None = None
    margin: float = 1.0
    swap: bool = False
    reduction: str = "mean"

    def _prepare(self) -> None:
        if self.distance_function is None:
            self.distance_function = PairwiseDistance()


class PoissonNLLLoss(_Loss, call=F.poisson_nll_loss):
    """The negative log-probability of a count; x is its mean, or the logarithm of the mean."""

    log_input: bool = True
    full: bool = False
    size_average: bool | None = None
    eps: float = 1e-8
    reduce: bool | None = None
    reduction: str = "mean"


class GaussianNLLLoss(_Loss, call=F.gaussian_nll_loss):
    """The negative logarithm of a normal density; called with the mean, the target and the variance."""

    full: bool = False
    eps: float = 1e-6
    reduction: str = "mean"


class CTCLoss(_Loss, call=F.ctc_loss):
    """The negative log-probability of a sequence, over all of its alignments."""

    blank: int = 0
    reduction: str = "mean"
    zero_infinity: bool = False


class NLLLoss2d(NLLLoss, call=F.nll_loss):
    """NLLLoss, under its former name for images."""
