"""Fuse a layer and the batch norm after it into one layer, for evaluation.

In evaluation, batch norm is a scale and a shift of each channel.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import gradspec as gs

from ...support.lazy_import import answer
from ..modules import Module
from ..parameter import Parameter

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"]
answer(__name__)


def fuse_conv_bn_weights(
    conv_w: gs.Tensor, conv_b: gs.Tensor | None, bn_rm: gs.Tensor, bn_rv: gs.Tensor, bn_eps: float, bn_w: gs.Tensor | None,
    bn_b: gs.Tensor | None, transpose: bool = False,
) -> tuple[Parameter, Parameter]:  # fmt: skip
    """Weight and bias of the convolution that equals a convolution followed by batch norm in evaluation.

    Parameters
    ----------
    conv_w : Tensor of shape (out, in, ...), or (in, out, ...) if `transpose`
    conv_b : Tensor of shape (out,) or None
    bn_rm, bn_rv : Tensor of shape (out,)
        Running mean and variance.
    bn_eps : float
    bn_w, bn_b : Tensor of shape (out,) or None
    transpose : bool

    Returns
    -------
    weight, bias : Parameter
    """
    with gs.no_grad():
        scale = (1 if bn_w is None else bn_w) / gs.sqrt(bn_rv + bn_eps)
        shape = [1] * conv_w.ndim
        shape[int(transpose)] = -1
        bias = ((0 if conv_b is None else conv_b) - bn_rm) * scale + (0 if bn_b is None else bn_b)
        return (Parameter((conv_w * scale.reshape(shape)).astype(conv_w.dtype), conv_w.requires_grad),
                Parameter(bias.astype(conv_w.dtype), True if conv_b is None else conv_b.requires_grad))  # fmt: skip


def fuse_linear_bn_weights(
    linear_w: gs.Tensor, linear_b: gs.Tensor | None, bn_rm: gs.Tensor, bn_rv: gs.Tensor, bn_eps: float, bn_w: gs.Tensor | None,
    bn_b: gs.Tensor | None,
) -> tuple[Parameter, Parameter]:  # fmt: skip
    """Weight and bias of the linear layer that equals a linear layer followed by batch norm in evaluation.

    Parameters
    ----------
    linear_w : Tensor of shape (out, in)
    linear_b : Tensor of shape (out,) or None
    bn_rm, bn_rv : Tensor of shape (out,)
        Running mean and variance.
    bn_eps : float
        Added to the variance.
    bn_w, bn_b : Tensor of shape (out,) or None
        Factor and summand of the batch norm.

    Returns
    -------
    weight, bias : Parameter
    """
    return fuse_conv_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)


def _fused(layer: Any, bn: Any, transpose: bool) -> Any:
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise ValueError("fusion: a batch norm without running statistics normalises by each batch, so it is not a fixed scale")
    fused = deepcopy(layer)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose
    )
    return fused


def fuse_conv_bn_eval(conv: Module, bn: Module, transpose: bool = False) -> Any:
    """The convolution that equals `conv` followed by `bn` in evaluation.

    Parameters
    ----------
    conv, bn : Module
    transpose : bool
        Whether `conv` is a transposed convolution.

    Returns
    -------
    Module
    """
    return _fused(conv, bn, transpose)


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """The linear layer that equals `linear` followed by `bn` in evaluation.

    Parameters
    ----------
    linear, bn : Module

    Returns
    -------
    Module
    """
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError("To fuse, linear.out_features == bn.num_features or bn.num_features == 1")
    return _fused(linear, bn, False)
