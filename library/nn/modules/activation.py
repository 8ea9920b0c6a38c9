"""Activations as layers: each calls the function with its name.

PReLU has a trained slope, and the softmaxes choose a default axis.
"""

from __future__ import annotations

from typing import Any

import gradspec as gs

from .. import functional as F
from ..parameter import parameter
from .module import Module
from .operator import Operator


class _InPlace(Operator):
    inplace: bool = False


class CELU(Operator, call=F.celu, shown="alpha"):
    """x if positive, else alpha * (exp(x / alpha) - 1)."""

    alpha: float = 1.0
    inplace: bool = False


class ELU(Operator, call=F.elu, shown="alpha"):
    """x if positive, else alpha * (exp(x) - 1)."""

    alpha: float = 1.0
    inplace: bool = False


class GELU(Operator, call=F.gelu, shown="approximate"):
    """x times the normal distribution function of x; `approximate` is 'none' or 'tanh'."""

    approximate: str = "none"


class GLU(Operator, call=F.glu, shown="dim"):
    """The first half along an axis times the sigmoid of the second half."""

    dim: int = -1


class Hardshrink(Operator, call=F.hardshrink, shown="*lambd"):
    """x if its modulus is above lambd, else 0."""

    lambd: float = 0.5


class Hardsigmoid(_InPlace, call=F.hardsigmoid):
    """x / 6 + 1/2, clamped to [0, 1]."""


class Hardswish(_InPlace, call=F.hardswish):
    """x times hardsigmoid of x."""


class Hardtanh(Operator, call=F.hardtanh, shown="min_val max_val"):
    """x, clamped to [min_val, max_val]."""

    min_val: float = -1.0
    max_val: float = 1.0
    inplace: bool = False


class LeakyReLU(Operator, call=F.leaky_relu, shown="negative_slope"):
    """x if positive, else negative_slope * x."""

    negative_slope: float = 0.01
    inplace: bool = False


class LogSigmoid(Operator, call=F.logsigmoid):
    """Logarithm of the sigmoid."""


class Mish(_InPlace, call=F.mish):
    """x times tanh of softplus of x."""


class RReLU(Operator, call=F.rrelu, trains=True, shown="lower upper"):
    """x if positive, else a random multiple of it; in evaluation the multiple is the mean of lower and upper."""

    lower: float = 1 / 8
    upper: float = 1 / 3
    inplace: bool = False


class ReLU(_InPlace, call=F.relu):
    """x if positive, else 0."""


class ReLU6(_InPlace, call=F.relu6):
    """x, clamped to [0, 6]."""


class SELU(_InPlace, call=F.selu):
    """ELU with the two constants that preserve mean and variance."""


class SiLU(_InPlace, call=F.silu):
    """x times its sigmoid."""


class Sigmoid(Operator, call=F.sigmoid):
    """1 / (1 + exp(-x))."""


class Softplus(Operator, call=F.softplus, shown="beta threshold"):
    """log(1 + exp(beta * x)) / beta; x itself if beta * x is above the threshold."""

    beta: float = 1.0
    threshold: float = 20.0


class Softshrink(Operator, call=F.softshrink, shown="*lambd"):
    """x moved towards 0 by lambd; 0 if its modulus is at most lambd."""

    lambd: float = 0.5


class Softsign(Operator, call=F.softsign):
    """x / (1 + abs(x))."""


class Tanh(Operator, call=F.tanh):
    """Hyperbolic tangent."""


class Tanhshrink(Operator, call=F.tanhshrink):
    """x minus its hyperbolic tangent."""


class Threshold(Operator, call=F.threshold, shown="threshold value"):
    """x if above a threshold, else `value`."""

    threshold: float
    value: float
    inplace: bool = False


class _Softmax(Operator):
    """A softmax along an axis.

    Parameters
    ----------
    dim : int
        Axis of the sum; None means axis 0 of an input with 0, 1 or 3 axes, and axis 1 of others.
    """

    dim: int | None = None

    def forward(self, x: Any) -> Any:
        axis = self.dim if self.dim is not None else 0 if gs.asarray(x).ndim in (0, 1, 3) else 1
        return self._call(x, axis=axis)


class LogSoftmax(_Softmax, call=F.log_softmax, shown="dim"):
    """Logarithm of the softmax."""


class Softmax(_Softmax, call=F.softmax, shown="dim"):
    """exp(x), divided by its sum along an axis."""


class Softmin(_Softmax, call=F.softmin, shown="dim"):
    """Softmax of -x."""


class Softmax2d(Operator, call=F.softmax):
    """Softmax over the channels of images."""

    def forward(self, *inputs: Any) -> Any:
        if inputs[0].ndim not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D (got {inputs[0].ndim}D instead)")
        return F.softmax(inputs[0], axis=-3)


class PReLU(Module):
    """x if positive, else a trained multiple of it.

    Parameters
    ----------
    num_parameters : int
        1, or the number of channels, which are along axis 1.
    init : float
        The initial slope.
    device : str, optional
    dtype : dtype, optional
    """

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = parameter(num_parameters, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reset the slope to `init`."""
        with gs.no_grad():
            self.weight.fill_(self.init)

    def forward(self, x: gs.Tensor) -> gs.Tensor:
        return F.prelu(x, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"
