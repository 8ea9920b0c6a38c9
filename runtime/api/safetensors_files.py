"""Files in the safetensors format, read and written by its own package.

Converts dtypes that NumPy lacks: bfloat16 becomes single precision.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from ..generated.tensor import Tensor
from .archives import check_size, json_from, native, with_grad

DTYPES = {
    "F64": "f8", "F32": "f4", "F16": "f2", "BF16": "u2", "I64": "i8", "I32": "i4", "I16": "i2", "I8": "i1", "U64": "u8",
    "U32": "u4", "U16": "u2", "U8": "u1", "BOOL": "?", "C64": "c8",
}  # fmt: skip


def _package(caller: str, name: str = "safetensors") -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(f"{caller}: safetensors files want its package: pip install safetensors") from error


def is_safetensors(start: bytes) -> bool:
    """Whether a file with these first bytes has the format: a length in eight bytes, then a JSON object."""
    return len(start) > 8 and start[8:9] == b"{"


def read_safetensors(data: bytes, path: str) -> dict[str, Tensor]:
    """Named tensors, with the `requires_grad` that they were saved with."""
    safetensors = _package("load")
    header = json_from(data[8 : 8 + int.from_bytes(data[:8], "little")], "the header")
    try:
        found = safetensors.deserialize(data)
    except safetensors.SafetensorError as error:
        raise ValueError(f"load: {path!r} is damaged: {error}") from error
    wanted = json_from((header.get("__metadata__") or {}).get("requires_grad", "[]"), "requires_grad of the header")
    state = {}
    for name, value in found:
        kind = value["dtype"]
        if kind not in DTYPES:
            raise ValueError(f"load: {path!r} holds {name!r} as {kind}, a dtype that NumPy lacks")
        check_size(value["shape"], np.dtype(DTYPES[kind]).itemsize, name)
        array = np.frombuffer(value["data"], np.dtype(DTYPES[kind]).newbyteorder("<")).reshape(value["shape"])
        state[name] = (array.astype("u4") << 16).view("f4") if kind == "BF16" else native(array)
    return with_grad({name: state[name] for name in header if name != "__metadata__"}, wanted)


def write_safetensors(arrays: dict[str, np.ndarray], wanted: list[str]) -> bytes:
    """The file's content."""
    import json

    arrays = {name: np.ascontiguousarray(array).reshape(array.shape) for name, array in arrays.items()}
    return _package("save", "safetensors.numpy").save(arrays, {"requires_grad": json.dumps(wanted)})
