"""PyTorch's `.pt` files: read the tensors and containers that `torch.save` wrote, without running code.

Defines the layout of such a zip file, and checks the metadata of its storages.  Bfloat16 becomes single precision.
"""

from __future__ import annotations

from collections import OrderedDict
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ..core.conversion import tensor
from ..generated.tensor import Tensor
from .archives import AXES, Archive, shortened
from .pickled import Machine, Refused, keyed

BRAIN = "bfloat16"
STORAGES = {
    "DoubleStorage": "f8", "FloatStorage": "f4", "HalfStorage": "f2", "BFloat16Storage": BRAIN, "LongStorage": "i8",
    "IntStorage": "i4", "ShortStorage": "i2", "CharStorage": "i1", "ByteStorage": "u1", "BoolStorage": "?",
    "ComplexDoubleStorage": "c16", "ComplexFloatStorage": "c8",
}  # fmt: skip
DTYPES = {
    "float64": "f8", "float32": "f4", "float16": "f2", "bfloat16": BRAIN, "int64": "i8", "int32": "i4", "int16": "i2",
    "int8": "i1", "uint8": "u1", "uint16": "u2", "uint32": "u4", "uint64": "u8", "bool": "?", "complex128": "c16",
    "complex64": "c8",
}  # fmt: skip
ROOM = 2**26  # bytes of tensors allowed beyond four times the file's size: several may share one storage


class Kind(NamedTuple):
    """A dtype of PyTorch's, or of a storage; None for a storage of bytes."""

    code: str | None


class Storage(NamedTuple):
    kind: Kind
    data: bytes


def read_pytorch(archive: Archive, root: str, size: int, path: str) -> Any:
    """Read a file of `torch.save`.

    Parameters
    ----------
    archive : Archive
    root : str
        Prefix of the names of its members.
    size : int
        Size of the file in bytes.
    path : str
        Path for messages.

    Returns
    -------
    object
        The saved containers, with Tensors that have their own memory.

    Raises
    ------
    ValueError
        The file is damaged, or contains something else than tensors, numbers, text and containers of them.
    """
    try:
        return _File(archive, root, size).value()
    except Refused as error:
        raise ValueError(f"load: {path!r} cannot be read as data: {error}; save a state_dict() of tensors") from error


def root_of(archive: Archive) -> str | None:
    """The prefix of the members' names in a file of `torch.save`; None for any other file."""
    found = (name for name in archive.names if name.count("/") == 1 and name.endswith("/data.pkl"))
    return next((name.removesuffix("data.pkl") for name in found), None)


class _File:
    """One open file."""

    def __init__(self, archive: Archive, root: str, size: int) -> None:
        self.archive, self.root, self.room, self.order = archive, root, 4 * size + ROOM, "<"
        if f"{root}byteorder" in archive.names:
            order = self.member("byteorder")
            if order not in (b"little", b"big"):
                raise Refused(f"its byte order is {shortened(order)}")
            self.order = "<" if order == b"little" else ">"
        self.storages: dict[str, bytes] = {}

    def member(self, name: str) -> bytes:
        return self.archive.bytes(self.root + name)

    def value(self) -> Any:
        known: dict[str, Any] = {f"torch.{name}": Kind(code) for name, code in (STORAGES | DTYPES).items()}
        known |= {
            "torch.storage.UntypedStorage": Kind(None),
            "torch._utils._rebuild_tensor_v2": self.tensor,
            "torch._utils._rebuild_tensor_v3": self.tensor_of_dtype,
            "torch._utils._rebuild_parameter": parameter,
            "torch.Size": tuple,
            "collections.OrderedDict": ordered,
            **{f"{module}.set": keyed_set for module in ("builtins", "__builtin__")},
            **{f"{module}.complex": complex for module in ("builtins", "__builtin__")},
        }  # fmt: skip
        return Machine(known, self.storage, (Storage,)).run(self.member("data.pkl"))

    def storage(self, reference: Any) -> Storage:
        if type(reference) is not tuple or len(reference) != 5:
            raise Refused("it refers to an object that is not a storage")
        what, kind, key, _, count = reference
        if what != "storage" or not isinstance(kind, Kind) or not isinstance(key, str) or type(count) is not int:
            raise Refused("it refers to an object that is not a storage")
        if key not in self.storages:
            self.storages[key] = self.member(f"data/{key}")
        needed = count * (2 if kind.code == BRAIN else np.dtype(kind.code or "u1").itemsize)
        if needed != len(self.storages[key]):
            raise Refused(f"storage {key} should have {needed} bytes, and has {len(self.storages[key])}")
        return Storage(kind, self.storages[key])

    def tensor_of_dtype(self, storage: Any, start: Any, shape: Any, strides: Any, needs_grad: Any, hooks: Any, kind: Any,
                        metadata: Any = None) -> Tensor:  # fmt: skip
        return self.tensor(storage, start, shape, strides, needs_grad, hooks, metadata, kind)

    def tensor(self, storage: Any, start: Any, shape: Any, strides: Any, needs_grad: Any, hooks: Any, metadata: Any = None,
               kind: Any = None) -> Tensor:  # fmt: skip
        """A tensor from a storage, with offset `start` and `strides`."""
        kind = kind or getattr(storage, "kind", None)
        if type(shape) is not tuple or type(strides) is not tuple or len(shape) > AXES:
            raise Refused(f"a tensor has shape {shortened(shape)} and strides {shortened(strides)}")
        numbers = [start, *shape, *strides]
        if not isinstance(storage, Storage) or not isinstance(kind, Kind) or kind.code is None:
            raise Refused("it builds a tensor from an object that is not a storage")
        if len(shape) != len(strides) or any(type(number) is not int or number < 0 for number in numbers):
            raise Refused(f"a tensor has shape {shortened(shape)}, strides {shortened(strides)} and offset {shortened(start)}")
        dtype = np.dtype("u2" if kind.code == BRAIN else "u1" if kind.code == "?" else kind.code)
        count, last = prod(shape), start + sum((n - 1) * step for n, step in zip(shape, strides))
        if count and (last + 1) * dtype.itemsize > len(storage.data):
            raise Refused(f"a tensor of shape {shortened(shape)} and strides {shortened(strides)} reaches beyond its storage")
        self.room -= max(count, 1) * dtype.itemsize * (2 if kind.code == BRAIN else 1)
        if self.room < 0:
            raise Refused("its tensors overlap, and have far more numbers than the file")
        if metadata and type(metadata) is not dict:
            raise Refused(f"a tensor is told {shortened(metadata)}")
        if metadata and set(metadata) - {"conj", "neg"}:
            raise Refused(f"a tensor has {', '.join(map(str, metadata))}")
        if needs_grad and kind.code != BRAIN and dtype.kind not in "fc":
            raise Refused("a tensor of whole numbers requires grad")
        flat = np.frombuffer(storage.data, dtype.newbyteorder(self.order), len(storage.data) // dtype.itemsize)
        if count:
            steps = [step * dtype.itemsize for step in strides]
            array = np.lib.stride_tricks.as_strided(flat[start:], shape, steps, writeable=False)
        else:
            array = np.zeros(shape, dtype)
        return tensor(_numbers(array, kind.code, metadata or {}), requires_grad=bool(needs_grad))


def parameter(value: Any, needs_grad: Any, hooks: Any) -> Tensor:
    """A tensor that was saved as a Parameter."""
    if not isinstance(value, Tensor):
        raise Refused("it builds a parameter from an object that is not a tensor")
    if needs_grad and value.dtype.kind not in "fc":
        raise Refused("a tensor of whole numbers requires grad")
    return value.requires_grad_(bool(needs_grad))


def ordered(*pairs: Any) -> OrderedDict:
    """A dictionary in a pickle; older ones pass its pairs."""
    found: OrderedDict = OrderedDict()
    for key, value in pairs[0] if pairs else ():
        found[keyed(key)] = value
    return found


def keyed_set(items: Any) -> set:
    return {keyed(item) for item in items}


def _numbers(array: np.ndarray, code: str, metadata: dict[str, Any]) -> np.ndarray:
    """The decoded numbers, in native order and in their own memory."""
    array = array.astype(array.dtype.newbyteorder("="), order="C")
    if code == BRAIN:  # the upper half of a single
        return (array.astype(np.uint32) << 16).view(np.float32)
    if code == "?":
        return array != 0
    if metadata.get("conj"):
        array = array.conj()
    return -array if metadata.get("neg") else array
