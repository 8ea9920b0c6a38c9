"""Batched: a tensor that stands for a batch of tensors.

Owns how a batch looks from inside of a vmap: as one of its rows, whose shape and dtype are known and whose numbers are not.
Where those are asked for it refuses. The batch itself is `inside`, a tensor with one more axis in front; a gradient that it
needs, its history, its hooks are those of the batch.
"""

from typing import Any, NoReturn

import numpy as np

from ...core.conversion import asarray
from ...core.events import current_mapping
from ...core.non_operator_events import array_of, set_array, shell
from ...generated.tensor import Tensor
from ...support.dispatch import ops
from ...support.errors import CallTypeError

_UNKNOWN: dict[Any, np.ndarray] = {}  # dtype -> one element in whose place no number is known
STANDS: set[type] = set()  # classes of tensors that stand for what is inside of a level


class Level:
    """One open vmap.

    Attributes
    ----------
    size : int
        How many rows there are.
    number : int
        Counted from the outermost vmap of the thread, which has 1.
    randomness : str
        'error', 'different' or 'same'.
    starts : dict
        The state in which each generator was when a row first drew from it, for the chunks that draw the same afterwards.
    drawn : set
        The generators that this level has drawn from.
    is_open : bool
    alive : int
        How many tensors stand for its rows.
    """

    __slots__ = ("alive", "drawn", "is_open", "number", "randomness", "size", "starts")

    def __init__(self, size: int, number: int, randomness: str, starts: dict | None = None) -> None:
        self.size, self.number, self.randomness, self.is_open, self.alive = size, number, randomness, True, 0
        self.starts: dict = {} if starts is None else starts
        self.drawn: set = set()

    def rewind(self, generator: Any) -> None:
        """Before the first draw from a generator: put it where it was when the chunk before began to draw."""
        if generator in self.drawn:
            return
        self.drawn.add(generator)
        if generator in self.starts:
            generator.bit_generator.state = self.starts[generator]
        else:
            self.starts[generator] = generator.bit_generator.state


class Batched(Tensor):
    """One row of a batch, whichever it is."""

    __slots__ = ("inside", "level", "taken_along")  # the last where it is not 0: the axis of the batch in what vmap was given

    def __del__(self) -> None:
        self.level.alive -= 1

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
    _version = property(lambda self: self.inside._version)
    _base = property(lambda self: None if self.inside._base is None else _hidden("_base"))

    @property
    def grad(self) -> Any:
        found = self.inside.grad
        return None if found is None else batched(found, self.level)

    @grad.setter
    def grad(self, value: Any) -> None:
        self.inside.grad = value if value is None else spread(value, self.level).inside

    @property
    def data(self) -> Any:
        return self.detach()

    def retain_grad(self) -> None:
        self.inside.retain_grad()

    def detach(self) -> "Batched":
        return batched(self.inside.detach(), self.level)

    def without_graph(self) -> "Batched":
        return batched(without_graph(self.inside), self.level)

    def detach_(self) -> "Batched":
        self.inside.detach_()
        return self

    def is_inference(self) -> bool:
        return self.inside.is_inference()

    # Memory: that of a row inside of the batch.

    strides = property(lambda self: self.inside.strides[1:])

    def stride(self, dim: Any = None) -> Any:
        found = self.inside.stride()[1:]
        return found if dim is None else found[dim]

    def is_contiguous(self) -> bool:
        return ops.getitem(self.inside, 0).is_contiguous()

    def become(self, view: "Batched") -> None:
        """Take the place of a view of what it was, as in-place operators on shapes make it."""
        set_array(self, array_of(view))
        self.inside = view.inside

    def register_hook(self, hook: Any) -> Any:
        """As of any tensor: the hook gets the gradient of a row, in the levels that are open now."""
        level, again = self.level, current_mapping().again()

        def whole(grad: Any) -> Any:
            with again():
                found = hook(batched(grad, level))
                return found if found is None else spread(found, level).inside

        return self.inside.register_hook(whole)

    def register_post_accumulate_grad_hook(self, hook: Any) -> Any:
        """As of any leaf: the hook gets the row, in the levels that are open now."""
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

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return repr(self)

    def __copy__(self) -> Any:
        return ops.copy(self)

    def __deepcopy__(self, memo: Any) -> Any:
        return ops.copy(self)

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        _hidden("pickle")

    def set_(self, source: Any) -> NoReturn:
        _hidden("set_")

    def resize_(self, *shape: Any) -> NoReturn:
        _hidden("resize_")

    def __dlpack__(self, **asked: Any) -> NoReturn:
        _hidden("__dlpack__")


STANDS.add(Batched)


def batched(inside: Tensor, level: Level) -> Batched:
    """What stands for the rows of `inside` along its first axis."""
    shape, dtype = inside.shape[1:], inside.dtype
    unknown = _UNKNOWN.get(dtype)
    if unknown is None:
        unknown = _UNKNOWN[dtype] = np.array(np.nan if dtype.kind in "fc" else 0, dtype)
        unknown.flags.writeable = False
    found = shell(Batched, np.ndarray(shape, dtype, unknown, 0, (0,) * len(shape)))
    found.inside, found.level = inside, level
    level.alive += 1
    return found


def spread(value: Any, level: Level) -> Batched:
    """A tensor as a batch at a level: itself, or as many times itself as there are rows."""
    if is_row(value, level):
        return value
    value = asarray(value)
    return batched(ops.broadcast_to(value, (level.size, *value.shape)), level)


def as_batch(value: Any, level: Level, operands: Any) -> Batched:
    """What an operator made of batches, also where its numbers are the same for all rows: each row may write to its own."""
    if is_row(value, level):
        return value
    inside = ops.copy(spread(value, level).inside)
    for operand in operands:
        if is_row(operand, level):
            inside = stands_as(inside, operand.inside)
    return batched(inside, level)


def stands_as(value: Any, operand: Any) -> Any:
    """What an operator made of an operand, in the levels that the operand stands in."""
    if type(operand) is Batched:
        return as_batch(value, operand.level, (operand,))
    return operand.level.made(value, (operand,)) if type(operand) in STANDS else value


def without_graph(value: Any) -> Any:
    """A tensor without its graph, in the levels that it stands in; `detach` says that it is constant there too."""
    return value.without_graph() if type(value) in STANDS else value.detach()


def looks_at(value: Any, target: Any) -> bool:
    """Whether a batch is a view of another one, or of what that looks at."""
    value, target = whole_of(value), whole_of(target)
    return value._base is not None and (value._base is target or value._base is target._base)


def whole_of(value: Any) -> Any:
    """The tensor behind the batches, and the first coefficients, of all levels; any other value as it is."""
    while type(value) in STANDS:
        value = value.inside if type(value) is Batched else value.known(0)
    return value


def is_row(value: Any, level: Level) -> bool:
    """Whether a value stands for the rows of a batch at a level; any other one is the same for all of them."""
    return type(value) is Batched and value.level is level


def as_given(row: Batched) -> tuple[Tensor, int]:
    """The batch of a row, and along which of its axes it lies: where that was in the argument of vmap that the row is of."""
    axis = getattr(row, "taken_along", 0)
    if not 0 < axis < row.inside.ndim:
        return row.inside, 0
    return ops.moveaxis(row.inside, 0, axis), axis


def inside_of(value: Any, level: Level) -> Any:
    """The batch that a value stands for at a level; any other value as it is."""
    return value.inside if is_row(value, level) else value


def innermost(values: Any) -> Level | None:
    """The innermost level of what operators are given, in sequences and slices as well."""
    found: Any = None
    for value in values:
        kind = type(value)
        if kind in STANDS:
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
    """Whether a level is none of a vmap: it says itself what is done with what stands for its insides."""
    return level is not None and type(level) is not Level


def each(result: Any, change: Any) -> Any:
    """A result with something in the place of each of its tensors."""
    if isinstance(result, Tensor):
        return change(result)
    if type(result) is tuple or type(result) is list:
        return type(result)([each(item, change) for item in result])
    return result


def together(result: Any, level: Level) -> Any:
    """What an operator gave for whole batches, as rows."""
    return each(result, lambda tensor: batched(tensor, level))


def _hidden(what: str) -> NoReturn:
    raise CallTypeError(f"{what}: inside of vmap a tensor stands for all rows of a batch, so this cannot be had")


def refuse_write(name: str) -> NoReturn:
    """What all rows share is written to."""
    raise RuntimeError(f"vmap: {name} is not possible, because a tensor that is the same for all rows of the batch would get "
                       "another value for each of them: it has fewer elements than what is written to it. Use the operator that "
                       "is not in place, or begin with a batch: zeros_like(x) of an x that vmap maps")  # fmt: skip


def refuse_left(method: str) -> NoReturn:
    """Numbers leave for Python."""
    way = {"bool": "gs.where(condition, a, b), which computes both sides, in the place of `if`",
           "item": "operators on the tensor itself, and return it",
           "numpy": "gradspec's functions, or return the tensor and call numpy() on what vmap gives"}  # fmt: skip
    done = {"bool": "attempting to use a Tensor in some data-dependent control flow, or calling .item() on a Tensor",
            "numpy": "calling .numpy() on a Tensor"}.get(method, "calling .item() on a Tensor")  # fmt: skip
    raise RuntimeError(f"vmap: It looks like you're {done} ({method}); inside of vmap "
                       "a tensor stands for all rows of a batch, and a single number for none of them. Write "
                       f"{way.get(method, way['item'])}")  # fmt: skip
