"""Linear and bilinear layers."""

from __future__ import annotations

import math
from typing import Any

import gradspec as gs

from .. import functional as F
from .. import init
from ..parameter import Parameter, parameter
from .module import Module


class Linear(Module):
    """x @ weight.T + bias.

    Parameters
    ----------
    in_features, out_features : int
    bias : bool
    device : str, optional
        "cpu": every tensor is in memory.
    dtype : dtype, optional
        Of the parameters; double precision by default.

    Attributes
    ----------
    weight : Parameter
        (out_features, in_features), initially uniform between -1 / sqrt(in_features) and 1 / sqrt(in_features).
    bias : Parameter or None
    """

    weight: Parameter
    bias: Parameter | None

    def __init__(self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = parameter((out_features, in_features), device, dtype)
        self.register_parameter("bias", parameter(out_features, device, dtype) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reinitialise the parameters."""
        spread(self.weight, self.bias)

    def forward(self, x: gs.Tensor) -> gs.Tensor:
        return F.linear(x, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class Bilinear(Module):
    """x1 @ weight @ x2 + bias, with one matrix of the weight for each component of the result.

    Parameters
    ----------
    in1_features, in2_features, out_features : int
    bias : bool
    device : str, optional
    dtype : dtype, optional

    Attributes
    ----------
    weight : Parameter
        (out_features, in1_features, in2_features), initially uniform between -1 / sqrt(in1_features) and 1 / sqrt(in1_features).
    bias : Parameter or None
    """

    weight: Parameter
    bias: Parameter | None

    def __init__(
        self, in1_features: int, in2_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got {in1_features}")
        self.in1_features, self.in2_features, self.out_features = in1_features, in2_features, out_features
        self.weight = parameter((out_features, in1_features, in2_features), device, dtype)
        self.register_parameter("bias", parameter(out_features, device, dtype) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reinitialise the parameters."""
        bound = 1 / math.sqrt(self.in1_features)
        for value in (self.weight, self.bias):
            if value is not None:
                init.uniform_(value, -bound, bound)

    def forward(self, x1: gs.Tensor, x2: gs.Tensor) -> gs.Tensor:
        return F.bilinear(x1, x2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (f"in1_features={self.in1_features}, in2_features={self.in2_features}, out_features={self.out_features}, "
                f"bias={self.bias is not None}")  # fmt: skip


def spread(weight: Parameter, bias: Parameter | None) -> None:
    """Initialise a linear layer or a convolution as PyTorch does: uniform, with moduli up to 1 / sqrt(fan in)."""
    if weight.size == 0:
        return
    bound = 1 / math.sqrt(init.fans(weight)[0])
    for value in (weight, bias):
        if value is not None:
            init.uniform_(value, -bound, bound)
