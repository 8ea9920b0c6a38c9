"""Closure conversion: pass the tensors that a function closes over as further arguments.

Finds these tensors by one call, and lets a later call read other tensors instead.  It intercepts each operator at the same
point as `vmap`, in front of the wrapper, so it sees the rows of an open vmap as well.  Rules that call a function again need
both steps: without them the gradient by a tensor that the function closes over is lost, or added twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from ..core.events import current_mapping, set_mapping
from ..core.grad_mode import _set_fwd_grad_enabled, enable_grad, next_sequence_nr
from ..core.tensor import TensorBase
from ..engine import backward as engine
from ..methods.dual_level import innermost_level, is_dual, make_dual, unpack_dual
from ..support.pytree import flatten, rebuild
from ..transforms.batching.batched import innermost
from ..transforms.batching.batched_backward import bottom, entered
from ..transforms.batching.level_tensor import LevelTensor
from ..transforms.batching.vmap_levels import Mapping

__all__ = ["Watch", "closed_over", "closure_convert", "has_tangent", "recording", "taken", "with_closed"]

PLAIN = (int, float, bool, type(None), str)  # the most common types of operands other than tensors


class Reading(Mapping):
    """Replaces some operands of operators by other tensors; open vmaps stay open.

    Attributes
    ----------
    table : dict of int to (Tensor, Tensor)
        Maps the address of a tensor to the tensor and its replacement.
    outer : Reading or None
        The enclosing `Reading`, which replaces tensors after this one.
    finding : Finding or None
        The innermost enclosing `Finding`.
    """

    reads = True
    alive = 1  # `Mapping` reads it from `left`: a `Reading` is not unset when the levels inside of it are closed

    def __init__(self, outer: Any, table: dict) -> None:
        super().__init__([] if outer is None else list(outer.levels))
        self.table = table
        self.outer = outer if isinstance(outer, Reading) else None
        self.finding: Any = None if self.outer is None else self.outer.finding
        self.left: list[Any] = [self]
        self.again_asked = False

    def read(self, tensor: Any) -> Any:
        found = self.table.get(id(tensor))
        value = tensor if found is None else found[1]
        return value if self.outer is None else self.outer.read(value)

    def swapped(self, value: Any) -> Any:
        """A value with its tensors replaced; the same object if there is nothing to replace."""
        if isinstance(value, TensorBase):
            return self.read(value)
        if type(value) is tuple or type(value) is list:
            parts, changed = [], False
            for item in value:
                part = self.swapped(item) if type(item) not in PLAIN else item
                parts.append(part)
                changed = changed or part is not item
            return type(value)(parts) if changed else value
        if type(value) is slice:
            ends = (value.start, value.stop, value.step)
            parts = self.swapped(ends)
            return value if parts is ends else slice(*parts)
        return value

    def asked(self, values: Any) -> Any:
        """The operands of a wrapper, or of a pass, with their tensors replaced.

        After a replacement the wrapper is called again with the new operands; this second call returns them unchanged.
        """
        if self.again_asked:
            self.again_asked = False
            return values
        given = self.swapped(values)
        self.again_asked = given is not values
        return given

    def call(self, name: str, wrapper: Any, inputs: tuple) -> Any:
        given = self.asked(inputs)
        if given is not inputs:
            try:
                return wrapper(*given)
            finally:
                self.again_asked = False  # also after an error
        if not self.levels and innermost(inputs) is None:
            return NotImplemented
        call = super().call
        return call(name, wrapper, inputs) if self.finding is None else self.finding.noted(call, name, wrapper, inputs)

    def function(self, cls: Any, args: tuple) -> Any:
        given = self.asked(args)
        if given is not args:
            return cls.apply(*given)
        return super().function(cls, args) if self.finding is None else self.finding.noted(super().function, cls, args)

    # A function may differentiate, in its own body, by a tensor that it closes over.

    def gradient_edge(self, tensor: Any) -> Any:
        given = self.asked(tensor)
        return super().gradient_edge(tensor) if given is tensor else engine.get_gradient_edge(given)

    def backward(self, tensors: Any, grads: Any, retain_graph: Any, create_graph: bool, inputs: Any) -> Any:
        values = (tensors, grads, inputs)
        given = self.asked(values)
        if given is values:
            return super().backward(tensors, grads, retain_graph, create_graph, inputs)
        return engine.backward(given[0], given[1], retain_graph, create_graph, given[2])

    def grad(self, outputs: Any, inputs: Any, grads: Any, *how: Any) -> Any:
        values = (outputs, inputs, grads)
        given = self.asked(values)
        if given is values:
            return super().grad(outputs, inputs, grads, *how)
        return engine.grad(*given, *how)

    def make_dual(self, primal: Any, tangent: Any, level: Any) -> Any:
        values = (primal, tangent)
        given = self.asked(values)
        if given is values:
            return super().make_dual(primal, tangent, level)
        return make_dual(*given, level=level)

    def unpack_dual(self, tensor: Any, level: Any) -> Any:
        given = self.asked(tensor)
        return super().unpack_dual(tensor, level) if given is tensor else unpack_dual(given, level=level)

    def push(self, dual_level: Any, primal: Any, tangents: Any) -> Any:
        values = (primal, tangents)
        given = self.asked(values)
        if given is values:
            return super().push(dual_level, primal, tangents)
        return dual_level.push(*given)

    def again(self) -> Any:
        levels, outer = partial(entered, Mapping, list(self.levels)), self.outer

        @contextmanager
        def context() -> Iterator[None]:
            with levels() if outer is None else outer.again()(), _reading(Reading(current_mapping(), self.table)):
                yield

        return context


@contextmanager
def _reading(mapping: Any) -> Iterator[Any]:
    before = set_mapping(mapping)
    try:
        yield mapping
    finally:
        set_mapping(before)
        mapping.left = []


class Finding(Reading):
    """A call whose tensors are inspected: `found` maps addresses to the tensors that are not among its arguments."""

    def __init__(self, outer: Any, given: Iterable[Any]) -> None:
        super().__init__(outer, {})
        self.found: dict[int, Any] = {}
        self.looking, self.finding = True, self
        self.first = next_sequence_nr()
        self.made = list(given)  # keeps the tensors alive: the address of a freed tensor may be reused
        self.known = {id(tensor) for tensor in self.made}

    def read(self, tensor: Any) -> Any:
        if id(tensor) in self.known:
            return tensor
        value = tensor if self.outer is None else self.outer.read(tensor)
        if self.looking and is_wanted(value) and not self.is_new(value):
            self.found[id(tensor)] = tensor
        if value is not tensor:
            self.known.add(id(value))
            self.made.append(value)
        return value

    def is_new(self, tensor: Any) -> bool:
        """Whether a tensor was computed since the call began; the function may record and differentiate inside."""
        node = tensor.grad_fn
        return node is not None and node._sequence_nr() >= self.first

    def reached(self, outputs: list) -> set:
        """The edges from the graph of a call to older nodes, leaves included."""
        edges = [tuple(engine.get_gradient_edge(output)) for output in outputs if output.requires_grad]
        found, seen = set(edges), set()
        nodes = [node for node, _ in edges]
        while nodes:
            node = nodes.pop()
            if node in seen or node._sequence_nr() < self.first or not node.next_functions:
                continue
            seen.add(node)
            for edge in node.next_functions:
                if edge[0] is not None:
                    found.add(tuple(edge))
                    nodes.append(edge[0])
        return found

    @contextmanager
    def aside(self) -> Iterator[bool]:
        """Pause the inspection."""
        before, self.looking = self.looking, False
        try:
            yield before
        finally:
            self.looking = before

    def noted(self, call: Any, *args: Any) -> Any:
        """The outputs of a call on rows, noted as computed by the function; operators inside the call are not inspected."""
        with self.aside() as before:
            outputs = call(*args)
        for leaf in flatten(outputs)[0] if before and outputs is not NotImplemented else ():
            if isinstance(leaf, LevelTensor):
                self.made.append(leaf)
                self.known.add(id(leaf))
        return outputs


def is_wanted(tensor: Any) -> bool:
    """Whether a tensor requires grad, has a tangent, or is a row of an open vmap."""
    return tensor.requires_grad or is_moving(tensor)


def is_moving(tensor: Any) -> bool:
    """Whether a tensor is a row of an open vmap, or has a tangent."""
    if isinstance(tensor, LevelTensor):
        return tensor.level.is_open
    return has_tangent(tensor)


def has_tangent(tensor: Any) -> bool:
    """Whether a tensor, or the batch that it is a row of, has a tangent at any open level."""
    return innermost_level() > 0 and is_dual(bottom(tensor))


@contextmanager
def recording() -> Iterator[None]:
    """Enable graphs and tangents, also in the forward of a custom Function or in a pass: tensors read there are recorded."""
    with enable_grad(), _set_fwd_grad_enabled(True):
        yield


def has_way(tensor: Any, reached: set) -> bool:
    """Whether the result of the call depends on a tensor by its graph; for rows and tensors with tangents this is assumed."""
    return is_moving(tensor) or tensor.requires_grad and tuple(engine.get_gradient_edge(tensor)) in reached


def taken(tensor: Any) -> Any:
    """The replacement of a tensor (or the tensor itself), detached."""
    mapping = current_mapping()
    return (tensor if mapping is None else mapping.read(tensor)).detach()


def closed_over(f: Callable[..., Any], *args: Any) -> tuple[Any, list]:
    """Call a function, and find the differentiable tensors that it reads beside its arguments.

    Parameters
    ----------
    f : callable
        Called once, without tangents.
    *args
        Pytrees of tensors, arrays and numbers.  Their tensors are detached for the call; tensors that require grad become leaves.

    Returns
    -------
    result : nest
        The result of `f`.
    tensors : list of Tensor
        The tensors that require grad or have a tangent, and the rows of open vmaps; each once, in the order of reading.
    """
    leaves, form = flatten(args)
    given = [taken(leaf).requires_grad_(leaf.requires_grad) if isinstance(leaf, TensorBase) else leaf for leaf in leaves]
    finding = Finding(current_mapping(), [x for x in given if isinstance(x, TensorBase)])
    before = set_mapping(finding)
    try:
        with enable_grad(), _set_fwd_grad_enabled(False):
            result = f(*rebuild(form, given))
            outputs = [finding.read(leaf) for leaf in flatten(result)[0] if isinstance(leaf, TensorBase)]  # an output may be one
            if not finding.found:
                return result, []
            reached = finding.reached(outputs)
            values = [(tensor, finding.read(tensor)) for tensor in finding.found.values()]
    finally:
        set_mapping(before)
        finding.left = []
    return result, [tensor for tensor, value in values if has_way(value, reached)]


class Watch:
    """Collects the tensors that several calls of functions close over."""

    def __init__(self) -> None:
        self.found: dict[int, Any] = {}  # keeps the tensors alive

    def __call__(self, f: Callable[..., Any], *args: Any) -> Any:
        result, closed = closed_over(f, *args)
        self.found.update((id(tensor), tensor) for tensor in closed)
        return result

    @property
    def closed(self) -> list:
        return list(self.found.values())


def with_closed(f: Callable[..., Any], closed: list) -> Callable[..., Any]:
    """A function that takes, after the arguments of `f`, a replacement for each tensor of `closed`, of the same shape and
    dtype."""

    def converted(*args: Any) -> Any:
        given, others = args[: len(args) - len(closed)], args[len(args) - len(closed) :]
        table = {id(old): (old, new) for old, new in zip(closed, others) if old is not new}
        if not table:
            return f(*given)
        with _reading(Reading(current_mapping(), table)) as reading:
            leaves, form = flatten(f(*given))
            return rebuild(form, [reading.swapped(leaf) for leaf in leaves])

    return converted


def closure_convert(fun: Callable[..., Any], *example_args: Any) -> tuple[Callable[..., Any], list]:
    """Convert the tensors that a function closes over to arguments, as in JAX.

    Parameters
    ----------
    fun : callable
        Called once, to find the tensors that it reads.
    *example_args
        Pytrees of tensors, arrays and numbers.

    Returns
    -------
    converted : callable
        Takes the arguments of `fun`, and after them a tensor for each of `closed`.
    closed : list of Tensor
        The tensors that `fun` reads, that are not arguments, and that require grad or have a tangent; and the rows of open vmaps.
        Any other tensor is a constant, which `converted` reads directly.

    Notes
    -----
    A tensor that the function reads as numbers only (`c.item()`, `c.numpy()`) or detached is a constant.

    Examples
    --------
    >>> import gradspec as gs
    >>> c = gs.tensor(3.0, requires_grad=True)
    >>> converted, closed = gs.func.closure_convert(lambda x: c * x, 1.0)
    >>> closed[0] is c, converted(2.0, gs.tensor(5.0)).item()
    (True, 10.0)
    """
    _, closed = closed_over(fun, *example_args)

    return with_closed(fun, closed), closed
