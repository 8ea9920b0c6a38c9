"""Hooks of modules: what runs before and after a forward, and before and after a module's part of a backward pass.

Owns their registration and order, and the two identities that tell where a module's graph begins and ends.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import gradspec as gs

from ...support.hooks import RemovableHandle

Hook = Callable[..., Any]


class Hooks(NamedTuple):
    """The hooks of one module, or those of all modules; each dictionary is in the order in which its hooks run."""

    before: dict[int, Hook]
    after: dict[int, Hook]
    backward_before: dict[int, Hook]
    backward: dict[int, Hook]

    @classmethod
    def none(cls) -> Hooks:
        return cls({}, {}, {}, {})

    def any(self) -> bool:
        return bool(self.before or self.after or self.backward_before or self.backward)


EVERYWHERE = Hooks.none()  # those of all modules, which run before a module's own


class _Passed(gs.autograd.Function):
    """Its arguments, with a node of their own: where a module's graph begins or ends."""

    pure = True
    generate_vmap_rule = True

    @staticmethod
    def forward(*tensors: gs.Tensor) -> tuple[gs.Tensor, ...]:
        return tensors

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[gs.Tensor, ...], output: tuple[gs.Tensor, ...]) -> None:
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx: Any, *grads: gs.Tensor | None) -> tuple[gs.Tensor | None, ...]:
        return grads

    @staticmethod
    def jvp(ctx: Any, *tangents: gs.Tensor | None) -> tuple[gs.Tensor | None, ...]:
        return tangents


def passed(values: tuple[Any, ...]) -> tuple[tuple[Any, ...], Any, list[int]]:
    """Values whose tensors went through one node, that node where there is one, and the places of these tensors."""
    places = [i for i, value in enumerate(values) if isinstance(value, gs.Tensor) and value.dtype.kind in "fc"]
    if not gs.is_grad_enabled() or not any(values[i].requires_grad for i in places):
        return values, None, places
    found = _Passed.apply(*(values[i] for i in places))
    changed = list(values)
    for i, tensor in zip(places, found):
        changed[i] = tensor
    return tuple(changed), found[0].grad_fn, places


def spread(grads: tuple[Any, ...], places: list[int], count: int) -> tuple[Any, ...]:
    """Gradients at the places of the tensors that they belong to, None elsewhere."""
    values: list[Any] = [None] * count
    for i, grad in zip(places, grads):
        values[i] = grad
    return tuple(values)


class Backward:
    """The backward hooks of one call of a module."""

    def __init__(self, module: Any, before: list[Hook], after: list[Hook]) -> None:
        self.module, self.before, self.after = module, before, after
        self.grad_output: tuple[Any, ...] = ()
        self.inputs, self.has_inputs = 0, False

    def enter(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments, behind whose node a pass has left the module."""
        values, node, places = passed(args)
        self.inputs, self.has_inputs = len(args), node is not None
        if node is not None:
            node.register_hook(functools.partial(self.left, places))
        return values

    def leave(self, result: Any) -> Any:
        """The result, at whose node a pass enters the module."""
        several = isinstance(result, tuple)
        values, node, places = passed(result if several else (result,))
        if node is None:
            return result
        node.register_prehook(functools.partial(self.entered, places, len(values)))
        if not self.has_inputs:
            node.register_hook(lambda grads, _: self.without_inputs())
        return values if several else values[0]

    def entered(self, places: list[int], count: int, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        found = spread(grads, places, count)
        for hook in self.before:
            changed = hook(self.module, found)
            if changed is not None:
                found = checked(changed, count, "grad_output")
        self.grad_output = found
        return tuple(found[i] for i in places)

    def left(self, places: list[int], grads: tuple[Any, ...], _: Any) -> tuple[Any, ...]:
        found = spread(grads, places, self.inputs)
        for hook in self.after:
            changed = hook(self.module, found, self.grad_output)
            if changed is not None:
                found = checked(changed, self.inputs, "grad_input")
        return tuple(found[i] for i in places)

    def without_inputs(self) -> None:
        for hook in self.after:
            changed = hook(self.module, (None,) * self.inputs, self.grad_output)
            if changed is not None and not (isinstance(changed, tuple) and all(grad is None for grad in changed)):
                raise RuntimeError("Backward hook for Modules where no input requires gradient should always return None or "
                                   "None for all gradients.")  # fmt: skip


def checked(changed: Any, count: int, name: str) -> tuple[Any, ...]:
    """What a hook returned in the place of gradients."""
    found = changed if isinstance(changed, tuple) else (changed,)
    if len(found) != count:
        raise RuntimeError(f"Backward hook returned an invalid number of {name}, got {len(found)}, but expected {count}")
    return found


def call(module: Any, hooks: Hooks, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The forward of a module between its hooks.

    Parameters
    ----------
    module : Module
    hooks : Hooks
        Its own.
    args, kwargs
        What it is called with.

    Returns
    -------
    object
        What the forward, or the last hook that returned something, gives.
    """
    result, done = None, False
    ran: set[int] = set()
    try:
        for hook in (*EVERYWHERE.before.values(), *hooks.before.values()):
            if getattr(hook, "with_kwargs", False):
                changed = hook(module, args, kwargs)
                if changed is not None:
                    if not (isinstance(changed, tuple) and len(changed) == 2):
                        raise RuntimeError(
                            f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {changed}."
                        )
                    args, kwargs = changed
            else:
                changed = hook(module, args)
                if changed is not None:
                    args = changed if isinstance(changed, tuple) else (changed,)
        before = [*EVERYWHERE.backward_before.values(), *hooks.backward_before.values()]
        after = [*EVERYWHERE.backward.values(), *hooks.backward.values()]
        backward = Backward(module, before, after) if before or after else None
        result = module.forward(*(backward.enter(args) if backward else args), **kwargs)
        for number, hook in [*EVERYWHERE.after.items(), *hooks.after.items()]:
            ran.add(number)
            result = after_forward(hook, module, args, kwargs, result)
        result = backward.leave(result) if backward else result
        done = True
        return result
    finally:
        if not done:
            for number, hook in [*EVERYWHERE.after.items(), *hooks.after.items()]:
                if getattr(hook, "always_call", False) and number not in ran:
                    result = after_forward(hook, module, args, kwargs, result)


def after_forward(hook: Hook, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Any:
    with_kwargs = getattr(hook, "with_kwargs", False)
    changed = hook(module, args, kwargs, result) if with_kwargs else hook(module, args, result)
    return result if changed is None else changed


class Flagged:
    """A hook and how it wants to be called."""

    def __init__(self, hook: Hook, with_kwargs: bool, always_call: bool = False) -> None:
        self.hook, self.with_kwargs, self.always_call = hook, with_kwargs, always_call

    def __call__(self, *args: Any) -> Any:
        return self.hook(*args)


def register(hooks: dict[int, Hook], hook: Hook, prepend: bool = False) -> RemovableHandle:
    """Add a hook behind the others, or before them.

    Parameters
    ----------
    hooks : dict
    hook : callable
    prepend : bool

    Returns
    -------
    RemovableHandle
    """
    handle = RemovableHandle(hooks, hook)
    if prepend:
        rest = {number: other for number, other in hooks.items() if number != handle.id}
        for number in rest:
            del hooks[number]
        hooks.update(rest)
    return handle


def register_module_forward_pre_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, args)` before the forward of each module; what it returns takes the place of the arguments.

    Returns
    -------
    RemovableHandle
    """
    return register(EVERYWHERE.before, hook)


def register_module_forward_hook(hook: Hook, *, with_kwargs: bool = False, always_call: bool = False) -> RemovableHandle:
    """Call `hook(module, args, result)` behind the forward of each module; what it returns takes the place of the result.

    Returns
    -------
    RemovableHandle
    """
    return register(EVERYWHERE.after, Flagged(hook, with_kwargs, always_call))


def register_module_full_backward_pre_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, grad_output)` when a backward pass enters a module, whichever it is.

    Returns
    -------
    RemovableHandle
    """
    return register(EVERYWHERE.backward_before, hook)


def register_module_full_backward_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, grad_input, grad_output)` when a backward pass leaves a module, whichever it is.

    Returns
    -------
    RemovableHandle
    """
    return register(EVERYWHERE.backward, hook)
