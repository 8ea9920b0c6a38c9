"""Pruning: set elements of parameters to 0 by a mask, under PyTorch's names.

The functions apply the methods of `pruning_methods`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

import gradspec as gs

from ...support.lazy_import import answer
from ..modules import Module
from .pruning_methods import (
    BasePruningMethod,
    CustomFromMask,
    Identity,
    L1Unstructured,
    LnStructured,
    PruningContainer,
    RandomStructured,
    RandomUnstructured,
    forget,
    hook_of,
)

__all__ = [
    "BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured", "PruningContainer", "RandomStructured",
    "RandomUnstructured", "custom_from_mask", "global_unstructured", "identity", "is_pruned", "l1_unstructured", "ln_structured",
    "random_structured", "random_unstructured", "remove",
]  # fmt: skip
answer(__name__)


def identity(module: Module, name: str) -> Module:
    """Attach a mask of ones to a parameter."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: float) -> Module:
    """Prune random elements; arguments as for `RandomUnstructured.apply`."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Module, name: str, amount: float, importance_scores: Any = None) -> Module:
    """Prune the elements closest to 0; arguments as for `L1Unstructured.apply`."""
    L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


def random_structured(module: Module, name: str, amount: float, dim: int) -> Module:
    """Prune random slices; arguments as for `RandomStructured.apply`."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module: Module, name: str, amount: float, n: Any, dim: int, importance_scores: Any = None) -> Module:
    """Prune the slices with the smallest norms; arguments as for `LnStructured.apply`."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Module, name: str, mask: Any) -> Module:
    """Prune by a given mask of the parameter's shape."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Iterable[tuple[Module, str]], pruning_method: type[BasePruningMethod],
    importance_scores: Mapping[tuple[Module, str], Any] | None = None, **kwargs: Any,
) -> None:  # fmt: skip
    """Prune several parameters as if they were one.

    Parameters
    ----------
    parameters : iterable of (Module, str)
    pruning_method : class
        Its `PRUNING_TYPE` must be 'unstructured'.
    importance_scores : mapping of (Module, str) to Tensor, optional
        Values to compute the masks from, instead of the parameters.
    **kwargs
        Arguments of the method, such as `amount`.
    """
    parameters = list(parameters)
    scores = {} if importance_scores is None else importance_scores
    found = [gs.asarray(scores.get((module, name), getattr(module, name))).detach() for module, name in parameters]
    masks = [getattr(module, f"{name}_mask", None) for module, name in parameters]
    masks = [gs.ones_like(t) if mask is None else mask.detach() for t, mask in zip(found, masks)]
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError('Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
                        f"{pruning_method} of type {method.PRUNING_TYPE}")  # fmt: skip
    flat = [gs.concat([item.ravel() for item in items]) for items in (found, masks)]
    mask = PruningContainer(method).compute_mask(*flat)
    ends = np.cumsum([t.size for t in found])
    for (module, name), t, end in zip(parameters, found, ends):
        custom_from_mask(module, name, mask[end - t.size : end].reshape(t.shape))


def remove(module: Module, name: str) -> Module:
    """Make a pruned parameter a plain one again, with zeros for pruned elements.

    Raises
    ------
    ValueError
        The parameter is not pruned.
    """
    hook = hook_of(module, name)
    if hook is None:
        raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")
    hook.remove(module)
    forget(module, hook)
    return module


def is_pruned(module: Module) -> bool:
    """Whether a parameter of the module, or of one below it, is pruned."""
    return any(isinstance(hook, BasePruningMethod) for one in module.modules() for hook in one._hooks.before.values())
