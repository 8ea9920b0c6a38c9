"""Weight norm and spectral norm by hooks: the older forms, with the parameter names in older files.

New code should use `nn.utils.parametrizations`.
"""

from __future__ import annotations

from typing import Any

import gradspec as gs

from ...support.lazy_import import answer
from ..modules import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d, Module
from ..parameter import Parameter
from .parametrizations import norm_except, rows_first

__all__ = ["remove_spectral_norm", "remove_weight_norm", "spectral_norm", "weight_norm"]
answer(__name__)


class _Hook:
    """A hook that computes a weight before each forward."""

    title: str

    def __init__(self, name: str) -> None:
        self.name = name

    def compute(self, module: Any) -> gs.Tensor:
        raise NotImplementedError

    def __call__(self, module: Any, args: Any) -> None:
        setattr(module, self.name, self.compute(module))

    def put(self, module: Module) -> Module:
        """Register the hook with a module; the weight is then no longer a parameter."""
        for hook in module._hooks.before.values():
            if isinstance(hook, type(self)) and hook.name == self.name:
                raise RuntimeError(f"Cannot register two {self.title} hooks on the same parameter {self.name}")
        return module

    @classmethod
    def taken(cls, module: Any, name: str) -> Any:
        """Remove a module's hook, and return it."""
        for key, hook in list(module._hooks.before.items()):
            if isinstance(hook, cls) and hook.name == name:
                del module._hooks.before[key]
                return hook
        raise ValueError(f"{cls.title} of '{name}' not found in {module}")


class _WeightNorm(_Hook):
    title = "weight_norm"

    def __init__(self, name: str, dim: int | None) -> None:
        super().__init__(name)
        self.dim = dim

    def compute(self, module: Any) -> gs.Tensor:
        g, v = getattr(module, f"{self.name}_g"), getattr(module, f"{self.name}_v")
        return v * (g / norm_except(v, self.dim))


class _SpectralNorm(_Hook):
    title = "spectral_norm"

    def __init__(self, name: str, steps: int, eps: float, dim: int) -> None:
        super().__init__(name)
        self.steps, self.eps, self.dim = steps, eps, dim

    def compute(self, module: Any, iterate: bool | None = None) -> gs.Tensor:
        weight, u, v = (getattr(module, f"{self.name}_{end}") for end in ("orig", "u", "v"))
        matrix = rows_first(weight, self.dim)
        if module.training if iterate is None else iterate:
            with gs.no_grad():
                for _ in range(self.steps):
                    v.copy_(gs.nn.normalize(matrix.mT @ u, axis=0, eps=self.eps))
                    u.copy_(gs.nn.normalize(matrix @ v, axis=0, eps=self.eps))
        u, v = u.clone(), v.clone()
        return weight / gs.vdot(u, matrix @ v)


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Express a weight as a length times a direction, the parameters `weight_g` and `weight_v`.

    Parameters
    ----------
    module : Module
    name : str
    dim : int or None
        The axis of separate lengths; None for a single length.

    Returns
    -------
    Module
        This module.
    """
    hook = _WeightNorm(name, dim)
    hook.put(module)
    weight = getattr(module, name)
    del module._parameters[name]
    module.register_parameter(f"{name}_g", Parameter(norm_except(weight.detach(), dim)))
    module.register_parameter(f"{name}_v", Parameter(weight.detach()))
    hook(module, None)
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module: Module, name: str = "weight") -> Module:
    """Make a weight a parameter again, with its present value.

    Parameters
    ----------
    module : Module
        Changed in place.
    name : str
        The weight's.

    Returns
    -------
    Module
        `module` itself.
    """
    weight = _WeightNorm.taken(module, name).compute(module)
    delattr(module, name)
    del module._parameters[f"{name}_g"], module._parameters[f"{name}_v"]
    module.register_parameter(name, Parameter(weight.detach()))
    return module


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """Divide a weight, `weight_orig`, by its largest singular value.

    Parameters
    ----------
    module : Module
    name : str
    n_power_iterations : int
        Power iterations for each forward in training.
    eps : float
    dim : int, optional
        The axis of the rows of the matrix; 1 for transposed convolutions, 0 by default.

    Returns
    -------
    Module
        This module.
    """
    if dim is None:
        dim = int(isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)))
    if n_power_iterations <= 0:
        raise ValueError(f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}")
    weight = module._parameters.get(name)
    if weight is None:
        raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None or not a parameter of the module")
    hook = _SpectralNorm(name, n_power_iterations, eps, dim)
    hook.put(module)
    delattr(module, name)
    module.register_parameter(f"{name}_orig", weight)
    setattr(module, name, weight.detach())
    for end, size in zip("uv", rows_first(weight.detach(), dim).shape):
        module.register_buffer(f"{name}_{end}", gs.nn.normalize(gs.randn(size, dtype=weight.dtype), axis=0, eps=eps))
    module.register_forward_pre_hook(hook)
    return module


def remove_spectral_norm(module: Module, name: str = "weight") -> Module:
    """Make a weight a parameter again, with its present value.

    Parameters
    ----------
    module : Module
        Changed in place.
    name : str
        The weight's.

    Returns
    -------
    Module
        `module` itself.
    """
    with gs.no_grad():
        weight = _SpectralNorm.taken(module, name).compute(module, False)
    delattr(module, name)
    for end in ("u", "v", "orig"):
        delattr(module, f"{name}_{end}")
    module.register_parameter(name, Parameter(weight.detach()))
    return module
