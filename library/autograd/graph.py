"""The graph for users: nodes and edges, the values that nodes save, hooks on several gradients, and version counters.

Implements `save_on_cpu` and `save_to_disk`, hooks on several gradients and the contexts for version counters; the other names are
imported.
"""

import collections.abc
import contextlib
import functools
import os
import weakref
from typing import Any

import numpy as np

import gradspec  # noqa: F401 (waits for it)

from ..core import node as _node
from ..core.conversion import asarray
from ..core.grad_mode import set_mutation_on_saved_tensors
from ..core.increment_version import increment_version, set_version
from ..core.tensor import TensorBase
from ..engine.backward import GradientEdge, get_gradient_edge
from ..engine.engine import (
    current_graph_task_execution_order,
    current_graph_task_id,
    current_graph_task_keep_graph,
    queue_callback,
    will_engine_execute_node,
)
from ..saved.saved_tensors_hooks import disable_saved_tensors_hooks, saved_tensors_hooks
from ..support.lazy_import import answer
from .graph_drawing import Picture, make_dot
from .mutation import allow_mutation_on_saved_tensors
from .saved_memory import SavedArray, SavedMemory, saved_memory

__all__ = [
    "GradientEdge", "Node", "Picture", "SavedArray", "SavedMemory", "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks", "get_gradient_edge", "increment_version", "make_dot", "register_multi_grad_hook",
    "save_on_cpu", "save_to_disk", "saved_memory", "saved_tensors_hooks", "set_mutation_on_saved_tensors",
]  # fmt: skip
answer(__name__)


class _VirtualBase(type):
    """Treats every node as an instance, and every class of nodes as a subclass, although no class inherits from it."""

    def __instancecheck__(cls, instance):
        return isinstance(instance, _node.Node)

    def __subclasscheck__(cls, subclass):
        return subclass is cls or issubclass(subclass, _node.Node)


class Node(metaclass=_VirtualBase):
    """The abstract class of all nodes of a graph: of operators, of custom Functions, and nodes that accumulate gradients.

    Only for `isinstance`: operations create nodes, and an extension derives its own class from the one in `gradspec.core.node`.

    Parameters
    ----------
    *args, **kwargs
        Any call is a TypeError.
    """

    def __new__(cls, *args, **kwargs):
        raise TypeError(f"cannot create '{cls.__name__}' instances: nodes are made by operations")


# Functions about the running backward pass, under PyTorch's names.
_current_graph_task_id = current_graph_task_id
_current_graph_task_execution_order = current_graph_task_execution_order
_get_current_graph_task_keep_graph = current_graph_task_keep_graph
_will_engine_execute_node = will_engine_execute_node


# Saved tensors.


class _File:
    """A file that is removed with the last reference to this object, or at the end of the process."""

    def __init__(self, directory, array):
        import tempfile  # imported only when needed

        self.shape, self.dtype = array.shape, array.dtype
        handle, self.path = tempfile.mkstemp(prefix="gradspec-", dir=directory)
        self._remove = weakref.finalize(self, _remove, self.path)
        with open(handle, "wb") as file:
            file.write(array.tobytes())

    def array(self):
        return np.fromfile(self.path, self.dtype).reshape(self.shape)


def _remove(path):
    with contextlib.suppress(FileNotFoundError):
        os.remove(path)


class save_on_cpu(saved_tensors_hooks):
    """PyTorch's block that keeps saved tensors in CPU memory.  All tensors already are: nothing moves.

    Parameters
    ----------
    pin_memory : bool
        No effect here.
    device_type : str
        No effect here.

    Examples
    --------
    >>> x = gs.ones((3,), requires_grad=True)
    >>> with gs.autograd.graph.save_on_cpu():
    ...     y = (x * x).sum()
    >>> y.backward()
    >>> x.grad
    tensor([2., 2., 2.])
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(_same, _same)


def _same(tensor):
    return tensor


class save_to_disk(saved_tensors_hooks):
    """Keep the values that the graph saves inside the block in temporary files, and read them when backward needs them.

    A file is removed when backward has freed the graph, or the graph is gone.

    Parameters
    ----------
    directory : str, optional
        Directory of the files; by default the system's directory for temporary files, which may be in memory.

    Examples
    --------
    >>> x = gs.ones((1000,), requires_grad=True)
    >>> with gs.autograd.graph.save_to_disk():
    ...     y = gs.exp(x).sum()
    >>> y.backward()
    """

    def __init__(self, directory: str | None = None) -> None:
        def pack(tensor):
            return _File(directory, tensor.numpy())

        def unpack(file):
            return asarray(file.array())

        super().__init__(pack, unpack)


# Hooks on several gradients.


class _Handles:
    """Removes the hooks of several tensors; also a context manager that does so on exit."""

    def __init__(self, handles):
        self.handles = tuple(handles)

    def remove(self) -> None:
        """Remove the hooks; calling it twice has no effect."""
        for handle in self.handles:
            handle.remove()

    def __enter__(self) -> "_Handles":
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.remove()


class _Pass:
    """State of a hook on several gradients during one backward pass, which keeps this object alive until it ends."""

    def __init__(self, count):
        self.gradients, self.arrived, self.expected = [None] * count, 0, None

    def over(self):
        """Called by the engine; keeps this object alive until the pass ends.  A pass that fails drops its callbacks."""


class _Passes:
    """The `_Pass` of each running backward pass."""

    def __init__(self, count):
        self.count, self.running = count, weakref.WeakValueDictionary()

    def current(self):
        """The `_Pass` of the running pass, and whether it is new."""
        task = current_graph_task_id()
        found = self.running.get(task)
        if found is not None:
            return found, False
        found = self.running[task] = _Pass(self.count)
        queue_callback(found.over)
        return found, True


def register_multi_grad_hook(
    tensors: collections.abc.Sequence[Any], fn: collections.abc.Callable[..., Any], *, mode: str = "all"
) -> _Handles:
    """Call a function once in each backward pass, with the gradients of several tensors.

    Parameters
    ----------
    tensors : sequence of Tensor
    fn : callable
        With mode "all" it is called when all gradients have arrived, with their list; a tensor that the pass does not reach has
        None.  With mode "any" it is called with the first gradient that arrives.  Its result is ignored.
    mode : {"all", "any"}

    Returns
    -------
    handle
        Its `remove()` removes the hook; it is also a context manager.
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    tensors = (tensors,) if isinstance(tensors, TensorBase) else tuple(tensors)
    passes = _Passes(len(tensors))
    if mode == "any":

        def first(gradient):
            if gradient is None:  # another output of the same node has a gradient
                return
            _, new = passes.current()
            if new:
                fn(gradient)

        return _Handles([tensor.register_hook(first) for tensor in tensors if tensor.requires_grad])

    edges = [get_gradient_edge(tensor) for tensor in tensors]

    def arrive(index, gradient):
        state, new = passes.current()
        if new:
            state.expected = sum(will_engine_execute_node(edge.node) for edge in edges)
        state.gradients[index] = gradient
        state.arrived += 1
        if state.arrived == state.expected:
            fn(state.gradients)

    return _Handles([tensor.register_hook(functools.partial(arrive, i)) for i, tensor in enumerate(tensors)])


# Version counters.


class _unsafe_preserve_version_counter:
    """Leave in-place writes inside the block uncounted: backward will not notice them.

    Parameters
    ----------
    tensors : Tensor, or tuple of them
    """

    def __init__(self, tensors):
        self.tensors = (tensors,) if isinstance(tensors, TensorBase) else tuple(tensors)
        self.versions = tuple([tensor._version for tensor in self.tensors])

    def __enter__(self):
        pass

    def __exit__(self, *exc_info):
        _unsafe_set_version_counter(self.tensors, self.versions)


def _unsafe_set_version_counter(tensors, versions):
    """Set the version counters of some tensors, which are shared with their views.

    Parameters
    ----------
    tensors : Tensor, or sequence of them
    versions : int, or sequence of them
    """
    tensors = (tensors,) if isinstance(tensors, TensorBase) else tuple(tensors)
    versions = tuple(versions) if isinstance(versions, collections.abc.Iterable) else (versions,)
    if len(tensors) != len(versions):
        raise ValueError(f"expected a version for each tensor, got {len(versions)} for {len(tensors)}")
    for tensor, version in zip(tensors, versions):
        set_version(tensor, version)
