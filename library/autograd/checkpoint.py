"""Checkpointing: keep only the inputs of a part of the graph, and recompute its saved values when backward needs them.

Holds the recomputed regions and the placeholders of their saved values, and checks that both runs save the same.  Built on
saved-tensor hooks; the reentrant kind is built on a custom Function.  Depends on the engine only for the identity of the running
pass.
"""

import contextlib
import warnings
import weakref
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import gradspec  # noqa: F401 (waits for it)

from ..core.conversion import tensor
from ..core.events import span
from ..core.grad_mode import enable_grad, is_grad_enabled, no_grad
from ..core.tensor import TensorBase
from ..engine.backward import backward
from ..engine.engine import current_graph_task_id, queue_callback, runs_everything
from ..engine.function import Function
from ..methods.dual_level import innermost_level
from ..saved.saved_tensors_hooks import saved_tensors_hooks
from ..support.dispatch import ops
from ..support.generator import as_generator, numpy_random
from ..support.lazy_import import answer
from ..support.pytree import flatten, rebuild
from ..transforms.batching.batched_backward import is_mapped, outside, stand_for_series
from ..transforms.batching.level_tensor import without_graph
from .checkpoint_settings import GraphExecGroup, set_checkpoint_debug_enabled, set_checkpoint_early_stop
from .mutation import SavedValues, watching

__all__ = ["CheckpointError", "GraphExecGroup", "checkpoint", "checkpoint_sequential", "noop_context_fn",
           "set_checkpoint_debug_enabled", "set_checkpoint_early_stop"]  # fmt: skip
answer(__name__)

CHECKS = ("default", "none")
NO_CHOICE = (
    "checkpoint: the use_reentrant parameter should be passed explicitly. use_reentrant=False is recommended; without it the "
    "default is use_reentrant=True, as in PyTorch."
)


class CheckpointError(RuntimeError):
    """A checkpointed function behaved differently when it was called again."""


class _Stop(BaseException):
    """Ends a second run that has all needed values; a BaseException, so that no `except Exception` of the user catches it."""

    def __init__(self, run):
        self.run = run


def noop_context_fn() -> tuple[Any, Any]:
    """Two context managers that do nothing."""
    return contextlib.nullcontext(), contextlib.nullcontext()


def checkpoint(
    function: Callable[..., Any], *args: Any, use_reentrant: bool | None = None,
    context_fn: Callable[[], tuple[Any, Any]] = noop_context_fn, determinism_check: str = "default", debug: bool = False,
    early_stop: bool = True, preserve_rng_state: bool = True, **kwargs: Any,
) -> Any:  # fmt: skip
    """Call a function without keeping the values that its operators save; backward calls the function again.

    Parameters
    ----------
    function : callable
        Must do the same in both calls.
    *args, **kwargs
        Arguments of `function`; keywords only without `use_reentrant`.
    use_reentrant : bool
        False: the graph is recorded as usual, and saved values are recomputed when they are first needed.  True: the function is
        one node, whose backward calls `backward`.  This requires an argument with requires_grad, and does not work with `grad` or
        `inputs=`.
    context_fn : callable
        Returns two context managers, for the two calls.
    determinism_check : {"default", "none"}
        Whether to compare the shapes and dtypes of the values that the two calls save.
    debug : bool
        List in errors the values saved in both calls.
    early_stop : bool
        End the second call as soon as everything has been saved again.
    preserve_rng_state : bool
        Use the same random numbers in the second call, from the default generator and from generators among the arguments.

    Returns
    -------
    The result of `function`.

    Examples
    --------
    >>> x = gs.ones((3,), requires_grad=True)
    >>> y = gs.utils.checkpoint.checkpoint(lambda x: gs.exp(gs.sin(x)), x, use_reentrant=False)
    >>> y.sum().backward()
    """
    if use_reentrant is None:
        warnings.warn(NO_CHOICE, stacklevel=2)
        use_reentrant = True
    if determinism_check not in CHECKS:
        raise ValueError(f"determinism_check should be one of {list(CHECKS)} but got {determinism_check}")
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not noop_context_fn or debug:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        if not is_mapped():  # a batched pass calls no pass of single rows
            return _reentrant(function, args, preserve_rng_state)
    forward_context, second_context = context_fn()
    if not is_grad_enabled() or stand_for_series(flatten((args, kwargs))[0]):
        with forward_context:
            return function(*args, **kwargs)
    region = _Region(function, args, kwargs, second_context, preserve_rng_state)
    region.early_stop = set_checkpoint_early_stop.or_else(early_stop)
    region.check, region.debug = determinism_check == "default", set_checkpoint_debug_enabled.or_else(debug)
    with saved_tensors_hooks(region.pack, _unpack), forward_context:
        result = function(*args, **kwargs)
    region.complete = True
    return result


def checkpoint_sequential(
    functions: Iterable[Callable[..., Any]], segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """Call functions one after the other, checkpointing all but the last segment.

    Parameters
    ----------
    functions : sequence of callable
        Each takes the result of the previous one.
    segments : int
        Number of parts to divide them into; each part keeps its input.
    input
        Input of the first function.
    use_reentrant, preserve_rng_state
        As for `checkpoint`.

    Returns
    -------
    The result of the last function.
    """
    if use_reentrant is None:
        warnings.warn(NO_CHOICE, stacklevel=2)
        use_reentrant = True
    unknown = set(kwargs) - {"preserve_rng_state"}
    if unknown:
        raise ValueError("Unexpected keyword arguments: " + ",".join(sorted(unknown)))
    functions = list(functions)
    if not 1 <= segments <= max(1, len(functions)):
        raise ValueError(f"checkpoint_sequential: segments must be between 1 and {len(functions)}, got {segments}")

    def run(part):
        def through(value):
            for function in part:
                value = function(value)
            return value

        return through

    size = len(functions) // segments
    for start in range(0, size * (segments - 1), size):
        input = checkpoint(run(functions[start : start + size]), input, use_reentrant=use_reentrant, **kwargs)
    return run(functions[size * (segments - 1) :])(input)


# Without reentrance.


class _Inputs(Function):
    """Keeps tensors like any node keeps its saved values: with a version, and through the hooks of an outer block."""

    pure = True

    @staticmethod
    def forward(ctx, marker, *tensors):
        ctx.save_for_backward(*tensors)
        return marker.copy()

    @staticmethod
    def jvp(ctx, *tangents):
        return None


def _save(tensors):
    """The node that keeps the tensors."""
    return _Inputs.apply(tensor(0.0, requires_grad=True), *tensors).grad_fn


class _Slot:
    """A placeholder for a saved value in a node: the region, and the index of the value."""

    __slots__ = ("__weakref__", "index", "region")

    def __init__(self, region, index):
        self.region, self.index = region, index


class _Region:
    """One call of a checkpointed function."""

    def __init__(self, function, args, kwargs, second_context, preserve_rng_state):
        leaves, form = flatten((args, kwargs))
        self.function, leaves = outside(partial(_call, function, form), leaves)
        self.places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, TensorBase)]
        self.inputs = _save([leaves[i] for i in self.places]) if self.places else None
        self.needs = [leaves[i].requires_grad for i in self.places]
        self.leaves = [None if isinstance(leaf, TensorBase) else leaf for leaf in leaves]
        self.second_context = second_context
        self.generators = _generators(leaves) if preserve_rng_state else {}
        self.complete, self.levels = False, innermost_level()
        self.slots, self.saved = [], []  # weak references to slots; shape and dtype of their saved values
        self.runs = weakref.WeakValueDictionary()  # by backward pass, which keeps them alive

    def pack(self, value):
        slot = _Slot(self, len(self.slots))
        self.slots.append(weakref.ref(slot))
        self.saved.append((value.shape, value.dtype))
        return slot

    def lost_levels(self):
        """An addition to a message, if the first run computed tangents that the second cannot compute."""
        if self.levels <= innermost_level():
            return ""
        return (f"\nThe forward ran inside {self.levels} dual level(s), as func.jvp and func.jacfwd open them, and backward runs "
                f"when {innermost_level()} are open: the recomputation has no tangents. Reverse mode over forward mode cannot go "
                "through this checkpoint; forward mode over reverse mode can, as func.jacfwd(func.jacrev(f)) has it.")

    def run(self):
        """The second run of the current pass, or of the group of passes around it; a new run outside of any pass."""
        group, task = GraphExecGroup._current(), current_graph_task_id()
        if group is not None:
            return group._run_of(self)
        if task == -1:
            return self.second_run()
        run = self.runs.get(task)
        if run is None:
            run = self.runs[task] = self.second_run()
            queue_callback(run.over)
        return run

    def second_run(self):
        run = _Run(self)
        leaves = list(self.leaves)
        for place, needs, value in zip(self.places, self.needs, self.inputs.saved_tensors if self.places else ()):
            if needs and not value.requires_grad:  # frozen since then; its operators must save the same values as before
                with no_grad():
                    value = (ops.copy(value) if innermost_level() else without_graph(value)).requires_grad_()
            leaves[place] = value
        now = {generator: generator.bit_generator.state for generator in self.generators}
        for generator, state in self.generators.items():
            generator.bit_generator.state = state
        try:
            with (span("checkpoint"), enable_grad(), watching(run.values), self.second_context,
                  saved_tensors_hooks(run.pack, lambda value: value)):  # fmt: skip
                self.function(leaves)
        except _Stop as stop:
            if stop.run is not run:
                raise
        finally:
            for generator, state in now.items():
                generator.bit_generator.state = state
        run.compare()
        return run


def _call(function, form, leaves):
    args, kwargs = rebuild(form, leaves)
    return function(*args, **kwargs)


class _Run:
    """The saved values of a region's second run, until they are taken."""

    def __init__(self, region):
        self.region, self.values = weakref.ref(region), SavedValues()
        self.saved, self.handles, self.extra = [], {}, False

    def over(self):
        """Called by the engine; keeps this object alive until the pass ends.  A pass that fails drops its callbacks."""

    def pack(self, value):
        region, index = self.region(), len(self.saved)
        self.saved.append((value.shape, value.dtype))
        if index >= len(region.slots):
            if region.complete:
                raise CheckpointError("checkpoint: trying to save more tensors during recomputation than during the original "
                                      f"forward pass.{self.listing()}")  # fmt: skip
            self.extra = True  # the function differentiates inside, during its first run
            return value
        if region.slots[index]() is not None:
            self.handles[index] = self.values.pack(value)
        if region.early_stop and len(self.saved) == len(region.slots):
            raise _Stop(self)
        return value

    def compare(self):
        """Refuse a second run that saved other values than the first."""
        region = self.region()
        if self.extra:
            return
        if len(self.saved) != len(region.slots):
            raise CheckpointError("checkpoint: A different number of tensors was saved during the original forward and "
                                  f"recomputation.\nNumber of tensors saved during forward: {len(region.slots)}\nNumber of "
                                  f"tensors saved during recomputation: {len(self.saved)}{self.listing()}{region.lost_levels()}"
                                  )  # fmt: skip
        wrong = [i for i in self.handles if self.saved[i] != region.saved[i]] if region.check else ()
        if wrong:
            places = [f"tensor at position {i}:\nsaved metadata: {_shown(region.saved[i])}\n"
                      f"recomputed metadata: {_shown(self.saved[i])}" for i in wrong]  # fmt: skip
            raise CheckpointError("checkpoint: Recomputed values for the following tensors have different metadata than during "
                                  "the forward pass.\n" + "\n".join(places) + self.listing())  # fmt: skip

    def listing(self):
        region = self.region()
        if not region.debug:
            return "\nTo see all that was saved, pass debug=True to checkpoint."
        runs = (("forward", region.saved), ("recomputation", self.saved))
        listed = "".join(f"\nsaved during {name}:\n  " + "\n  ".join(map(_shown, saved)) for name, saved in runs)
        return f"\nYou are seeing this error because you passed `debug=True` to checkpoint, which lists{listed}"

    def take(self, index):
        handle = self.handles.pop(index, None)
        if handle is None:
            raise CheckpointError("checkpoint: Unpack is being triggered for a tensor that was already unpacked once. "
                                  + GraphExecGroup._advice())  # fmt: skip
        return self.values.unpack(handle)


def _shown(saved):
    shape, dtype = saved
    return f"{{'shape': {list(shape)}, 'dtype': {dtype}}}"


def _unpack(slot):
    return slot.region.run().take(slot.index)


def _generators(leaves):
    """Generators that the function may use, and their states."""
    generators = [as_generator(None, "checkpoint", "generator")]
    generators += [leaf for leaf in leaves if isinstance(leaf, numpy_random().Generator)]
    return {generator: generator.bit_generator.state for generator in generators}


# With reentrance.


def _reentrant(function, args, preserve_rng_state):
    if is_grad_enabled() and not any(isinstance(arg, TensorBase) and arg.requires_grad for arg in args):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", stacklevel=3)
    return _Reentrant.apply(function, preserve_rng_state, *args)


class _Reentrant(Function):
    """A function as one node."""

    @staticmethod
    def forward(ctx, function, preserve_rng_state, *args):
        ctx.function, ctx.generators = function, _generators(args) if preserve_rng_state else {}
        ctx.places = [i for i, arg in enumerate(args) if isinstance(arg, TensorBase)]
        ctx.arguments = [None if isinstance(arg, TensorBase) else arg for arg in args]
        ctx.save_for_backward(*[args[i] for i in ctx.places])
        ctx.set_materialize_grads(False)
        return function(*args)

    @staticmethod
    def backward(ctx, *grads):
        if not runs_everything():
            raise RuntimeError("When use_reentrant=True, checkpoint like torch.utils.checkpoint is incompatible with .grad() or "
                               "passing an `inputs` parameter to .backward(). To resolve this error, you can either set "
                               "use_reentrant=False, or call .backward() without passing the `inputs` argument.")  # fmt: skip
        args = list(ctx.arguments)
        for place, value in zip(ctx.places, ctx.saved_tensors):
            args[place] = value.detach().requires_grad_(value.requires_grad)
        now = {generator: generator.bit_generator.state for generator in ctx.generators}
        for generator, state in ctx.generators.items():
            generator.bit_generator.state = state
        try:
            with span("checkpoint"), enable_grad():
                outputs = ctx.function(*args)
        finally:
            for generator, state in now.items():
                generator.bit_generator.state = state
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        pairs = [(output, grad) for output, grad in zip(outputs, grads)
                 if isinstance(output, TensorBase) and output.requires_grad and grad is not None]  # fmt: skip
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        backward([output for output, _ in pairs], [grad for _, grad in pairs])
        return None, None, *[arg.grad if isinstance(arg, TensorBase) else None for arg in args]
