"""Pruning methods: compute masks, and multiply a parameter by its mask before each forward.

Combines the masks of successive methods.  The parameter is renamed to `weight_orig`, and the mask is the buffer `weight_mask`.
"""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import Any

import numpy as np

import gradspec as gs

from ..modules import Module


class BasePruningMethod:
    """Base of all methods; a subclass computes the mask in `compute_mask`, and sets its `PRUNING_TYPE`.

    Attributes
    ----------
    PRUNING_TYPE : {'unstructured', 'structured', 'global'}
        Whether the method sees the remaining elements, the remaining slices along `dim`, or all elements.
    """

    PRUNING_TYPE = "global"
    _tensor_name: str

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    def compute_mask(self, t: gs.Tensor, default_mask: gs.Tensor) -> gs.Tensor:
        """The mask of a tensor of importances; for classes to override.

        Parameters
        ----------
        t : Tensor
        default_mask : Tensor
            The mask of earlier pruning.

        Returns
        -------
        Tensor
            0 for pruned elements, 1 for others.
        """
        raise NotImplementedError(f"{type(self).__name__} has no compute_mask()")

    def apply_mask(self, module: Module) -> gs.Tensor:
        """The parameter times its mask."""
        mask = getattr(module, f"{self._tensor_name}_mask")
        return mask.astype(getattr(module, f"{self._tensor_name}_orig").dtype) * getattr(module, f"{self._tensor_name}_orig")

    @classmethod
    def apply(cls, module: Module, name: str, *args: Any, importance_scores: Any = None, **kwargs: Any) -> BasePruningMethod:
        """Prune a parameter, or prune it further.

        Parameters
        ----------
        module : Module
        name : str
            Of the parameter.
        *args, **kwargs
            Arguments of the constructor.
        importance_scores : Tensor, optional
            Values to compute the mask from, instead of the parameter; of its shape.

        Returns
        -------
        BasePruningMethod
            The hook that the module calls before each forward.
        """
        method: BasePruningMethod = cls(*args, **kwargs)
        method._tensor_name = name
        earlier = hook_of(module, name)
        original = getattr(module, name)
        scores = original if importance_scores is None else gs.asarray(importance_scores)
        if scores.shape != original.shape:
            raise ValueError(f"importance_scores should have the shape of parameter {name} of {module._get_name()}: "
                             f"{original.shape}, not {scores.shape}")  # fmt: skip
        if earlier is not None:
            method = PruningContainer(*(earlier if isinstance(earlier, PruningContainer) else (earlier,)), method)
            mask = getattr(module, f"{name}_mask")
            mask = method.compute_mask(scores.detach(), mask.detach().clone())
            forget(module, earlier)
            setattr(module, f"{name}_mask", mask)
        else:
            mask = method.compute_mask(scores.detach(), gs.ones_like(original.detach()))
            parameter = module._parameters.pop(name)
            module.register_parameter(f"{name}_orig", parameter)
            module.register_buffer(f"{name}_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t: Any, default_mask: Any = None, importance_scores: Any = None) -> gs.Tensor:
        """A tensor times its mask, computed from the tensor or from importances of the same shape."""
        t = gs.asarray(t)
        scores = t if importance_scores is None else gs.asarray(importance_scores)
        if scores.shape != t.shape:
            raise ValueError(f"importance_scores should have the shape of tensor t: {t.shape}, not {scores.shape}")
        mask = gs.ones_like(t.detach()) if default_mask is None else gs.asarray(default_mask)
        return t * self.compute_mask(scores.detach(), mask)

    def remove(self, module: Module) -> None:
        """Make the parameter a plain one again, with zeros for pruned elements."""
        name = self._tensor_name
        parameter = module._parameters.pop(f"{name}_orig")
        if parameter is None:
            raise ValueError(f"{name}_orig is not a parameter of {module}")
        with gs.no_grad():
            parameter.mul_(module._buffers[f"{name}_mask"].astype(parameter.dtype))  # type: ignore[union-attr]
        del module._buffers[f"{name}_mask"]
        delattr(module, name)
        setattr(module, name, parameter)


class PruningContainer(BasePruningMethod):
    """A sequence of methods for one parameter.

    Parameters
    ----------
    *args : BasePruningMethod
    """

    def __init__(self, *args: BasePruningMethod) -> None:
        self._methods: list[BasePruningMethod] = []
        for method in args:
            if not self._methods:
                self._tensor_name = method._tensor_name
            self.add_pruning_method(method)

    def add_pruning_method(self, method: BasePruningMethod) -> None:
        """Append a method for the same parameter."""
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method._tensor_name != self._tensor_name:
            raise ValueError("Can only add pruning methods acting on the parameter named "
                             f"'{self._tensor_name}' to PruningContainer {self}. Found '{method._tensor_name}'")  # fmt: skip
        self._methods.append(method)

    def __len__(self) -> int:
        return len(self._methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._methods)

    def __getitem__(self, index: int) -> BasePruningMethod:
        return self._methods[index]

    def compute_mask(self, t: gs.Tensor, default_mask: gs.Tensor) -> gs.Tensor:
        """The mask of the last method, applied to the elements that the others have kept."""
        method, mask = self._methods[-1], default_mask.clone()
        kept: Any
        if method.PRUNING_TYPE == "unstructured":
            kept = mask == 1
        elif method.PRUNING_TYPE == "structured":
            dim = getattr(method, "dim", 0) % mask.ndim
            left = np.flatnonzero(mask.numpy().any(axis=tuple(n for n in range(mask.ndim) if n != dim)))
            kept = (*[slice(None)] * dim, left)
        elif method.PRUNING_TYPE == "global":
            kept = (slice(None),) * mask.ndim
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
        mask[kept] = method.compute_mask(t[kept], mask[kept]).astype(mask.dtype)
        return mask


class Identity(BasePruningMethod):
    """A mask of ones."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: gs.Tensor, default_mask: gs.Tensor) -> gs.Tensor:
        return default_mask


class _Amount(BasePruningMethod):
    """A method that prunes a given amount.

    Parameters
    ----------
    amount : int or float
        Number of elements or slices to prune, or a fraction from 0.0 to 1.0.
    """

    def __init__(self, amount: float) -> None:
        if not isinstance(amount, Real):
            raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
        if amount < 0 or amount > 1 and not isinstance(amount, (int, np.integer)):
            raise ValueError(f"amount={amount} should either be a float in the range [0.0, 1.0] or a non-negative integer")
        self.amount = amount

    def importances(self, t: gs.Tensor) -> np.ndarray:
        """A number for each element or slice; the least ones are pruned."""
        raise NotImplementedError

    def count(self, size: int) -> int:
        """The number to prune of `size` elements or slices."""
        if not isinstance(self.amount, (int, np.integer)):
            return round(self.amount * size)
        if self.amount > size:
            raise ValueError(f"amount={self.amount} should be smaller than the number of parameters to prune={size}")
        return int(self.amount)


class _Unstructured(_Amount):
    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: gs.Tensor, default_mask: gs.Tensor) -> gs.Tensor:
        mask = default_mask.clone()
        if count := self.count(t.size):
            mask.ravel()[np.argsort(self.importances(t).ravel(), kind="stable")[:count]] = 0
        return mask


class RandomUnstructured(_Unstructured):
    __doc__ = "Numbers that are drawn go.\n" + (_Amount.__doc__ or "").partition("\n")[2]

    def importances(self, t: gs.Tensor) -> np.ndarray:
        return gs.rand(*t.shape).numpy()


class L1Unstructured(_Unstructured):
    __doc__ = "The numbers nearest to 0 go.\n" + (_Amount.__doc__ or "").partition("\n")[2]

    def importances(self, t: gs.Tensor) -> np.ndarray:
        return np.abs(t.numpy())


class _Structured(_Amount):
    """Prunes whole slices along an axis.

    Parameters
    ----------
    amount : int or float
        Number of slices to prune, or a fraction from 0.0 to 1.0.
    dim : int
        The axis.
    """

    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def compute_mask(self, t: gs.Tensor, default_mask: gs.Tensor) -> gs.Tensor:
        if t.ndim <= 1:
            raise ValueError("Structured pruning can only be applied to multidimensional tensors. Found tensor of dim "
                             f"{t.ndim}")  # fmt: skip
        if not -t.ndim <= self.dim < t.ndim:
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")
        mask = default_mask.clone()
        if count := self.count(t.shape[self.dim]):
            gone = np.argsort(self.importances(t), kind="stable")[:count]
            mask[(*[slice(None)] * (self.dim % t.ndim), gone)] = 0
        return mask


class RandomStructured(_Structured):
    __doc__ = "Slices that are drawn go.\n" + (_Structured.__doc__ or "").partition("\n")[2]

    def importances(self, t: gs.Tensor) -> np.ndarray:
        return gs.rand(t.shape[self.dim]).numpy()


class LnStructured(_Structured):
    """Prunes the slices with the smallest norms.

    Parameters
    ----------
    amount : int or float
        Number of slices to prune, or a fraction from 0.0 to 1.0.
    n : float or 'fro'
        Order of the norm of each slice.
    dim : int
        The axis.
    """

    def __init__(self, amount: float, n: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)
        if isinstance(n, str) and n != "fro":
            raise ValueError(f"LnStructured: n must be a number or 'fro', got {n!r}")
        self.n = n

    def importances(self, t: gs.Tensor) -> np.ndarray:
        rows = np.moveaxis(t.numpy(), self.dim, 0).reshape(t.shape[self.dim], -1)
        return np.linalg.norm(rows, ord=2 if self.n == "fro" else self.n, axis=1)


class CustomFromMask(BasePruningMethod):
    """Prunes by a given mask.

    Parameters
    ----------
    mask : array_like
        Of the parameter's shape.
    """

    def __init__(self, mask: Any) -> None:
        self.mask = gs.asarray(mask)

    def compute_mask(self, t: gs.Tensor, default_mask: gs.Tensor) -> gs.Tensor:
        if self.mask.shape != default_mask.shape:
            raise ValueError(f"the mask has the shape {self.mask.shape}, what is pruned has {default_mask.shape}")
        return default_mask * self.mask.astype(default_mask.dtype)


def hook_of(module: Module, name: str) -> BasePruningMethod | None:
    """The pruning hook of a module's parameter; None if the parameter is not pruned."""
    hooks = [hook for hook in module._hooks.before.values() if isinstance(hook, BasePruningMethod)]
    return next((hook for hook in hooks if hook._tensor_name == name), None)


def forget(module: Module, hook: BasePruningMethod) -> None:
    for key in [key for key, one in module._hooks.before.items() if one is hook]:
        del module._hooks.before[key]
