"""State: save the parameters and persistent buffers of a module by name, and load them.

Defines the content of a `state_dict`, and the errors for states that do not fit.
"""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import gradspec as gs

from ...support.hooks import RemovableHandle
from ..parameter import Parameter
from .tree import Tree

if TYPE_CHECKING:
    from .module import Module


class IncompatibleKeys(NamedTuple):
    """The keys that a state lacks, and its keys that do not belong to the module."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"IncompatibleKeys(missing_keys={self.missing_keys!r}, unexpected_keys={self.unexpected_keys!r})"

    __str__ = __repr__


class StateDict(OrderedDict[str, Any]):
    """Tensors by name; `_metadata` has the version of each module's layout."""

    _metadata: OrderedDict[str, dict[str, Any]]


class Stateful(Tree):
    """Saves and loads a module's state as a dictionary."""

    _version = 1  # of the layout of this class's state
    _non_persistent_buffers_set: set[str]
    _state_dict_pre_hooks: dict[int, Callable[..., Any]]
    _state_dict_hooks: dict[int, Callable[..., Any]]
    _load_state_dict_pre_hooks: dict[int, Callable[..., Any]]
    _load_state_dict_post_hooks: dict[int, Callable[..., Any]]

    def get_extra_state(self) -> Any:
        """State other than parameters and buffers; for classes to override, together with `set_extra_state`."""
        raise RuntimeError("Reached a code path in Module.get_extra_state() that should never be called")

    def set_extra_state(self, state: Any) -> None:
        """Restore the result of `get_extra_state`."""
        raise RuntimeError("Reached a code path in Module.set_extra_state() that should never be called")

    def _has_extra_state(self, method: str) -> bool:
        return getattr(type(self), method) is not getattr(Stateful, method)

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        """Put the state of this module, without submodules, into `destination`."""
        for name, value in self._own_state():
            if value is not None:
                destination[prefix + name] = value if keep_vars else value.detach()
        if self._has_extra_state("get_extra_state"):
            destination[f"{prefix}_extra_state"] = self.get_extra_state()

    def _own_state(self) -> list[tuple[str, gs.Tensor | None]]:
        buffers = [(name, value) for name, value in self._buffers.items() if name not in self._non_persistent_buffers_set]
        return [*self._parameters.items(), *buffers]

    def state_dict(self, *, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> StateDict:
        """Parameters and persistent buffers by their paths; they share the module's memory.

        Parameters
        ----------
        destination : dict, optional
            The dictionary to add to.
        prefix : str
            Prefix of each path.
        keep_vars : bool
            Whether to return the tensors themselves instead of detached ones.

        Returns
        -------
        dict of str to Tensor
        """
        if destination is None:
            destination = StateDict()
            destination._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, child in self._modules.items():
            if child is not None:
                child.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            changed = hook(self, destination, prefix, metadata)
            if changed is not None:
                destination = changed
        return destination

    def _load_from_state_dict(
        self,
        state_dict: Mapping[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Load the state of this module, without submodules; keys and shapes that do not fit are added to the lists."""
        assign = local_metadata.get("assign_to_params_buffers", False)
        own = self._own_state()
        for name, held in own:
            key = prefix + name
            if held is None:
                continue
            if key not in state_dict:
                if strict:
                    missing_keys.append(key)
                continue
            message = self._take(name, held, key, state_dict[key], assign)
            if message:
                error_msgs.append(message)
        extra = f"{prefix}_extra_state"
        if self._has_extra_state("set_extra_state"):
            if extra in state_dict:
                self.set_extra_state(state_dict[extra])
            elif strict:
                missing_keys.append(extra)
        elif strict and extra in state_dict:
            unexpected_keys.append(extra)
        if strict:
            known = {name for name, held in own if held is not None}
            for key in state_dict:
                if key.startswith(prefix) and key != extra:
                    name, *deeper = key[len(prefix) :].split(".", 1)
                    if deeper and name not in self._modules or not deeper and name not in known:
                        unexpected_keys.append(key)

    def _take(self, name: str, held: gs.Tensor, key: str, value: Any, assign: bool) -> str | None:
        """Load one tensor of a state; returns an error message, or None."""
        if not isinstance(value, (gs.Tensor, np.ndarray)) and not hasattr(value, "__array__"):
            return (f'While copying the parameter named "{key}", expected a Tensor or an array from checkpoint but received '
                    f"{type(value).__name__}")  # fmt: skip
        found = value if isinstance(value, gs.Tensor) else gs.asarray(np.asarray(value))
        if found.shape == (1,) and held.ndim == 0 and not assign:
            found = found[0]
        if found.shape != held.shape:
            return (f"size mismatch for {key}: copying a param with shape {tuple(found.shape)} from checkpoint, the shape in "
                    f"current model is {tuple(held.shape)}.")  # fmt: skip
        with gs.no_grad():
            if not assign:
                held.copy_(found.astype(held.dtype))
            elif isinstance(held, Parameter):
                found = found if isinstance(found, Parameter) else Parameter(found, found.requires_grad or held.requires_grad)
                setattr(self, name, found)
            else:
                setattr(self, name, found)
        return None

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> IncompatibleKeys:
        """Copy named tensors into parameters and buffers.

        Parameters
        ----------
        state_dict : mapping of str to Tensor, ndarray or tensor of another library
        strict : bool
            Whether missing or unexpected keys are an error.
        assign : bool
            Whether the given tensors, with their dtypes, replace the parameters.

        Returns
        -------
        named tuple
            `missing_keys` and `unexpected_keys`.

        Raises
        ------
        RuntimeError
            Shapes differ, or keys if `strict`.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        metadata = getattr(state_dict, "_metadata", None)
        state, missing, unexpected, errors = OrderedDict(state_dict), [], [], []  # type: ignore[var-annotated]

        def load(module: Stateful, part: Mapping[str, Any], prefix: str) -> None:
            local = dict({} if metadata is None else metadata.get(prefix[:-1], {}))
            if assign:
                local["assign_to_params_buffers"] = True
            for hook in module._load_state_dict_pre_hooks.values():
                hook(module, part, prefix, local, True, missing, unexpected, errors)
            module._load_from_state_dict(part, prefix, local, True, missing, unexpected, errors)
            below: dict[str, dict[str, Any]] = {name: {} for name in module._modules}
            for key, value in part.items():
                name, deeper, _ = key[len(prefix) :].partition(".")
                if deeper and name in below and key.startswith(prefix):
                    below[name][key] = value
            for name, child in module._modules.items():
                if child is not None:
                    load(child, below.get(name, {}), f"{prefix}{name}.")
            keys = IncompatibleKeys(missing, unexpected)
            for hook in module._load_state_dict_post_hooks.values():
                hook(module, keys)

        load(self, state, "")
        wrong = (("Missing", missing), ("Unexpected", unexpected)) if strict else ()
        said = [f"{title} key(s) in state_dict: {', '.join(map(quoted, keys))}. " for title, keys in wrong if keys] + errors
        if said:
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(said))
        return IncompatibleKeys(missing, unexpected)

    # Hooks.

    def register_state_dict_pre_hook(self, hook: Callable[[Module, str, bool], None]) -> RemovableHandle:
        """Call `hook(module, prefix, keep_vars)` before the state of this module is collected."""
        return RemovableHandle(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata)`, which returns None, after the state of this module is collected."""
        checked = functools.partial(returning_none, hook) if callable(hook) else hook
        return RemovableHandle(self._state_dict_hooks, checked)

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Like `register_state_dict_post_hook`, but a dictionary that the hook returns replaces the state."""
        return RemovableHandle(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)` first."""
        return RemovableHandle(self._load_state_dict_pre_hooks, hook)

    def _register_load_state_dict_pre_hook(self, hook: Callable[..., None], with_module: bool = False) -> RemovableHandle:
        """Like `register_load_state_dict_pre_hook`, but the hook does not get the module unless `with_module`."""
        called = hook if with_module or not callable(hook) else functools.partial(without_module, hook)
        return RemovableHandle(self._load_state_dict_pre_hooks, called)

    def register_load_state_dict_post_hook(self, hook: Callable[[Module, IncompatibleKeys], None]) -> RemovableHandle:
        """Call `hook(module, incompatible_keys)` after loading; it may change the lists of keys."""
        return RemovableHandle(self._load_state_dict_post_hooks, hook)


def returning_none(hook: Callable[..., Any], *args: Any) -> None:
    """Call a hook, and refuse a result, which would have no effect in a module inside of another."""
    if hook(*args) is not None:
        raise RuntimeError("state_dict post-hook must return None: change the dictionary that it gets")


def without_module(hook: Callable[..., None], module: Module, *args: Any) -> None:
    hook(*args)


def quoted(key: str) -> str:
    return f'"{key}"'
