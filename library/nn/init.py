"""Initialisation: fill parameters in place with random numbers, constants and patterns, under PyTorch's names.

Computes the scales; the numbers come from the generators of `gradspec.manual_seed`.
"""

from __future__ import annotations

import math
import sys
import warnings
from typing import Any

import numpy as np

import gradspec as gs

from ..support.lazy_import import answer

__all__ = [
    "calculate_gain", "constant_", "dirac_", "eye_", "kaiming_normal_", "kaiming_uniform_", "normal_", "ones_", "orthogonal_",
    "sparse_", "trunc_normal_", "uniform_", "xavier_normal_", "xavier_uniform_", "zeros_",
]  # fmt: skip
answer(__name__)

Generator = Any  # numpy.random.Generator, or a seed


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor of the initial weights of a layer that precedes a nonlinearity.

    Parameters
    ----------
    nonlinearity : str
        'linear', 'conv1d' and the other convolutions, 'sigmoid', 'tanh', 'relu', 'leaky_relu' or 'selu'.
    param : float, optional
        The slope of leaky_relu; 0.01 by default.

    Returns
    -------
    float

    Examples
    --------
    >>> gs.nn.init.calculate_gain("tanh")
    1.6666666666666667
    """
    if nonlinearity == "linear" or nonlinearity.removeprefix("conv").removeprefix("_transpose") in ("1d", "2d", "3d"):
        return 1.0
    if nonlinearity == "leaky_relu":
        if param is not None and (isinstance(param, bool) or not isinstance(param, (int, float))):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2 / (1 + (0.01 if param is None else param) ** 2))
    gains = {"sigmoid": 1.0, "tanh": 5 / 3, "relu": math.sqrt(2), "selu": 3 / 4}
    if nonlinearity not in gains:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return gains[nonlinearity]


def fans(tensor: gs.Tensor) -> tuple[int, int]:
    """Fan-in and fan-out: the number of inputs of each result of a weight, and the number of results of each input."""
    if tensor.ndim < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


@gs.no_grad()
def uniform_(tensor: gs.Tensor, a: float = 0.0, b: float = 1.0, generator: Generator = None) -> gs.Tensor:
    """Fill with numbers uniformly distributed from a to b.

    Parameters
    ----------
    tensor : Tensor
        Filled in place, and returned.
    a, b : float
    generator : numpy.random.Generator or int, optional
    """
    return tensor.uniform_(a, b, generator=generator)


@gs.no_grad()
def normal_(tensor: gs.Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator = None) -> gs.Tensor:
    """Fill with normal random numbers.

    Parameters
    ----------
    tensor : Tensor
        Filled in place, and returned.
    mean, std : float
    generator : numpy.random.Generator or int, optional
    """
    return tensor.normal_(mean, std, generator=generator)


@gs.no_grad()
def trunc_normal_(
    tensor: gs.Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Generator = None
) -> gs.Tensor:
    """Fill with normal random numbers; numbers outside [a, b] are drawn again.

    Parameters
    ----------
    tensor : Tensor
        Filled in place, and returned.
    mean, std : float
    a, b : float
    generator : numpy.random.Generator or int, optional
    """
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn("mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution may be incorrect.",
                      stacklevel=2)  # fmt: skip
    low, high = (math.erf((end - mean) / (std * math.sqrt(2))) for end in (a, b))
    tensor.uniform_(low, high, generator=generator).erfinv_().mul_(std * math.sqrt(2)).add_(mean)
    return tensor.clip_(a, b)


@gs.no_grad()
def constant_(tensor: gs.Tensor, val: float) -> gs.Tensor:
    """Fill a tensor with one number.

    Parameters
    ----------
    tensor : Tensor
        Filled in place, and returned.
    val : float
        The number.

    Returns
    -------
    Tensor
        `tensor` itself.
    """
    return tensor.fill_(val)


def ones_(tensor: gs.Tensor) -> gs.Tensor:
    """Fill a tensor with ones.

    Parameters
    ----------
    tensor : Tensor
        Filled in place, and returned.

    Returns
    -------
    Tensor
        `tensor` itself.
    """
    return constant_(tensor, 1.0)


def zeros_(tensor: gs.Tensor) -> gs.Tensor:
    """Fill a tensor with zeros.

    Parameters
    ----------
    tensor : Tensor
        Filled in place, and returned.

    Returns
    -------
    Tensor
        `tensor` itself.
    """
    return constant_(tensor, 0.0)


@gs.no_grad()
def eye_(tensor: gs.Tensor) -> gs.Tensor:
    """Fill a tensor with the identity matrix.

    Parameters
    ----------
    tensor : Tensor
        2-d, filled in place, and returned; other numbers of axes are refused.

    Returns
    -------
    Tensor
        `tensor` itself.
    """
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    return tensor.zero_().fill_diagonal_(1)


@gs.no_grad()
def dirac_(tensor: gs.Tensor, groups: int = 1) -> gs.Tensor:
    """Fill with the weight of a convolution that preserves as many channels as possible.

    Parameters
    ----------
    tensor : Tensor
        Of 3 to 5 axes, filled in place, and returned.
    groups : int
    """
    if tensor.ndim not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.shape[0] % groups:
        raise ValueError("dim 0 must be divisible by groups")
    tensor.zero_()
    each = tensor.shape[0] // groups
    middle = tuple(size // 2 for size in tensor.shape[2:])
    for group in range(groups):
        for channel in range(min(each, tensor.shape[1])):
            tensor[(group * each + channel, channel, *middle)] = 1
    return tensor


def xavier_uniform_(tensor: gs.Tensor, gain: float = 1.0, generator: Generator = None) -> gs.Tensor:
    """Fill with uniform numbers whose scale preserves the variance of values and gradients (Glorot and Bengio, 2010).

    Parameters
    ----------
    tensor : Tensor
        Filled in place, and returned.
    gain : float
    generator : numpy.random.Generator or int, optional

    Returns
    -------
    Tensor
        `tensor` itself.
    """
    bound = gain * math.sqrt(6 / sum(fans(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: gs.Tensor, gain: float = 1.0, generator: Generator = None) -> gs.Tensor:
    """`xavier_uniform_` with normal numbers, of the same variance (Glorot and Bengio, 2010).

    Parameters
    ----------
    tensor : Tensor
        Filled in place, and returned.
    gain : float
        Factor of the scale.
    generator : numpy.random.Generator or int, optional

    Returns
    -------
    Tensor
        `tensor` itself.
    """
    return normal_(tensor, 0.0, gain * math.sqrt(2 / sum(fans(tensor))), generator)


def _deviation(tensor: gs.Tensor, a: float, mode: str, nonlinearity: str) -> float:
    if mode.lower() not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return calculate_gain(nonlinearity, a) / math.sqrt(fans(tensor)[mode.lower() == "fan_out"])


def kaiming_uniform_(
    tensor: gs.Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Generator = None
) -> gs.Tensor:
    """Fill with uniform numbers whose scale preserves the variance if a rectifier follows (He and others, 2015).

    Parameters
    ----------
    tensor : Tensor
        Filled in place, and returned.
    a : float
        The slope of leaky_relu.
    mode : {'fan_in', 'fan_out'}
        Whether the variance of values is preserved, or that of gradients.
    nonlinearity : str
    generator : numpy.random.Generator or int, optional

    Returns
    -------
    Tensor
        `tensor` itself.
    """
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=2)
        return tensor
    bound = math.sqrt(3) * _deviation(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: gs.Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Generator = None
) -> gs.Tensor:
    """`kaiming_uniform_` with normal numbers, of the same variance (He and others, 2015).

    Parameters
    ----------
    tensor : Tensor
        Filled in place, and returned.
    a, mode, nonlinearity, generator
        As for `kaiming_uniform_`.

    Returns
    -------
    Tensor
        `tensor` itself.
    """
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=2)
        return tensor
    return normal_(tensor, 0.0, _deviation(tensor, a, mode, nonlinearity), generator)


@gs.no_grad()
def orthogonal_(tensor: gs.Tensor, gain: float = 1, generator: Generator = None) -> gs.Tensor:
    """Fill with a random matrix with orthonormal rows or columns, whichever are fewer (Saxe, McClelland and Ganguli, 2014).

    Parameters
    ----------
    tensor : Tensor
        Filled in place, and returned; all axes but the first count as one.
    gain : float
    generator : numpy.random.Generator or int, optional
    """
    if tensor.ndim < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.size == 0:
        return tensor
    rows, columns = tensor.shape[0], tensor.size // tensor.shape[0]
    flat = normal_(gs.empty((rows, columns), dtype=tensor.dtype), generator=generator)
    q, r = gs.linalg.qr(flat if rows >= columns else flat.T)
    q = q * gs.sign(gs.diagonal(r))
    return tensor.copy_(gs.reshape(q if rows >= columns else q.T, tensor.shape)).mul_(gain)


@gs.no_grad()
def sparse_(tensor: gs.Tensor, sparsity: float, std: float = 0.01, generator: Generator = None) -> gs.Tensor:
    """Fill with normal numbers, and set a fraction of each column to 0 (Martens, 2010).

    Parameters
    ----------
    tensor : Tensor
        2-d, filled in place, and returned.
    sparsity : float
        The fraction of zeros in each column.
    std : float
    generator : numpy.random.Generator or int, optional
    """
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    tensor.normal_(0, std, generator=generator)
    order = np.argsort(gs.empty((columns, rows)).uniform_(generator=generator).numpy(), axis=1)
    for column, places in enumerate(order[:, : math.ceil(sparsity * rows)]):
        tensor[places, column] = 0
    return tensor


def _older(name: str) -> Any:
    def function(*args: Any, **kwargs: Any) -> gs.Tensor:
        warnings.warn(f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`.", FutureWarning, stacklevel=2)
        return getattr(sys.modules[__name__], f"{name}_")(*args, **kwargs)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`{name}_`, under the name that it had before."
    return function


uniform, normal, constant, eye, dirac = map(_older, ("uniform", "normal", "constant", "eye", "dirac"))
xavier_uniform, xavier_normal = map(_older, ("xavier_uniform", "xavier_normal"))
kaiming_uniform, kaiming_normal = map(_older, ("kaiming_uniform", "kaiming_normal"))
orthogonal, sparse = map(_older, ("orthogonal", "sparse"))
