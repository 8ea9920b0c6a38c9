"""AdaptiveLogSoftmaxWithLoss: a softmax over many classes that is cheap for the frequent ones (Grave and others, 2017)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

import gradspec as gs

from .containers import ModuleList, Sequential
from .linear import Linear
from .module import Module


class ASMoutput(NamedTuple):
    """The result of AdaptiveLogSoftmaxWithLoss: the log-probability of each target, and minus their mean."""

    output: gs.Tensor
    loss: gs.Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log-softmax over classes in order of decreasing frequency: rare classes are in clusters, with smaller layers.

    Parameters
    ----------
    in_features : int
    n_classes : int
    cutoffs : sequence of int
        The first class of each cluster, in ascending order; classes below the first cutoff are in the head.
    div_value : float
        Ratio of the layer sizes of successive clusters.
    head_bias : bool
        Whether the head has a bias.
    device : str, optional
    dtype : dtype, optional
        The dtype of the parameters.
    """

    def __init__(
        self, in_features: int, n_classes: int, cutoffs: Sequence[int], div_value: float = 4.0, head_bias: bool = False,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if cutoffs != sorted(set(cutoffs)) or cutoffs[0] <= 0 or cutoffs[-1] > n_classes - 1 or any(int(c) != c for c in cutoffs):
            raise ValueError("cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where "
                             "each value is between 1 and n_classes-1")  # fmt: skip
        self.in_features, self.n_classes, self.cutoffs = in_features, n_classes, [*cutoffs, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size, self.n_clusters = cutoffs[0], len(cutoffs)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, device=device, dtype=dtype)
        self.tail: Any = ModuleList()
        for i, (low, high) in enumerate(zip(self.cutoffs, self.cutoffs[1:])):
            size = int(in_features // div_value ** (i + 1))
            first = Linear(in_features, size, bias=False, device=device, dtype=dtype)
            self.tail.append(Sequential(first, Linear(size, high - low, bias=False, device=device, dtype=dtype)))

    def reset_parameters(self) -> None:
        """Reinitialise all layers."""
        self.head.reset_parameters()
        for layers in self.tail:
            for layer in layers:
                layer.reset_parameters()

    def forward(self, input_: gs.Tensor, target_: gs.Tensor) -> ASMoutput:
        target = np.asarray(target_)
        if target.ndim not in (0, 1):
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if input_.ndim != target.ndim + 1:
            raise RuntimeError(f"{target.ndim}D target tensor expects {target.ndim + 1}D input tensors, but found inputs with "
                               f"sizes {tuple(input_.shape)}.")  # fmt: skip
        if target.ndim and len(input_) != len(target):
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        if target.size and (target.min() < 0 or target.max() >= self.n_classes):
            raise RuntimeError(f"Target values should be in [0, {self.n_classes - 1}], but values in range [{target.min()}, "
                               f"{target.max()}] were found. ")  # fmt: skip
        x, wanted = (input_, target) if target.ndim else (input_[None], target[None])
        head = gs.nn.log_softmax(self.head(x), axis=1)
        cluster = np.searchsorted(self.cutoffs[:-1], wanted, "right")  # 0 is the head
        places, parts = [], []
        for number in np.unique(cluster):
            rows = np.flatnonzero(cluster == number)
            if number == 0:
                found = head[rows, wanted[rows]]
            else:
                within = gs.nn.log_softmax(self.tail[int(number) - 1](x[rows]), axis=1)
                found = within[np.arange(len(rows)), wanted[rows] - self.cutoffs[number - 1]]
                found = found + head[rows, self.shortlist_size + int(number) - 1]
            places.append(rows)
            parts.append(found)
        output = gs.concatenate(parts)[np.argsort(np.concatenate(places))] if parts else head[:, 0]
        return ASMoutput(output if target.ndim else output[0], -output.mean())

    def log_prob(self, input: gs.Tensor) -> gs.Tensor:
        """Log-probabilities of all classes.

        Parameters
        ----------
        input : Tensor of shape (batch, in_features)

        Returns
        -------
        Tensor of shape (batch, n_classes)
        """
        head = gs.nn.log_softmax(self.head(input), axis=1)
        parts = [head[:, : self.shortlist_size]]
        for place, layers in enumerate(self.tail, self.shortlist_size):
            parts.append(gs.nn.log_softmax(layers(input), axis=1) + head[:, place : place + 1])
        return gs.concatenate(parts, axis=1)

    def predict(self, input: gs.Tensor) -> gs.Tensor:
        """The most probable class of each example.

        Parameters
        ----------
        input : Tensor of shape (batch, in_features)

        Returns
        -------
        Tensor of int, of shape (batch,)
        """
        return gs.argmax(self.log_prob(input), axis=1)
