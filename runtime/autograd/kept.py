"""Values of the middle that a custom forward keeps: which of its inputs they were computed from.

Owns how that is found: a listener follows the numbers from the inputs through what the forward does, by the memory in which they
are.  A value has no history in a forward, so a derivative through it would be a silent zero.  Numbers that left for NumPy or
Python and came back are followed no further: all that comes back after them counts as computed from them.
"""

from collections.abc import Iterable, Iterator
from typing import Any
from weakref import ref

import numpy as np

from ..core.events import Event, Listener, current_mapping
from ..core.tensor import TensorBase
from ..core.told import array_of
from ..engine.kept import set_follower
from ..generated.series import SERIES


class Follower(Listener):
    """Which inputs of one forward each value comes from, as the bits of a number.

    Parameters
    ----------
    tensors : tuple of Tensor
        The inputs.
    sources : list of int
        The bit of each; 0 for one by which nothing is differentiated.
    """

    def __init__(self, tensors: tuple, sources: list[int]) -> None:
        self.inputs = {id(tensor): source for tensor, source in zip(tensors, sources)}
        self.memory: dict[int, tuple[Any, int]] = {}  # id of the array that owns it -> weak reference to that, bits
        self.every = 0
        self.left = 0  # bits of the numbers that left for NumPy and Python
        self.passed = 0  # bits of what a pass inside may have stored in `.grad`
        for tensor, source in zip(tensors, sources):
            self.every |= source
            self.put(tensor, source)

    def of(self, value: Any) -> int:
        """The bits of one value."""
        if isinstance(value, TensorBase):
            source = self.inputs.get(id(value))
            if source is not None:
                return source
            array = _array(value)
        elif isinstance(value, np.ndarray):
            array = value
        else:
            return self.left if isinstance(value, (float, complex, np.inexact)) else 0
        if array.dtype.kind not in "fc":
            return 0
        owner = _owner(array)
        found = self.memory.get(id(owner))
        if found is not None and found[0]() is owner:
            return found[1]
        return self.left if array is value else self.passed

    def put(self, value: Any, source: int) -> None:
        """Add bits to one value."""
        if source and isinstance(value, (TensorBase, np.ndarray)):
            array = _array(value) if isinstance(value, TensorBase) else value
            if array.dtype.kind in "fc":
                owner = _owner(array)
                found = self.memory.get(id(owner))
                if found is not None and found[0]() is owner:
                    source |= found[1]
                self.memory[id(owner)] = ref(owner), source

    def all_of(self, values: Iterable[Any]) -> int:
        found = 0
        for value in _flat(values):
            found |= self.of(value)
        return found

    def end(self, event: Event) -> None:
        if event.kind == "operator" and SERIES.get(event.name.removesuffix(".out").rstrip("_"), ("",))[0] == "constant":
            found = self.left if any(isinstance(value, float) for value in event.inputs) else 0  # `full` of a number
        elif event.kind == "pass":  # which does not say where it starts; leaves may have got a `.grad`
            found = self.passed = self.every
        else:
            found = self.all_of(event.inputs)
        if found:
            for value in _flat((event.outputs,)):
                self.put(value, found)

    def note(self, event: Event) -> None:
        if event.kind == "left":
            self.left |= self.all_of(event.inputs)
        elif event.kind == "made":
            self.put(event.outputs, self.all_of(event.inputs))
        elif event.kind == "write":
            self.put(event.inputs[0], self.of(event.inputs[1]))


def _array(tensor: Any) -> np.ndarray:
    """The array of a tensor, of a row that of its whole batch."""
    mapping = current_mapping()
    return array_of(tensor if mapping is None else mapping.insides((tensor,))[0])


def _owner(array: np.ndarray) -> np.ndarray:
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _flat(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, (tuple, list)):
            yield from _flat(value)
        elif isinstance(value, dict):
            yield from _flat(value.values())
        else:
            yield value


set_follower(Follower)
