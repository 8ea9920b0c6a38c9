"""Batched: a tensor that represents every row of a batch.

Inside of a vmap a batch looks like a single row: its shape and dtype are known, its numbers are not.  Reading the numbers raises
an error.  The batch itself is `inside`, a tensor with one more leading axis; it holds the gradient, the history and the hooks.
"""

from typing import Any, NoReturn

from ...core.conversion import asarray
from ...core.events import current_mapping
from ...generated.tensor import Tensor
from ...support.dispatch import ops
from .level_tensor import LevelTensor, represented, whole_of, without_graph


class Level:
    """One open vmap.

    Attributes
    ----------
    size : int
        Number of rows.
    number : int
        Position among the open levels of the thread; the outermost has 1.
    randomness : str
        'error', 'different' or 'same'.
    starts : dict
        State of each generator at the first draw of a row, so that later chunks repeat the same draws.
    drawn : set
        Generators that this level has drawn from.
    is_open : bool
    alive : int
        Number of tensors that represent its rows.
    """

    __slots__ = ("alive", "drawn", "is_open", "number", "randomness", "size", "starts")

    def __init__(self, size: int, number: int, randomness: str, starts: dict | None = None) -> None:
        self.size, self.number, self.randomness, self.is_open, self.alive = size, number, randomness, True, 0
        self.starts: dict = {} if starts is None else starts
        self.drawn: set = set()

    def rewind(self, generator: Any) -> None:
        """Before the first draw from a generator: restore its state from the first draw of the previous chunk."""
        if generator in self.drawn:
            return
        self.drawn.add(generator)
        if generator in self.starts:
            generator.bit_generator.state = self.starts[generator]
        else:
            self.starts[generator] = generator.bit_generator.state


class Batched(LevelTensor):
    """An arbitrary row of a batch."""

    __slots__ = ("inside", "taken_along")  # the last one if not 0: the batch axis in the argument of vmap
    _meaning = "vmap a tensor stands for all rows of a batch"
    below = property(lambda self: self.inside)

    @property
    def requires_grad(self) -> bool:
        return self.inside.requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.inside.requires_grad = value

    def requires_grad_(self, requires_grad: bool = True) -> "Batched":
        self.inside.requires_grad_(requires_grad)
        return self

    is_leaf = property(lambda self: self.inside.is_leaf)
    grad_fn = property(lambda self: self.inside.grad_fn)
    output_nr = property(lambda self: self.inside.output_nr)
    retains_grad = property(lambda self: self.inside.retains_grad)
    _base = property(lambda self: None if self.inside._base is None else self.refuse("_base"))

    @property
    def grad(self) -> Any:
        found = self.inside.grad
        return None if found is None else batched(found, self.level)

    @grad.setter
    def grad(self, value: Any) -> None:
        self.inside.grad = value if value is None else spread(value, self.level).inside

    def retain_grad(self) -> None:
        self.inside.retain_grad()

    def detach(self) -> "Batched":
        return batched(self.inside.detach(), self.level)

    def without_graph(self) -> "Batched":
        return batched(without_graph(self.inside), self.level)

    def detach_(self) -> "Batched":
        self.inside.detach_()
        return self

    # Memory: that of a row inside of the batch.

    strides = property(lambda self: self.inside.strides[1:])

    def stride(self, dim: Any = None) -> Any:
        found = self.inside.stride()[1:]
        return found if dim is None else found[dim]

    def is_contiguous(self) -> bool:
        return ops.getitem(self.inside, 0).is_contiguous()

    def become(self, view: "Batched") -> None:
        super().become(view)
        self.inside = view.inside

    def register_hook(self, hook: Any) -> Any:
        """Register a hook: it gets the gradient of a row, in the levels that are open now."""
        level, again = self.level, current_mapping().again()

        def whole(grad: Any) -> Any:
            with again():
                found = hook(batched(grad, level))
                return found if found is None else spread(found, level).inside

        return self.inside.register_hook(whole)

    def register_post_accumulate_grad_hook(self, hook: Any) -> Any:
        """Register a hook on a leaf: it gets the row, in the levels that are open now."""
        level, again = self.level, current_mapping().again()

        def whole(leaf: Any) -> None:
            with again():
                hook(batched(leaf, level))

        return self.inside.register_post_accumulate_grad_hook(whole)

    def __delattr__(self, name: str) -> None:
        if name == "grad":
            del self.inside.grad
        else:
            super().__delattr__(name)

    def backward(self, gradient: Any = None, retain_graph: Any = None, create_graph: bool = False, inputs: Any = None) -> None:
        from ...engine.backward import backward

        backward(self, gradient, retain_graph, create_graph, inputs)

    def __repr__(self) -> str:
        return f"Batched(level={self.level.number}, rows={self.level.size}, shape={self.shape}, dtype={self.dtype})"


def batched(inside: Tensor, level: Level) -> Batched:
    """A tensor that represents the rows of `inside` along its first axis."""
    found = represented(Batched, inside.shape[1:], inside.dtype, level)
    found.inside = inside
    return found


def spread(value: Any, level: Level) -> Batched:
    """A tensor as a batch at a level: unchanged, or broadcast along the rows."""
    if is_row(value, level):
        return value
    value = asarray(value)
    return batched(ops.broadcast_to(value, (level.size, *value.shape)), level)


def as_batch(value: Any, level: Level, operands: Any) -> Batched:
    """The result of an operator on batches as a batch, even if it is the same for all rows: each row may write to its own."""
    if is_row(value, level):
        return value
    inside = ops.copy(spread(value, level).inside)
    for operand in operands:
        if is_row(operand, level):
            inside = stands_as(inside, operand.inside)
    return batched(inside, level)


def stands_as(value: Any, operand: Any) -> Any:
    """The result of an operator on an operand, lifted to the operand's levels."""
    if type(operand) is Batched:
        return as_batch(value, operand.level, (operand,))
    return operand.level.made(value, (operand,)) if isinstance(operand, LevelTensor) else value


def is_view_of(value: Any, target: Any) -> bool:
    """Whether a batch is a view of another batch, or has the same base."""
    value, target = whole_of(value), whole_of(target)
    return value._base is not None and (value._base is target or value._base is target._base)


def is_row(value: Any, level: Level) -> bool:
    """Whether a value represents the rows of a batch at a level; any other value is the same for all rows."""
    return type(value) is Batched and value.level is level


def as_given(row: Batched) -> tuple[Tensor, int]:
    """The batch of a row and its batch axis, which is the one in the row's argument of vmap."""
    axis = getattr(row, "taken_along", 0)
    if not 0 < axis < row.inside.ndim:
        return row.inside, 0
    return ops.moveaxis(row.inside, 0, axis), axis


def inside_of(value: Any, level: Level) -> Any:
    """The batch behind a value at a level; any other value unchanged."""
    return value.inside if is_row(value, level) else value


def innermost(values: Any) -> Level | None:
    """The innermost level among the operands, also in sequences and slices."""
    found: Any = None
    for value in values:
        kind = type(value)
        if issubclass(kind, LevelTensor):
            level = value.level
        elif kind is tuple or kind is list:
            level = innermost(value)
        elif kind is slice:
            level = innermost((value.start, value.stop, value.step))
        else:
            continue
        if level is not None and (found is None or level.number > found.number):
            found = level
    return found


def is_other(level: Any) -> bool:
    """Whether this level is not a vmap level and handles its own inner tensors."""
    return level is not None and type(level) is not Level


def each(result: Any, change: Any) -> Any:
    """A result with each of its tensors replaced."""
    if isinstance(result, Tensor):
        return change(result)
    if type(result) is tuple or type(result) is list:
        return type(result)([each(item, change) for item in result])
    return result


def together(result: Any, level: Level) -> Any:
    """The result of an operator on whole batches, as rows."""
    return each(result, lambda tensor: batched(tensor, level))


def refuse_write(name: str) -> NoReturn:
    """Refuse a write to a tensor that all rows share."""
    raise RuntimeError(f"vmap: {name} is not possible, because a tensor that is the same for all rows of the batch would get "
                       "a different value for each row: it has fewer elements than the values written to it. Use the operator "
                       "that is not in place, or begin with a batch: zeros_like(x) of an x that vmap maps")  # fmt: skip


def refuse_left(method: str) -> NoReturn:
    """Refuse a conversion to Python values."""
    way = {"bool": "gs.where(condition, a, b), which computes both sides, in the place of `if`",
           "item": "operators on the tensor itself, and return it",
           "numpy": "gradspec's functions, or return the tensor and call numpy() on what vmap gives"}  # fmt: skip
    done = {"bool": "attempting to use a Tensor in some data-dependent control flow, or calling .item() on a Tensor",
            "numpy": "calling .numpy() on a Tensor"}.get(method, "calling .item() on a Tensor")  # fmt: skip
    raise RuntimeError(f"vmap: It looks like you're {done} ({method}); inside of vmap "
                       "a tensor represents all rows of a batch and has no single value. Write "
                       f"{way.get(method, way['item'])}")  # fmt: skip
