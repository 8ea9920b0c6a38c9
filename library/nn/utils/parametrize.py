"""Parametrised tensors: attributes of a module that are computed from parameters at each access.

Defines the class of a module with such attributes, and holds the values that are cached while `cached` is open.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import gradspec as gs

from ...support.lazy_import import answer
from ..modules import Module, ModuleDict, ModuleList
from ..parameter import Parameter

__all__ = [
    "ParametrizationList", "cached", "is_parametrized", "register_parametrization", "remove_parametrizations",
    "type_before_parametrizations",
]  # fmt: skip
answer(__name__)


_open = 0  # open contexts of `cached`
_kept: dict[tuple[int, str], gs.Tensor] = {}


@contextmanager
def cached() -> Iterator[None]:
    """A context that computes each parametrised tensor once, at its first access."""
    global _open
    _open += 1
    try:
        yield
    finally:
        _open -= 1
        if not _open:
            _kept.clear()


def _register(module: Module, name: str, tensor: gs.Tensor) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


class ParametrizationList(ModuleList):
    """The parametrisations of one tensor, applied in order, and the tensors that they are applied to.

    Parameters
    ----------
    modules : sequence of Module
        Each with a `forward` of a tensor, and with a `right_inverse` if values can be assigned.
    original : Parameter or Tensor
        The original tensor: `original`, or `original0`, `original1` and so on if a right inverse returns several.
    unsafe : bool
        Whether the result may have a different shape and dtype.
    """

    def __init__(self, modules: Sequence[Module], original: gs.Tensor, unsafe: bool = False) -> None:
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        found = self._inverted(original.detach())
        self.is_tensor = isinstance(found, gs.Tensor)
        if self.is_tensor:
            if found.dtype != original.dtype:
                raise ValueError(f"When `right_inverse` outputs one tensor, it may not change the dtype.\noriginal.dtype: "
                                 f"{original.dtype}\nright_inverse(original).dtype: {found.dtype}")  # fmt: skip
            original.data = found.detach()
            _register(self, "original", original)
            self.ntensors = 1
        else:
            self.ntensors = len(found)
            for i, value in enumerate(found):
                if not isinstance(value, gs.Tensor):
                    raise ValueError("'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got "
                                     f"element {i} of the sequence with type {type(value)}.")  # fmt: skip
                value = value.detach()
                is_parameter = isinstance(original, Parameter)
                _register(self, f"original{i}", Parameter(value, original.requires_grad) if is_parameter else value)
        if not unsafe:
            self._check(original)

    def _check(self, original: gs.Tensor) -> None:
        with gs.no_grad():
            value = self()
        if not isinstance(value, gs.Tensor):
            raise ValueError(f"A parametrization must return a tensor. Got {type(value)}.")
        for what in ("dtype", "shape"):
            before, after = getattr(self._shown, what), getattr(value, what)
            if before != after:
                raise ValueError(f"Registering a parametrization may not change the {what} of the tensor, unless `unsafe` flag "
                                 f"is enabled.\nunparametrized {what}: {before}\nparametrized {what}: {after}")  # fmt: skip

    def _originals(self) -> list[gs.Tensor]:
        return [self.original] if self.is_tensor else [getattr(self, f"original{i}") for i in range(self.ntensors)]

    def _inverted(self, value: gs.Tensor) -> Any:
        """Apply the right inverses to `value`, in reverse order; parametrisations without one are skipped."""
        self._shown = Like(value.dtype, value.shape)
        found: Any = value
        with gs.no_grad():
            for module in reversed(list(self)):
                inverse = getattr(module, "right_inverse", None)
                if inverse is not None:
                    try:
                        found = inverse(*found) if isinstance(found, (tuple, list)) else inverse(found)
                    except NotImplementedError:
                        pass
        if not isinstance(found, (gs.Tensor, tuple, list)):
            raise ValueError(f"'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got {type(found)}")
        return found

    def right_inverse(self, value: gs.Tensor) -> None:
        """Set the originals so that `forward` returns `value`."""
        for module in self:
            if not hasattr(module, "right_inverse"):
                raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
        with gs.no_grad():
            found: Any = value.detach() if isinstance(value, gs.Tensor) else gs.asarray(value)
            for module in reversed(list(self)):
                found = module.right_inverse(*found) if isinstance(found, (tuple, list)) else module.right_inverse(found)
            values = [found] if isinstance(found, gs.Tensor) else list(found)
            originals = self._originals()
            if len(values) != len(originals) or isinstance(found, gs.Tensor) != self.is_tensor:
                raise ValueError("'right_inverse' must return as many tensors as when the parametrization was registered: "
                                 f"{len(originals)}, got {len(values)}.")  # fmt: skip
            for original, new in zip(originals, values):
                if original.dtype != new.dtype:
                    raise ValueError(f"The tensor returned by `right_inverse` has dtype {new.dtype} while `original` has dtype "
                                     f"{original.dtype}")  # fmt: skip
                original.data = new.detach()

    def forward(self) -> gs.Tensor:
        first, *others = self
        value = first(*self._originals())
        for module in others:
            value = module(value)
        return value


class Like:
    """Dtype and shape of a tensor."""

    def __init__(self, dtype: Any, shape: tuple[int, ...]) -> None:
        self.dtype, self.shape = dtype, shape


class _Parametrized:
    """Mixin for the class of a module with parametrised tensors."""

    parametrizations: ModuleDict

    def __getstate__(self) -> Any:
        raise RuntimeError("Serialization of parametrized modules is only supported through state_dict(): a class of their own "
                           "cannot be found by its name")  # fmt: skip

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        names = list(self.parametrizations)
        copied = type(self).__new__(_class_with(type_before_parametrizations(self), names))
        memo[id(self)] = copied
        vars(copied).update(deepcopy(vars(self), memo))
        return copied

    def __setattr__(self, name: str, value: Any) -> None:
        fields = vars(self).get("_modules", {})
        if "parametrizations" in fields and name in fields["parametrizations"]:
            object.__setattr__(self, name, value)  # sets the property, for a Parameter as well
        else:
            super().__setattr__(name, value)


def _class_with(cls: type, names: Sequence[str]) -> type:
    """A class for one module: its own class, with a property for each parametrised tensor."""
    made = type(f"Parametrized{cls.__name__}", (_Parametrized, cls), {"__module__": cls.__module__})
    for name in names:
        _add_property(made, name)
    return made


def _add_property(cls: Any, name: str) -> None:
    def value_of(self: Any) -> gs.Tensor:
        if not _open:
            return self.parametrizations[name]()
        key = id(self), name
        if key not in _kept:
            _kept[key] = self.parametrizations[name]()
        return _kept[key]

    def assign(self: Any, value: gs.Tensor) -> None:
        _kept.pop((id(self), name), None)
        self.parametrizations[name].right_inverse(value)

    setattr(cls, name, property(value_of, assign))


def register_parametrization(module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False) -> Module:
    """Replace a parameter or buffer of a module by `parametrization(original)`, computed at each access.

    Parameters
    ----------
    module : Module
        Receives a class of its own.
    tensor_name : str
    parametrization : Module
        Its `forward` returns the tensor.  A method `right_inverse` computes the originals, at registration and whenever a value
        is assigned.  Further parametrisations of a tensor are applied to the results of the earlier ones.
    unsafe : bool
        Whether shape and dtype may change; they are then not checked.

    Returns
    -------
    Module
        This module.

    Examples
    --------
    >>> class Symmetric(gs.nn.Module):
    ...     def forward(self, x):
    ...         return gs.triu(x) + gs.triu(x, 1).mT
    >>> layer = gs.nn.utils.parametrize.register_parametrization(gs.nn.Linear(2, 2), "weight", Symmetric())
    >>> (layer.weight == layer.weight.mT).all().item(), list(layer.state_dict())
    (True, ['bias', 'parametrizations.weight.original'])
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        held: Any = module.parametrizations[tensor_name]
        if not unsafe:
            with gs.no_grad():
                before = getattr(module, tensor_name)
                after = parametrization(before)
                if not isinstance(after, gs.Tensor) or (after.dtype, after.shape) != (before.dtype, before.shape):
                    raise ValueError(f"A parametrization may not change dtype and shape of the tensor, {before.dtype} and "
                                     f"{before.shape}, unless the `unsafe` flag is enabled. Got {after!r}")  # fmt: skip
                if hasattr(parametrization, "right_inverse"):
                    try:
                        value = parametrization.right_inverse(before)
                    except NotImplementedError:
                        value = before
                    if not isinstance(value, gs.Tensor):
                        raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {type(value)}")
                    if len(held) == 0 or all(hasattr(one, "right_inverse") for one in held):
                        held.right_inverse(value)
        held.append(parametrization)
        held.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        made = ParametrizationList([parametrization], original, unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            cls: Any = _class_with(type(module), [])
            module.parametrizations = ModuleDict()
            module.__class__ = cls
        _add_property(type(module), tensor_name)
        module.parametrizations[tensor_name] = made
    else:
        raise ValueError(f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
                         f"'{tensor_name}'")  # fmt: skip
    return module


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether a module has parametrised tensors, or the one with this name."""
    found = vars(module).get("_modules", {}).get("parametrizations")
    if not isinstance(found, ModuleDict) or not isinstance(module, _Parametrized):
        return False
    return len(found) > 0 if tensor_name is None else tensor_name in found


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Make a tensor a parameter or a buffer again.

    Parameters
    ----------
    module : Module
    tensor_name : str
    leave_parametrized : bool
        Whether it keeps its present value, or is set to the original.

    Returns
    -------
    Module
        This module.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    held: Any = module.parametrizations[tensor_name]
    if not held.is_tensor and not leave_parametrized:
        raise ValueError("Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a "
                         "sequence of tensors.")  # fmt: skip
    original, cls = held._originals()[0], type(module)
    if leave_parametrized:
        with gs.no_grad():
            value = getattr(module, tensor_name).detach()
        if held.is_tensor:
            original.data = value
        else:
            original = Parameter(value, original.requires_grad) if isinstance(original, Parameter) else value
    delattr(cls, tensor_name)
    del module.parametrizations[tensor_name]
    if not len(module.parametrizations):
        del module.parametrizations
        module.__class__ = type_before_parametrizations(module)
    _register(module, tensor_name, original)
    return module


def type_before_parametrizations(module: Any) -> type:
    """The class of a module before its tensors were parametrised."""
    return type(module).__bases__[1] if isinstance(module, _Parametrized) else type(module)
