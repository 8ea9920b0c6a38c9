"""Hooks of modules: functions that run before and after a forward, and before and after a module's part of a backward pass.

Registers them, decides their order, and inserts identity nodes at both ends of a module's graph, which run the backward hooks.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import gradspec as gs

from ...engine.engine import current_graph_task_id, queue_callback
from ...support.hooks import RemovableHandle

Hook = Callable[..., Any]


class Hooks(NamedTuple):
    """The hooks of one module, or of all modules; each dictionary is in the order of calls."""

    before: dict[int, Hook]
    after: dict[int, Hook]
    backward_before: dict[int, Hook]
    backward: dict[int, Hook]

    @classmethod
    def none(cls) -> Hooks:
        return cls({}, {}, {}, {})

    def any(self) -> bool:
        return bool(self.before or self.after or self.backward_before or self.backward)


EVERYWHERE = Hooks.none()  # hooks of all modules, which run before a module's own; its dictionaries are never replaced


class Registrations(NamedTuple):
    """The hooks that run when a module registers a buffer, a parameter or a submodule."""

    buffer: dict[int, Hook]
    parameter: dict[int, Hook]
    module: dict[int, Hook]


REGISTRATIONS = Registrations({}, {}, {})  # hooks of all modules; like EVERYWHERE never replaced


def registered(hooks: dict[int, Hook], module: Any, name: str, value: Any) -> Any:
    """The value to register under a name, after the hooks of its kind."""
    for hook in hooks.values():
        changed = hook(module, name, value)
        if changed is not None:
            value = changed
    return value


class BackwardHookFunction(gs.autograd.Function):
    """Identity with its own node, which marks the beginning or the end of a module's graph."""

    pure = True
    generate_vmap_rule = True

    @staticmethod
    def forward(*tensors: gs.Tensor) -> tuple[gs.Tensor, ...]:
        return tensors

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[gs.Tensor, ...], output: tuple[gs.Tensor, ...]) -> None:
        ctx.mark_non_differentiable(*(out for tensor, out in zip(inputs, output) if not tensor.requires_grad))

    @staticmethod
    def backward(ctx: Any, *grads: gs.Tensor) -> tuple[gs.Tensor, ...]:
        return grads

    @staticmethod
    def jvp(ctx: Any, *tangents: gs.Tensor | None) -> tuple[gs.Tensor | None, ...]:
        return tangents


class Boundary:
    """Passes the tensors among some values through one node: a backward pass enters or leaves a module there.

    Parameters
    ----------
    values : tuple
        The arguments or the results of a module.

    Attributes
    ----------
    values : tuple
        The same type, with the tensors that the node returned.
    node : Node or None
        None if nothing is recorded.
    """

    def __init__(self, values: tuple[Any, ...]) -> None:
        self.values, self.count, self.node = values, len(values), None
        self.places = [place for place, value in enumerate(values) if isinstance(value, gs.Tensor)]
        tensors = [values[place] for place in self.places]
        if not gs.is_grad_enabled() or not any(tensor.requires_grad for tensor in tensors):
            return
        self.kinds = [(tensor.shape, tensor.dtype) for tensor in tensors]
        found = BackwardHookFunction.apply(*tensors)
        changed = list(values)
        for place, tensor in zip(self.places, found):
            changed[place] = tensor
        self.node = next(tensor.grad_fn for tensor in found if tensor.requires_grad)
        kind: Any = type(values)
        self.values = kind(*changed) if hasattr(kind, "_fields") else kind(changed)

    def spread(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        """Gradients at the positions of their tensors, None for other values."""
        values: list[Any] = [None] * self.count
        for place, grad in zip(self.places, grads):
            values[place] = grad
        return tuple(values)

    def filled(self, grads: tuple[Any, ...]) -> tuple[gs.Tensor, ...]:
        """Replace missing gradients by zeros: hooks receive a tensor for each tensor."""
        return tuple(gs.zeros(shape, dtype=dtype) if grad is None else grad for grad, (shape, dtype) in zip(grads, self.kinds))

    def gathered(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(values[place] for place in self.places)


class Pass:
    """The gradients of a module's results in one backward pass, kept alive by the pass's callbacks alone."""

    def __init__(self, grad_output: tuple[Any, ...]) -> None:
        self.grad_output = grad_output

    def over(self) -> None:
        """Called by the engine at the end of the pass; keeps this object alive until then."""


class Backward:
    """The backward hooks of one call of a module.

    They run when a pass leaves the module by its arguments, if the same pass has entered by its results.  A second derivative, or
    the gradient of a value that was stored in the forward, reaches the arguments only and calls no hook.
    """

    def __init__(self, module: Any, before: list[Hook], after: list[Hook]) -> None:
        self.module, self.before, self.after = module, before, after
        self.passes: weakref.WeakValueDictionary[int, Pass] = weakref.WeakValueDictionary()

    def enter(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments, passed through the node that a backward pass reaches when it leaves the module."""
        self.args = Boundary(args)
        if self.args.node is not None:
            self.args.node.register_hook(self.left)
        return self.args.values

    def leave(self, result: Any) -> Any:
        """The result, passed through the node that a backward pass reaches when it enters the module."""
        if not isinstance(result, (gs.Tensor, tuple)):
            warnings.warn("For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but received "
                          f"{type(result)}", stacklevel=4)  # fmt: skip
        self.results = Boundary(result if isinstance(result, tuple) else (result,))
        if self.results.node is not None:
            self.results.node.register_hook(self.entered)
        return self.results.values if isinstance(result, tuple) else self.results.values[0]

    def entered(self, passed_on: tuple[Any, ...], arrived: tuple[Any, ...]) -> tuple[Any, ...]:
        found = self.results.spread(arrived)
        for hook in self.before:
            changed = hook(self.module, found)
            if changed is not None:
                found = checked(changed, self.results.count, "Backward pre hook returned an invalid number of grad_output")
        if self.args.node is None:
            self.without_inputs(found)
        else:
            running = self.passes[current_graph_task_id()] = Pass(found)
            queue_callback(running.over)
        return self.results.gathered(found)

    def left(self, passed_on: tuple[Any, ...], _: Any) -> tuple[Any, ...] | None:
        running = self.passes.pop(current_graph_task_id(), None)
        if running is None:
            return None
        found, grad_output = self.args.spread(self.args.filled(passed_on)), running.grad_output
        running.grad_output = ()
        for hook in self.after:
            changed = hook(self.module, found, grad_output)
            if changed is not None:
                found = checked(changed, self.args.count, "Backward hook returned an invalid number of grad_input")
        return tuple(None if old is None else new for old, new in zip(passed_on, self.args.gathered(found)))

    def without_inputs(self, grad_output: tuple[Any, ...]) -> None:
        if self.after:
            warnings.warn("Full backward hook is firing when gradients are computed with respect to module outputs since no "
                          f"inputs of {type(self.module).__name__} require gradients", stacklevel=3)  # fmt: skip
        for hook in self.after:
            changed = hook(self.module, (None,) * self.args.count, grad_output)
            if changed is not None and not (isinstance(changed, tuple) and all(grad is None for grad in changed)):
                raise RuntimeError("Backward hook for Modules where no input requires gradient should always return None or "
                                   "None for all gradients.")  # fmt: skip


def checked(changed: Any, count: int, complaint: str) -> tuple[Any, ...]:
    """The gradients that a hook returned, checked for their number."""
    found = tuple(changed) if isinstance(changed, (tuple, list)) else (changed,)
    if len(found) != count:
        raise RuntimeError(f"{complaint}, got {len(found)}, but expected {count}")
    return found


def call(module: Any, hooks: Hooks, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run the forward of a module with its hooks.

    Parameters
    ----------
    module : Module
    hooks : Hooks
        The module's own hooks.
    args, kwargs
        The arguments of the call.

    Returns
    -------
    object
        The result of the forward, or of the last hook that returned one.
    """
    result = None
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
        args = backward.enter(args) if backward else args
        result = module.forward(*args, **kwargs)
        for number, hook in [*EVERYWHERE.after.items(), *hooks.after.items()]:
            ran.add(number)
            result = after_forward(hook, module, args, kwargs, result)
        return backward.leave(result) if backward else result
    except Exception:
        for number, hook in [*EVERYWHERE.after.items(), *hooks.after.items()]:
            if getattr(hook, "always_call", False) and number not in ran:
                try:
                    result = after_forward(hook, module, args, kwargs, result)
                except Exception as error:
                    warnings.warn("module forward hook with ``always_call=True`` raised an exception that was silenced as "
                                  f"another error was raised in forward: {error!r}", stacklevel=3)  # fmt: skip
        raise


def after_forward(hook: Hook, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Any:
    with_kwargs = getattr(hook, "with_kwargs", False)
    changed = hook(module, args, kwargs, result) if with_kwargs else hook(module, args, result)
    return result if changed is None else changed


class Flagged:
    """A hook with its options."""

    def __init__(self, hook: Hook, with_kwargs: bool, always_call: bool = False) -> None:
        self.hook, self.with_kwargs, self.always_call = hook, with_kwargs, always_call

    def __call__(self, *args: Any) -> Any:
        return self.hook(*args)


def register(hooks: dict[int, Hook], hook: Hook, prepend: bool = False) -> RemovableHandle:
    """Add a hook after the others, or before them.

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
    """Call `hook(module, args)` before the forward of each module; a result replaces the arguments."""
    return register(EVERYWHERE.before, hook)


def register_module_forward_hook(hook: Hook, *, with_kwargs: bool = False, always_call: bool = False) -> RemovableHandle:
    """Call `hook(module, args, result)` after the forward of each module; a result replaces the module's result."""
    return register(EVERYWHERE.after, Flagged(hook, with_kwargs, always_call))


def register_module_full_backward_pre_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, grad_output)` when a backward pass enters any module."""
    return register(EVERYWHERE.backward_before, hook)


def register_module_full_backward_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, grad_input, grad_output)` when a backward pass leaves any module."""
    return register(EVERYWHERE.backward, hook)


def register_module_backward_hook(hook: Hook) -> RemovableHandle:
    """`register_module_full_backward_hook`, under its former name."""
    return register_module_full_backward_hook(hook)


def register_module_buffer_registration_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, name, buffer)` when a module registers a buffer; a result replaces the buffer."""
    return register(REGISTRATIONS.buffer, hook)


def register_module_parameter_registration_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, name, parameter)` when a module registers a parameter; a result replaces the parameter."""
    return register(REGISTRATIONS.parameter, hook)


def register_module_module_registration_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, name, child)` when a module registers a submodule; a result replaces the submodule."""
    return register(REGISTRATIONS.module, hook)
