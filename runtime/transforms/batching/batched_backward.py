"""Passes over batches: gradients, tangents and custom Functions of tensors that represent the rows of a vmap.

A pass over whole batches gives each row its own gradient.  The engine itself does not know batches: the rows of an output are its
elements, and no row depends on another, so the gradient of all rows is the gradient of each.  An input that all rows share would
get the sum over the rows.  It is therefore refused, except by `backward`, which accumulates the gradients of all rows.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from ...core.events import current_mapping, set_mapping
from ...engine import backward as engine
from ...engine.backward import GradientEdge, as_sequence, get_gradient_edge
from ...engine.function import Function
from ...generated.tensor import Tensor
from ...methods.dual_level import make_dual, unpack_dual
from ...support.dispatch import ops
from ...support.pytree import flatten
from .batched import Batched, Level, batched, innermost, is_other, is_row, spread
from .functions import called
from .level_tensor import LevelTensor


class MappedEdge(GradientEdge):
    """The gradient edge of a batch, the levels of its rows, and the edge of the tensor behind them."""

    levels: list[Level]
    inside: GradientEdge


class ReadsRow(RuntimeError):
    """A custom Function reads a row that is not among its arguments."""


class Passes:
    """Hooks of a vmap for the engine, dual levels and custom Functions.

    Attributes
    ----------
    guard : Passes
        The mapping for a function that runs without batches: it must not close over rows.
    reads : bool
        Whether `read` replaces some tensors.
    """

    guard: "Passes"
    reads = False

    def __init__(self, levels: list[Level] | None = None) -> None:
        self.levels: list[Level] = [] if levels is None else levels
        self.left: list[Level] = []  # closed levels that had tensors at that time
        self.away = 0  # number of calls that have set levels aside

    def read(self, tensor: Any) -> Any:
        """The tensor to read in place of `tensor`."""
        return tensor

    def insides(self, values: Sequence[Any]) -> list:
        found: list[Any] = []
        for value in values:
            inner = bottom(value)
            other = other_level((inner,))
            found += other.insides(inner) if other else [inner]
        return found

    def gradient_edge(self, tensor: Any) -> Any:
        if type(tensor) is not Batched:
            level = deciding((tensor,))
            return NotImplemented if level is None else level.gradient_edge(tensor)
        inside = get_gradient_edge(bottom(tensor))
        edge = MappedEdge(*inside)
        edge.levels, edge.inside = levels_of(tensor), inside
        return edge

    # Reverse mode.

    def backward(self, tensors: Any, grads: Any, retain_graph: Any, create_graph: bool, inputs: Any) -> Any:
        if level := other_level(as_sequence(tensors), () if grads is None else as_sequence(grads)):
            level.refuse("backward()", "use gs.grad(function)")
        roots, grads = as_sequence(tensors), None if grads is None else as_sequence(grads)
        if not _any_batched(roots, grads or (), () if inputs is None else as_sequence(inputs)):
            return NotImplemented
        values, extra = self.cotangents(roots, grads, False)
        if extra:
            raise RuntimeError("vmap: backward() of a tensor that is the same for all rows, with a gradient for each row: "
                               "the gradients would be added up. Use grad(outputs, inputs, grad_outputs)")  # fmt: skip
        with suspended():
            targets = None if inputs is None else self.insides(as_sequence(inputs))
            engine.backward(self.insides(roots), values, retain_graph, create_graph, targets)
        return None

    def grad(self, outputs: tuple, inputs: tuple, grads: Any, retain_graph: Any, create_graph: bool, unused: bool,
             is_grads_batched: bool, materialize_grads: bool) -> Any:  # fmt: skip
        grads = None if grads is None else as_sequence(grads)
        level = deciding(outputs, inputs, grads or ())
        if level is None:
            return NotImplemented
        if is_other(level):
            return level.grad(outputs, inputs, grads, retain_graph, create_graph, unused, is_grads_batched, materialize_grads)
        for i, value in enumerate(inputs):
            own = _levels(value)
            if any(level not in own for output in outputs if _needs_grad(output) for level in _levels(output)):
                raise RuntimeError(f"vmap: input {i} of grad() is the same for all rows of a batch, and the output is not: "
                                   "its gradient would be the sum over the rows. Use gs.grad(function), or make it an "
                                   "argument that vmap maps")
        values, extra = self.cotangents(outputs, grads, is_grads_batched)
        lengths = [level.size for level in extra]
        many = bool(extra) or is_grads_batched
        if other := other_level(outputs, inputs):
            found = other.grad([*map(behind, outputs)], [*map(behind, inputs)], values, retain_graph, create_graph,
                               unused or materialize_grads, many, False)  # fmt: skip
        else:
            with suspended():
                found = engine.grad(self.insides(outputs), self.insides(inputs), values, retain_graph, create_graph,
                                    unused or materialize_grads, many)  # fmt: skip
        results = []
        for value, gradient in zip(inputs, found):
            if gradient is None and materialize_grads:
                count = grads[0].shape[:1] if is_grads_batched else ()
                results.append(ops.zeros_like(ops.broadcast_to(value, (*count, *value.shape))))
                continue
            if gradient is not None:
                own = _levels(value)
                if extra:
                    count = (-1,) if is_grads_batched else ()
                    gradient = ops.reshape(gradient, (*lengths, *count, *gradient.shape[1:]))
                gradient = _arranged(gradient, extra, own, is_grads_batched)
            results.append(gradient)
        return tuple(results)

    def cotangents(self, outputs: Sequence[Any], grads: Sequence[Any] | None, is_grads_batched: bool) -> tuple[list, list[Level]]:
        """The initial gradients as the pass takes them, and the levels that the outputs lack: their rows form a batched pass."""
        extra: list[Level] = []
        for output, grad in zip(outputs, grads or ()):
            extra += [level for level in _levels(grad) if level not in _levels(output) and level not in extra]
        extra.sort(key=_number)
        values: list[Any] = []
        for i, output in enumerate(outputs):
            grad = None if grads is None else grads[i]
            if grad is None and isinstance(output, GradientEdge):
                values.append(None)
                continue
            if grad is None:
                if output.size != 1 or output.dtype.kind == "c":
                    raise RuntimeError("grad can be implicitly created only for scalar outputs" if output.size != 1 else
                                       "grad can be implicitly created only for real scalar outputs but got complex")  # fmt: skip
                one = ops.ones_like(bottom(output).detach())
                values.append(ops.broadcast_to(one, (*[level.size for level in extra], *one.shape)) if extra else one)
                continue
            every = sorted({*extra, *_levels(output)}, key=_number)
            value = _led(aligned(grad, every), every, extra, is_grads_batched)
            if extra:
                value = ops.reshape(value, (-1, *value.shape[len(extra) + is_grads_batched :]))
            values.append(value)
        return values, extra

    # Forward mode.

    def make_dual(self, primal: Any, tangent: Any, level: Any) -> Any:
        deciding_level = deciding((primal, tangent))
        if is_other(deciding_level):
            return deciding_level.make_dual(primal, tangent, level)
        if not _any_batched((primal, tangent)) or not isinstance(primal, Tensor) or not isinstance(tangent, Tensor):
            return NotImplemented
        own = union(primal, tangent)
        return stood(make_dual(aligned(primal, own), aligned(tangent, own), level=level), own)

    def unpack_dual(self, tensor: Any, level: Any) -> Any:
        deciding_level = deciding((tensor,))
        if is_other(deciding_level):
            return deciding_level.unpack_dual(tensor, level)
        if type(tensor) is not Batched:
            return NotImplemented
        own = levels_of(tensor)
        primal, tangent = unpack_dual(bottom(tensor), level=level)
        return stood(primal, own), None if tangent is None else stood(tangent, own)

    def push(self, dual_level: Any, primal: Any, tangents: Any) -> Any:
        """`make_dual` for a dual level with many tangents, along a first axis of `tangents`."""
        deciding_level = deciding((primal, tangents))
        if is_other(deciding_level):
            return deciding_level.push(dual_level, primal, tangents)
        if not _any_batched((primal, tangents)):
            return NotImplemented
        own = union(primal, tangents)
        whole = ops.moveaxis(aligned(tangents, own), len(own), 0)
        return stood(dual_level.push(aligned(primal, own), whole), own)

    def pushed(self, dual_level: Any, tensor: Any) -> Any:
        deciding_level = deciding((tensor,))
        if is_other(deciding_level):
            return deciding_level.pushed(dual_level, tensor)
        if type(tensor) is not Batched:
            return NotImplemented
        own = levels_of(tensor)
        primal, tangents = dual_level.pushed(bottom(tensor))
        return stood(primal, own), None if tangents is None else stood(ops.moveaxis(tangents, 0, len(own)), own)

    # Functions of users.

    def function(self, cls: Any, args: tuple) -> Any:
        if other := other_level([arg for arg in args if isinstance(arg, Tensor)]):
            other.refuse(f"{cls.__name__}.apply", "write it with operators")
        level = innermost(flatten(args)[0] if cls.vmap is not Function.vmap else [arg for arg in args if isinstance(arg, Tensor)])
        return NotImplemented if level is None else called(cls, level, args, self)

    def finished(self, cls: Any, tensors: tuple, outputs: tuple) -> None:
        """Refuse a custom forward's result at a level of none of its arguments: it could not have a history."""
        level, known = innermost(outputs), innermost(tensors)
        if level is not None and level.is_open and (known is None or level.number > known.number):
            raise ReadsRow(f"{cls.__name__}: its forward reads a row of a vmap, or a series of a jet, that is not one of its "
                           "arguments, so its derivative would be lost; make it an argument")  # fmt: skip

    def again(self) -> Any:
        """A factory of contexts that reopen the levels that are open now."""
        return partial(entered, type(self), list(self.levels))


@contextmanager
def suspended() -> Iterator[None]:
    """Turn vmap off, for a pass over whole batches."""
    before = set_mapping(None)
    try:
        yield
    finally:
        set_mapping(before)


@contextmanager
def guarded() -> Iterator[None]:
    """Turn vmap off inside of one, for a computation with numbers that all rows share: reading a row is refused."""
    before = current_mapping()
    set_mapping(before if before.reads else before.guard)
    try:
        yield
    finally:
        set_mapping(before)


@contextmanager
def entered(mapping: type[Passes], levels: list[Level]) -> Iterator[None]:
    """Open levels that may have been closed, for functions that a backward pass calls."""
    before, states = set_mapping(mapping(list(levels))), [level.is_open for level in levels]
    for level in levels:
        level.is_open = True
    try:
        yield
    finally:
        set_mapping(before)
        for level, state in zip(levels, states):
            level.is_open = state


def is_mapped() -> bool:
    """Whether a vmap is open in this thread.

    A mapping may remain for rows that outlive their vmap, until the next operator call.
    """
    mapping = current_mapping()
    return mapping is not None and bool(mapping.levels or mapping.away)


def of_every_row(value: Tensor) -> Tensor:
    """A tensor as a batch at every open level, so that each row may have its own gradient."""
    mapping = current_mapping()
    if mapping is None:
        return value
    value = mapping.read(value)
    if any(is_other(level) for level in mapping.levels):
        return everywhere(value, mapping.levels)
    return stood(aligned(value, mapping.levels), mapping.levels)


def everywhere(value: Any, levels: Sequence[Any]) -> Any:
    """A tensor lifted to each of the levels; these may include other levels than vmap's."""
    if not levels:
        return value
    level = levels[-1]
    if is_other(level):
        return level.lifted(value, levels[:-1])
    if is_row(value, level):
        return batched(everywhere(value.inside, levels[:-1]), level)
    return spread(everywhere(value, levels[:-1]), level)


def stand_for_series(values: Sequence[Any]) -> bool:
    """Whether some tensor represents the coefficients of a jet rather than the rows of batches."""
    return any(isinstance(bottom(value), LevelTensor) for value in values if isinstance(value, Tensor))


def deciding(*groups: Sequence[Any]) -> Any:
    """The innermost level among the arguments of a pass; None if no argument has a level."""
    found: Any = None
    for group in groups:
        for value in group:
            if isinstance(value, MappedEdge):
                level = value.levels[-1]
            else:
                level = getattr(value, "level", None) if isinstance(value, (LevelTensor, GradientEdge)) else None
            if level is not None and (found is None or level.number > found.number):
                found = level
    return found


def other_level(*groups: Sequence[Any]) -> Any:
    """The innermost level that is not a vmap level, behind the vmap levels; None without such a level."""
    found = deciding(*[[*map(behind, group)] for group in groups])
    return found if is_other(found) else None


def outside(function: Callable[..., Any], leaves: list) -> tuple[Callable[[list], Any], list]:
    """A function of a list that may be called when every vmap has ended, and its leaves as whole batches instead of rows."""
    mapping = current_mapping()
    if mapping is None:
        return function, leaves
    again, own = mapping.again(), [levels_of(leaf) for leaf in leaves]

    def inside(values: list) -> Any:
        with again():
            return function([stood(value, some) for value, some in zip(values, own)])

    return inside, [bottom(leaf) for leaf in leaves]


def bottom(value: Any) -> Any:
    """The tensor that has all batches as axes."""
    while type(value) is Batched:
        value = value.inside
    return value


def behind(value: Any) -> Any:
    """`bottom`, also for gradient edges."""
    return value.inside if isinstance(value, MappedEdge) else bottom(value)


def levels_of(value: Any) -> list[Level]:
    """The levels of a tensor's rows, outermost first, which are the first axes of `bottom`."""
    found = []
    while type(value) is Batched:
        found.append(value.level)
        value = value.inside
    return found[::-1]


def stood(tensor: Any, levels: Sequence[Level]) -> Any:
    """The rows of a tensor whose first axes are levels."""
    for level in levels:
        tensor = batched(tensor, level)
    return tensor


def aligned(value: Any, levels: Sequence[Level]) -> Any:
    """A tensor whose first axes are `levels`, broadcast along the levels that `value` lacks."""
    own, whole = levels_of(value), bottom(value)
    if len(own) == len(levels):
        return whole
    shape = whole.shape[len(own) :]
    whole = ops.getitem(whole, tuple([slice(None) if level in own else None for level in levels]))
    return ops.broadcast_to(whole, (*[level.size for level in levels], *shape))


def _led(value: Any, levels: Sequence[Level], extra: Sequence[Level], has_rows: bool) -> Any:
    """Move the axes of `extra` to the front, then the axis of rows if there is one, then the other levels."""
    source = [i for i, level in enumerate(levels) if level in extra] + [len(levels)] * has_rows
    return ops.moveaxis(value, source, range(len(source))) if source != list(range(len(source))) else value


def _arranged(gradient: Any, extra: Sequence[Level], own: Sequence[Level], has_rows: bool) -> Any:
    """The inverse of `_led`: a gradient with leading axes for `extra`, rows and `own`, as rows of all levels."""
    every = sorted({*extra, *own}, key=_number)
    given = [*extra, *([None] if has_rows else []), *own]
    wanted = [*every, *([None] if has_rows else [])]
    places = [given.index(item) for item in wanted]
    rest = range(len(given), gradient.ndim)
    if places != list(range(len(places))):
        gradient = ops.permute_dims(gradient, (*places, *rest))
    return stood(gradient, every)


def _levels(value: Any) -> list[Level]:
    return value.levels if isinstance(value, MappedEdge) else levels_of(value)


def union(*values: Any) -> list[Level]:
    return sorted({level for value in values for level in levels_of(value)}, key=_number)


def _needs_grad(value: Any) -> bool:
    return isinstance(value, GradientEdge) or value.requires_grad


def _any_batched(*groups: Sequence[Any]) -> bool:
    return any(type(value) in (Batched, MappedEdge) for group in groups for value in group)


def _number(level: Level) -> int:
    return level.number
