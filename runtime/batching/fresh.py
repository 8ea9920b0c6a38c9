"""Fresh tensors: made inside of a vmap without a row, and what becomes of one that a row is written to.

Owns when such a tensor, the same for all rows until then, may get another value for each of them, and how it then becomes a row
itself, with all views of it.  Whoever holds it meets the row: there is no second tensor that could be read in its place.
"""

from typing import Any
from weakref import ref

from ..core.grad_mode import _set_fwd_grad_enabled, enable_grad
from ..core.told import array_of, base_of, may_turn
from ..generated.tensor import Tensor
from ..support.dispatch import ops
from .batched import Level, is_other, refuse_shared, refuse_write, turned
from .passes import Passes


def noted(made: dict[int, tuple[Any, Level]], tensor: Tensor, level: Level) -> None:
    """Remember where a tensor was made, as long as it lives."""
    key = id(tensor)
    made[key] = (ref(tensor, lambda gone: made.pop(key, None)), level)


class Fresh(Passes):
    """What is known of the tensors that the function of a vmap has made by itself.

    Attributes
    ----------
    made : dict of int to (weakref, Level)
        By the address of such a tensor the tensor, and the innermost level that was open.
    deep : int
        How many calls on whole batches run: what is made there is part of the call.
    """

    def __init__(self, levels: list[Level] | None = None) -> None:
        super().__init__(levels)
        self.made: dict[int, tuple[Any, Level]] = {}
        self.deep = 0

    def gave(self, tensor: Tensor) -> None:
        """A wrapper has made a tensor that stands for no row, and nobody else has it yet."""
        if self.levels and not self.deep:
            noted(self.made, tensor, self.levels[-1])

    def turn(self, target: Any, level: Level, name: str) -> Level:
        """Let what is written to differ from row to row at the level where it was made, which is returned."""
        base = base_of(target)
        own = self.level_of(base, level)
        if own is None or type(target) is not Tensor or type(base) is not Tensor:
            refuse_write(name)
        views = [one for one in self.alive() if one is not base and base_of(one) is base]
        if not any(one is target for one in (base, *views)) or not may_turn([base, *views]):
            refuse_shared(name)
        self.deep += 1
        try:
            with enable_grad(), _set_fwd_grad_enabled(True):
                whole = ops.copy(ops.contiguous(ops.broadcast_to(base, (own.size, *base.shape))))
                insides = [_looking(view, base, whole, name) for view in views]
        finally:
            self.deep -= 1
        outer = self.levels[own.number - 2] if own.number > 1 else None
        for one, inside in zip((base, *views), (whole, *insides)):
            turned(one, inside, own)
            if outer is not None:
                noted(self.made, inside, outer)
        return own

    def level_of(self, tensor: Any, level: Level) -> Level | None:
        """The level at which a tensor was made, if that lies at `level` or inside of it; None where it must not turn."""
        found, own = self.made.get(id(tensor), (None, None))
        if self.reads or own is None or any(map(is_other, self.levels)):
            return None
        known = found() is tensor and own in self.levels and level in self.levels
        return own if known and own.number >= level.number else None

    def alive(self) -> list:
        return [one for found, _ in [*self.made.values()] if type(one := found()) is Tensor]


def _looking(view: Tensor, base: Tensor, whole: Tensor, name: str) -> Tensor:
    """The view of a batch that is, in each row, what `view` is of its base."""
    array, source = array_of(view), array_of(base)
    offset, apart = divmod(array.ctypes.data - source.ctypes.data, source.itemsize)
    plain = array.dtype == source.dtype and source.flags.c_contiguous and whole.is_contiguous() and not apart
    if not plain or not 0 <= offset <= source.size or min(array.strides, default=0) < 0:
        refuse_shared(name)
    strides = tuple(step // source.itemsize for step in array.strides)
    return ops.as_strided(whole, (whole.shape[0], *array.shape), (source.size, *strides), offset)
