"""Files of the safetensors format, by its own package.

Owns the dtypes that NumPy has not: brain floats become single precision.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from ..core.operand import tensor
from ..generated.tensor import Tensor

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
    """Whether a file that begins so is one: eight bytes of a length, and a JSON object of it."""
    return len(start) > 8 and start[8:9] == b"{"


def read_safetensors(data: bytes, path: str) -> dict[str, Tensor]:
    """Named tensors; those that were saved as requiring grad do so again."""
    import json

    safetensors = _package("load")
    try:
        found = safetensors.deserialize(data)
    except safetensors.SafetensorError as error:
        raise ValueError(f"load: {path!r} is damaged: {error}") from error
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    wanted = json.loads(header.get("__metadata__", {}).get("requires_grad", "[]"))
    state = {}
    for name, value in found:
        kind = value["dtype"]
        if kind not in DTYPES:
            raise ValueError(f"load: {path!r} holds {name!r} in {kind}, which NumPy has not")
        array = np.frombuffer(value["data"], np.dtype(DTYPES[kind]).newbyteorder("<")).reshape(value["shape"])
        array = (array.astype("u4") << 16).view("f4") if kind == "BF16" else array.astype(array.dtype.newbyteorder("="))
        state[name] = tensor(array, requires_grad=name in wanted)
    return {name: state[name] for name in header if name != "__metadata__"}


def write_safetensors(arrays: dict[str, np.ndarray], wanted: list[str]) -> bytes:
    """The file, as bytes."""
    import json

    arrays = {name: np.ascontiguousarray(array).reshape(array.shape) for name, array in arrays.items()}
    return _package("save", "safetensors.numpy").save(arrays, {"requires_grad": json.dumps(wanted)})
