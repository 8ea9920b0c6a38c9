"""PyTorch's nn.utils.stateless: the former path of `gradspec.func.functional_call`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gradspec as gs

from ...support.lazy_import import answer
from ..modules import Module

__all__ = ["functional_call"]
answer(__name__)


def functional_call(
    module: Module,
    parameters_and_buffers: Mapping[str, Any],
    args: Any = None,
    kwargs: Mapping[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with other parameters and buffers in place of its own; see `gradspec.func.functional_call`."""
    return gs.func.functional_call(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)
