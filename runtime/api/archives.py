"""Untrusted files: check zip archives, arrays and JSON before their content is used.

In an archive, no member may be compressed, appear twice or be larger than the file.  An array must have as many bytes as its
header says.  JSON may have no duplicate names and no excessive nesting.  The meaning of a file is up to its reader.
"""

from __future__ import annotations

import io
import json
import zipfile
from math import prod
from typing import Any, BinaryIO

import numpy as np

from ..core.conversion import tensor
from ..generated.tensor import Tensor

HEADER = 1 << 14  # largest header of an array, in bytes
AXES = 64  # maximal number of axes of a NumPy array
LARGEST = 1 << 62  # bytes: the sum of two such numbers does not overflow
DEEPEST = 200  # nesting of JSON's lists and objects
NUMBERS = "fciub"  # kinds of dtypes


class Damaged(ValueError):
    """A file that is not valid for its type; the message names the member, and the reader of the file adds the path."""


class Archive:
    """A zip archive whose directory has been checked.

    Parameters
    ----------
    file : binary file

    Attributes
    ----------
    names : list of str
        Names of the members.

    Raises
    ------
    Damaged
        The file is not a zip archive, or its members appear twice, overlap, are compressed or encrypted, or have more bytes
        together than the file.
    """

    def __init__(self, file: BinaryIO) -> None:
        size = file.seek(0, io.SEEK_END)
        file.seek(0)
        try:
            self.archive = zipfile.ZipFile(file)
        except Exception as error:  # of many classes: struct's, NotImplementedError, ...
            raise Damaged(f"not a zip archive ({error})") from error
        self.members: dict[str, zipfile.ZipInfo] = {}
        for info in self.archive.infolist():
            if info.filename in self.members:
                raise Damaged(f"it contains {info.filename} twice")
            if info.flag_bits & 1:
                raise Damaged(f"{info.filename} is encrypted")
            if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size:
                raise Damaged(f"{info.filename} is compressed, and compressed files cannot be read; save it again, or pack it "
                              "without compression (zip -0)")  # fmt: skip
            self.members[info.filename] = info
        if sum(info.file_size for info in self.members.values()) > size:
            raise Damaged(f"its members have more bytes than the file, which has {size}")
        self.names = list(self.members)

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *error: object) -> None:
        self.archive.close()

    def bytes(self, name: str) -> bytes:
        """The bytes of a member."""
        if name not in self.members:
            raise Damaged(f"{name} is missing")
        try:
            data = self.archive.read(self.members[name])
        except Exception as error:  # as above
            raise Damaged(f"{name} is damaged ({error})") from error
        if len(data) != self.members[name].file_size:
            raise Damaged(f"{name} has {len(data)} bytes, but the archive's directory says {self.members[name].file_size}")
        return data

    def array(self, name: str, kinds: str = NUMBERS) -> np.ndarray:
        """The array in a member that is an `.npy` file."""
        return array_from(self.bytes(name), name, kinds)


def array_from(data: bytes, name: str, kinds: str = NUMBERS) -> np.ndarray:
    """The array of an `.npy` file.

    Parameters
    ----------
    data : bytes
    name : str
        Name for messages.
    kinds : str
        Allowed kinds of dtypes.

    Returns
    -------
    ndarray
        In native byte order, and in its own memory.

    Raises
    ------
    Damaged
        The header is invalid, its dtype is not a plain number, or the number of bytes after it is wrong.
    """
    file = io.BytesIO(data)
    try:
        readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        shape, by_columns, dtype = readers[np.lib.format.read_magic(file)](file, max_header_size=HEADER)
    except Exception as error:  # ast's and tokenize's, too
        raise Damaged(f"{name} has no header of an array ({type(error).__name__}: {error})") from error
    if dtype.kind not in kinds or dtype.hasobject or dtype.shape:
        raise Damaged(f"{name} is an array of {dtype}, and only numbers are read")
    check_size(shape, dtype.itemsize, name)
    start, count = file.tell(), prod(shape)
    if count * dtype.itemsize != len(data) - start:
        raise Damaged(f"{name} is {dtype}{list(shape)}, which are {count * dtype.itemsize} bytes, and has {len(data) - start}")
    flat = np.frombuffer(data, dtype, count, start)
    return native(flat.reshape(shape, order="F" if by_columns else "C"))


def native(array: np.ndarray) -> np.ndarray:
    """A file's array in native byte order, in its own memory; booleans are reduced to 0 and 1, as NumPy requires."""
    if array.dtype == bool:
        return np.asarray(array.view("u1") != 0)
    return array.astype(array.dtype.newbyteorder("="), order="K")


def check_size(shape: Any, itemsize: int, where: str) -> None:
    """Refuse a shape that an array cannot have."""
    if len(shape) > AXES or any(type(size) is not int or size < 0 for size in shape):
        raise Damaged(f"{where} has the shape {shortened(shape)}")
    if prod(max(size, 1) for size in shape) * max(itemsize, 1) >= LARGEST:
        raise Damaged(f"{where} has the shape {shortened(shape)}, which is beyond all memory")


def json_from(data: bytes | str, name: str, constants: bool = False) -> Any:
    """The value of a JSON member.

    Parameters
    ----------
    data : bytes or str
    name : str
        Name for messages.
    constants : bool
        Whether NaN and Infinity are allowed.

    Raises
    ------
    Damaged
        The text is not JSON, has a duplicate name, or is nested too deeply.
    """
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise Damaged(f"{name} has a name twice: {shortened([key for key, _ in pairs])}")
        return found

    def constant(word: str) -> float:
        if not constants:
            raise Damaged(f"{name} contains {word}, which is not valid JSON")
        return float(word)

    try:
        text = data if isinstance(data, str) else data.decode()
        found = json.loads(text, object_pairs_hook=once, parse_constant=constant)
    except Damaged:
        raise
    except (ValueError, RecursionError) as error:
        raise Damaged(f"{name} is not valid JSON ({error})") from error
    check_depth(found, name)
    return found


def check_depth(item: Any, name: str) -> None:
    """Refuse nesting that is too deep for recursive code."""
    level, depth = [item], 0
    while level:
        if depth > DEEPEST:
            raise Damaged(f"{name} is nested more than {DEEPEST} times")
        branches = [one.values() if isinstance(one, dict) else one for one in level if isinstance(one, (list, dict))]
        level = [part for one in branches for part in one]
        depth += 1


def with_grad(arrays: dict[str, np.ndarray], wanted: Any) -> dict[str, Tensor]:
    """Leaves from named arrays; the names in `wanted` require grad.

    Raises
    ------
    Damaged
        A name is missing, or an integer array would require grad.
    """
    if not isinstance(wanted, list) or not all(isinstance(name, str) for name in wanted):
        raise Damaged(f"the names of the tensors that require grad must be a list of strings, got {shortened(wanted)}")
    for name in wanted:
        if name not in arrays or arrays[name].dtype.kind not in "fc":
            raise Damaged(f"{shortened(name)} cannot require grad")
    names = set(wanted)
    return {name: tensor(array, requires_grad=name in names) for name, array in arrays.items()}


def shortened(item: Any) -> str:
    """A value of a file, shortened for a message."""
    try:
        text = repr(item)
    except (ValueError, RecursionError):  # a number of more digits than Python prints
        text = f"a {type(item).__name__}"
    return text if len(text) <= 60 else f"{text[:56]} ..."
