"""Level tensors: tensors that represent inner tensors at a level of vmap or jet.

Holds what all kinds have in common.  A level tensor has a shape and a dtype; its numbers are unknown, and reading them raises an
error.
"""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn

import numpy as np

from ...core.non_operator_events import array_of, set_array, shell
from ...generated.tensor import Tensor
from ...support.dispatch import ops
from ...support.errors import CallTypeError

_UNKNOWN: dict[Any, np.ndarray] = {}  # dtype -> one element as a placeholder for unknown numbers


class LevelTensor(Tensor):
    """Base of tensors that represent inner tensors.

    Attributes
    ----------
    level : object
        The open transformation; `alive` counts its tensors.
    """

    __slots__ = ("level",)
    _meaning: ClassVar[str]  # for errors

    def __del__(self) -> None:
        self.level.alive -= 1

    @property
    def below(self) -> Any:
        """The tensor of the next outer level: the batch, or the first coefficient."""
        raise NotImplementedError

    def without_graph(self) -> Any:
        """The tensor without its graph, at its levels."""
        raise NotImplementedError

    def become(self, view: Any) -> None:
        """Become a view of its old value; for in-place operators on shapes."""
        set_array(self, array_of(view))

    _version = property(lambda self: self.below._version)
    data = property(lambda self: self.detach())

    def is_inference(self) -> bool:
        return self.below.is_inference()

    def __str__(self) -> str:
        return repr(self)

    def __format__(self, spec: str) -> str:
        return repr(self)

    def __copy__(self) -> Any:
        return ops.copy(self)

    def __deepcopy__(self, memo: Any) -> Any:
        return ops.copy(self)

    def refuse(self, what: str) -> NoReturn:
        """Refuse something that needs the numbers or the memory."""
        raise CallTypeError(f"{what}: inside of {self._meaning}, so this cannot be had")


def refused(name: str, shown: str = "") -> Any:
    """A method that a class of level tensors refuses."""

    def method(self: LevelTensor, *args: Any, **keywords: Any) -> NoReturn:
        self.refuse(shown or name)

    return method


for _name in ("set_", "resize_", "__dlpack__"):
    setattr(LevelTensor, _name, refused(_name))
LevelTensor.__reduce_ex__ = refused("__reduce_ex__", "pickle")


def represented(cls: type, shape: tuple[int, ...], dtype: Any, level: Any) -> Any:
    """A tensor of a class, whose numbers are unknown, at a level."""
    unknown = _UNKNOWN.get(dtype)
    if unknown is None:
        unknown = _UNKNOWN[dtype] = np.array(np.nan if dtype.kind in "fc" else 0, dtype)
        unknown.flags.writeable = False
    found = shell(cls, np.ndarray(shape, dtype, unknown, 0, (0,) * len(shape)))
    found.level = level
    level.alive += 1
    return found


def whole_of(value: Any) -> Any:
    """The tensor behind the batches, and the first coefficients, of all levels; any other value unchanged."""
    while isinstance(value, LevelTensor):
        value = value.below
    return value


def without_graph(value: Any) -> Any:
    """A tensor without its graph, at its levels; `detach` would also make it constant there."""
    return value.without_graph() if isinstance(value, LevelTensor) else value.detach()
