"""Module: a callable that has parameters, buffers and submodules.

Defines the attributes of a module, their registration, and conversions of all parameters and buffers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

import gradspec as gs

from ...support.hooks import RemovableHandle
from ..parameter import Buffer, Parameter
from . import hooks as hooked
from .hooks import (
    EVERYWHERE,
    REGISTRATIONS,
    Flagged,
    Hook,
    Hooks,
    register_module_backward_hook,
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from .state import Stateful

__all__ = [
    "Module", "register_module_backward_hook", "register_module_buffer_registration_hook", "register_module_forward_hook",
    "register_module_forward_pre_hook", "register_module_full_backward_hook", "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook", "register_module_parameter_registration_hook",
]  # fmt: skip
REGISTRATIONS_OF = {
    "_parameters": REGISTRATIONS.parameter, "_modules": REGISTRATIONS.module, "_buffers": REGISTRATIONS.buffer,
}  # fmt: skip
HOOKS_OF_STATES = ("_state_dict_pre_hooks", "_state_dict_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks")


class Module(Stateful):
    """A part of a model: a function with parameters.

    A subclass creates its parts in `__init__`, after `super().__init__()`, and computes in `forward`.  Parameters, buffers and
    modules that are assigned to attributes are found by `parameters()`, `state_dict()` and similar methods.

    Examples
    --------
    >>> class Net(gs.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.hidden, self.out = gs.nn.Linear(2, 8), gs.nn.Linear(8, 1)
    ...     def forward(self, x):
    ...         return self.out(gs.tanh(self.hidden(x)))
    >>> net = Net()
    >>> net
    Net(
      (hidden): Linear(in_features=2, out_features=8, bias=True)  # 24 parameters
      (out): Linear(in_features=8, out_features=1, bias=True)  # 9 parameters
    )  # 33 parameters
    >>> net(gs.ones((5, 2))).shape
    (5, 1)
    """

    _hooks: Hooks
    _captured_ = EVERYWHERE  # captured state that every call of a module reads; compiled functions guard it

    def __init__(self) -> None:
        fields = vars(self)
        fields["training"] = True
        fields["_parameters"], fields["_buffers"], fields["_modules"] = {}, {}, {}
        fields["_non_persistent_buffers_set"] = set()
        fields["_hooks"] = Hooks.none()
        for name in HOOKS_OF_STATES:
            fields[name] = {}

    # Calls.

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The computation of a call; for classes to override."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call `forward` with the hooks."""
        try:
            hooks = self._hooks
        except AttributeError:
            raise AttributeError(f"cannot call {type(self).__name__} before Module.__init__() call") from None
        if hooks.any() or EVERYWHERE.any():
            return hooked.call(self, hooks, args, kwargs)
        return self.forward(*args, **kwargs)

    # Attributes.

    def __getattr__(self, name: str) -> Any:
        fields = vars(self)
        for group in ("_parameters", "_buffers", "_modules"):
            if group in fields and name in fields[group]:
                return fields[group][name]
        for owner in type(self).__mro__:
            if name in vars(owner):  # a property whose own AttributeError brought Python here: say that one
                return vars(owner)[name].__get__(self, type(self))
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        fields = vars(self)
        for kind, group, title in ((Parameter, "_parameters", "parameters"), (Module, "_modules", "module")):
            if isinstance(value, kind):
                if group not in fields:
                    raise AttributeError(f"cannot assign {title} before Module.__init__() call")
                self._forget(name, fields[group])
                self._hold(group, name, value)
                return
        if isinstance(value, Buffer):
            if "_buffers" not in fields:
                raise AttributeError("cannot assign buffers before Module.__init__() call")
            self._forget(name, fields["_buffers"])
            self.register_buffer(name, value, value.persistent)
            return
        for group, kind, title, wanted in (
            ("_parameters", (), "parameter", "nn.Parameter or None"),
            ("_modules", (), "child module", "nn.Module or None"),
            ("_buffers", gs.Tensor, "buffer", "nn.Buffer, Tensor or None"),
        ):
            if name in fields.get(group, ()):
                if value is not None and not isinstance(value, kind):
                    raise TypeError(f"cannot assign '{type(value).__name__}' as {title} '{name}' ({wanted} expected)")
                self._hold(group, name, value)
                return
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        for group in (self._parameters, self._buffers, self._modules):
            if name in group:
                del group[name]  # type: ignore[attr-defined]
                self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        names = {*super().__dir__(), *self._parameters, *self._buffers, *self._modules}
        return sorted(name for name in names if name.isidentifier())

    def _hold(self, group: str, name: str, value: Any) -> None:
        """Put a value into a dictionary of attributes, after the registration hooks."""
        vars(self)[group][name] = hooked.registered(REGISTRATIONS_OF[group], self, name, value)

    def _forget(self, name: str, kept: dict[str, Any]) -> None:
        """Remove a name from all dictionaries of attributes except the given one."""
        for group in (vars(self), self._parameters, self._buffers, self._modules):
            if group is not kept:
                group.pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def __setstate__(self, state: dict[str, Any]) -> None:
        Module.__init__(self)
        vars(self).update(state)

    # Registration.

    def _check_name(self, kind: str, name: Any, group: dict[str, Any]) -> None:
        if "_parameters" not in vars(self):
            raise AttributeError(f"cannot assign {kind} before Module.__init__() call")
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {type(name).__name__}")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain ".", got: {name}')
        if not name:
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if hasattr(self, name) and name not in group:
            raise KeyError(f"attribute '{name}' already exists")

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Register a parameter under a name, which becomes an attribute.

        Parameters
        ----------
        name : str
        param : Parameter or None
            None registers the name without a parameter; it is not in the `state_dict`.
        """
        self._check_name("parameter", name, vars(self).get("_parameters", {}))
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{type(param).__name__}' object to parameter '{name}' (nn.Parameter or None required)"
            )
        if param is not None and param.grad_fn is not None:
            raise ValueError(f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly.")
        self._hold("_parameters", name, param)

    def register_buffer(self, name: str, tensor: gs.Tensor | None, persistent: bool = True) -> None:
        """Register a tensor that belongs to the state and is not trained.

        Parameters
        ----------
        name : str
        tensor : Tensor or None
        persistent : bool
            Whether `state_dict` contains it.
        """
        self._check_name("buffer", name, vars(self).get("_buffers", {}))
        if tensor is not None and not isinstance(tensor, gs.Tensor):
            raise TypeError(f"cannot assign '{type(tensor).__name__}' object to buffer '{name}' (Tensor or None required)")
        self._hold("_buffers", name, tensor)
        (self._non_persistent_buffers_set.discard if persistent else self._non_persistent_buffers_set.add)(name)

    def register_module(self, name: str, module: Module | None) -> None:
        """Register a submodule under a name, which becomes an attribute.

        Parameters
        ----------
        name : str
        module : Module or None
        """
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{type(module).__name__} is not a Module subclass")
        self._check_name("module", name, vars(self).get("_modules", {}))
        self._hold("_modules", name, module)

    add_module = register_module

    # Hooks.

    def register_forward_pre_hook(self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False) -> RemovableHandle:
        """Call `hook(module, args)` before each forward; a result replaces the arguments.

        Parameters
        ----------
        hook : callable
        prepend : bool
            Whether it runs before the existing hooks.
        with_kwargs : bool
            Whether it receives the keyword arguments, too, and returns both.

        Returns
        -------
        RemovableHandle
        """
        return hooked.register(self._hooks.before, Flagged(hook, True) if with_kwargs else hook, prepend)

    def register_forward_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, args, result)` after each forward; a result replaces the module's result.

        Parameters
        ----------
        hook : callable
        prepend : bool
        with_kwargs : bool
            Whether it is called as `hook(module, args, kwargs, result)`.
        always_call : bool
            Whether it is also called if the forward raises.

        Returns
        -------
        RemovableHandle
        """
        flagged = Flagged(hook, with_kwargs, always_call) if with_kwargs or always_call else hook
        return hooked.register(self._hooks.after, flagged, prepend)

    def register_full_backward_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_output)` when a backward pass enters the module; a result replaces the gradients."""
        return hooked.register(self._hooks.backward_before, hook, prepend)

    def register_full_backward_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` when a backward pass leaves the module.

        A result replaces the gradients of the arguments.
        """
        return hooked.register(self._hooks.backward, hook, prepend)

    def register_backward_hook(self, hook: Hook) -> RemovableHandle:
        """`register_full_backward_hook`, under its former name."""
        return self.register_full_backward_hook(hook)

    # Conversions.

    def _apply(self, fn: Callable[[gs.Tensor], gs.Tensor], recurse: bool = True) -> Self:
        """Replace the values of all parameters, gradients and buffers; the parameter objects are kept."""
        for child in self.children() if recurse else ():
            child._apply(fn)
        for parameter in self._parameters.values():
            if parameter is not None:
                with gs.no_grad():
                    grad, changed = parameter.grad, fn(parameter)
                    parameter.grad = None
                    parameter.data = changed.detach()
                    if grad is not None:
                        parameter.grad = fn(grad)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(
        self, *args: Any, dtype: Any = None, device: Any = None, non_blocking: bool = False, memory_format: Any = None
    ) -> Self:
        """Convert inexact parameters and buffers to another dtype, in place.

        Parameters
        ----------
        *args
            A dtype, a tensor with that dtype, or "cpu", where all tensors are.
        dtype : dtype, optional
        device : str, optional
        non_blocking : bool
            Without effect: there is no other device.
        memory_format : str, optional
            Without effect: NumPy chooses the layout.

        Returns
        -------
        Module
            This module.
        """
        options = {"dtype": dtype, "device": device, "memory_format": memory_format}
        found = {gs.empty(0, dtype=kind).to(*args, **options).dtype for kind in (np.float32, np.float64)}
        if len(found) == 2:  # no dtype is given, nothing to convert
            return self
        (wanted,) = found
        if wanted.kind not in "fc":
            raise TypeError(f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={wanted}")
        return self._apply(lambda tensor: tensor.to(wanted) if tensor.dtype.kind in "fc" else tensor)

    def type(self, dst_type: Any) -> Self:
        """Convert all parameters and buffers to a dtype."""
        return self._apply(lambda tensor: tensor.to(dst_type))

    def float(self) -> Self:
        """Convert inexact tensors to single precision."""
        return self.to(np.float32)

    def double(self) -> Self:
        """Convert inexact tensors to double precision."""
        return self.to(np.float64)

    def half(self) -> Self:
        """Convert inexact tensors to half precision."""
        return self.to(np.float16)

    def cpu(self) -> Self:
        """This module: every tensor is in memory."""
        return self

    def cuda(self, device: Any = None) -> Self:
        """Refused: every tensor is in memory."""
        raise ValueError("cuda: every tensor is in memory; leave out the call, or write to('cpu')")

    def share_memory(self) -> Self:
        """This module: threads can share its tensors."""
        return self
