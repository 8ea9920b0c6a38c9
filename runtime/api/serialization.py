"""Named tensors in files: NumPy's `.npz`, safetensors, and reading PyTorch's files; loading never runs code of the file.

Defines the layout of the `.npz` file: one array for each tensor under its percent-encoded name, as `numpy.load` shows it.  One
more array, `%gradspec`, has a text that lists the tensors that require grad and describes the pytree.  Only leaves are saved, not
graphs.  Zip, JSON and URLs are imported on use: they would double the import time of gradspec.
"""

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any, BinaryIO

import numpy as np

from ..generated.tensor import Tensor
from ..support.devices import device
from .nested_states import Taken, put_together

INDEX = "%gradspec"  # differs from every encoded name: there, two hexadecimal digits follow a "%"
VERSION = 2  # since pytrees are saved


def save(path: str | os.PathLike | BinaryIO, state: Any) -> None:
    """Write tensors, or pytrees of tensors, numbers and text, to `path`, atomically.

    Parameters
    ----------
    path : str, PathLike or binary file
        Used unchanged; `.npz` is the usual ending.  With the ending `.safetensors`, a file of that format is written; it
        needs the package safetensors, and only contains named tensors.
    state : Tensor, mapping from str to Tensor, or nest
        Dictionaries, lists and tuples of tensors (leaves), arrays, numbers, text and None, such as a checkpoint of a model,
        an optimiser and counts.  PyTorch's order, `save(state, path)`, is also accepted.

    Raises
    ------
    TypeError
        The pytree contains a value of a different type.
    ValueError
        A tensor is not a leaf: its graph cannot be saved.
    """
    if not is_place(path) and is_place(state):
        path, state = state, path
    taken = Taken(state)
    named = isinstance(state, Mapping) and all(isinstance(item, Tensor) for item in state.values()) and all(
        isinstance(name, str) for name in state)  # fmt: skip
    arrays = dict(zip(state, taken.arrays.values())) if named else taken.arrays
    needs_grad = [name for name in state if state[name].requires_grad] if named else taken.needs_grad
    if isinstance(path, (str, os.PathLike)) and os.fspath(path).endswith(".safetensors"):
        from .safetensors_files import write_safetensors

        if not named:
            raise TypeError("save: a safetensors file holds a dictionary of named tensors, not any other pytree; choose a "
                            "different file ending")  # fmt: skip
        data = write_safetensors(arrays, needs_grad)
        replace(path, lambda file: file.write(data))
        return
    index: dict[str, Any] = {"version": 1, "requires_grad": needs_grad}
    if not named:
        index |= {"version": VERSION, "form": taken.form}
    if isinstance(path, (str, os.PathLike)):
        replace(path, lambda file: write(file, arrays, index))
    else:
        write(path, arrays, index)


def is_place(item: Any) -> bool:
    """Whether a value is a file or the name of one."""
    return isinstance(item, (str, os.PathLike)) or hasattr(item, "write") and hasattr(item, "seek")


def replace(path: str | os.PathLike, write: Callable[[BinaryIO], object]) -> None:
    """Write a temporary file beside `path`, and rename it to `path` when it is complete."""
    target = os.path.realpath(path)
    temporary = f"{target}.{os.urandom(8).hex()}.tmp"  # beside the target: a rename within one folder is atomic
    try:
        with open(temporary, "xb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        if os.path.exists(temporary):
            os.remove(temporary)
        raise


def write(file: BinaryIO, arrays: dict[str, np.ndarray], index: dict[str, Any]) -> None:
    """Write arrays as an `.npz` file."""
    import json
    import zipfile

    members = {encode(name): array for name, array in arrays.items()}
    members[INDEX] = np.array(json.dumps(index))
    with zipfile.ZipFile(file, "w", allowZip64=True) as archive:
        for name, array in members.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def load(path: str | os.PathLike | BinaryIO, map_location: Any = None, *, weights_only: bool = True) -> Any:
    """Read a file of `save`, in the same order, or weights that PyTorch or safetensors has written.

    The type of a file is recognised by its first bytes and its members, not by its name.

    Parameters
    ----------
    path : str, PathLike or binary file
    map_location : str, optional
        Ignored if "cpu": every tensor is in memory.
    weights_only : bool
        Ignored: code is never loaded.

    Returns
    -------
    dict from str to Tensor, or nest
        Leaves with the dtypes and `requires_grad` of the saved tensors.  For PyTorch's file, the containers passed to
        `torch.save`, with Tensors for its tensors; nothing in it is imported or called.  Bfloat16 becomes single precision.

    Raises
    ------
    ValueError
        The file is damaged, or was not written by `save`; or PyTorch's file contains something else than tensors, numbers,
        text and containers of them.
    """
    from urllib.parse import unquote

    from .archives import Archive, Damaged, with_grad
    from .pytorch_files import read_pytorch, root_of
    from .safetensors_files import is_safetensors, read_safetensors

    if map_location is not None:
        device(map_location)
    name = os.fspath(path) if isinstance(path, (str, os.PathLike)) else getattr(path, "name", type(path).__name__)
    with open(path, "rb") if isinstance(path, (str, os.PathLike)) else nullcontext(path) as file:
        try:
            if is_safetensors(file.read(9)):
                file.seek(0)
                return read_safetensors(file.read(), name)
            file.seek(0)
            with Archive(file) as archive:
                root = root_of(archive)
                if root is not None:
                    return read_pytorch(archive, root, file.seek(0, os.SEEK_END), name)
                arrays, index = members_of(archive)
        except Damaged as error:
            raise ValueError(f"load: {name!r} is damaged or was not written by gradspec.save: {error}") from error
    if index["version"] > VERSION:
        raise ValueError(f"load: {name!r} was written by a later gradspec (file version {index['version']})")
    try:
        state = {unquote(name, errors="surrogatepass"): array for name, array in arrays.items()}
        tensors = with_grad(state, index["requires_grad"])
        return put_together(index["form"], tensors) if "form" in index else tensors
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"load: {name!r} is damaged: {INDEX} does not fit its arrays ({error})") from error


def members_of(archive: Any) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays of a file that `save` wrote, and its index."""
    from .archives import NUMBERS, Damaged, json_from, shortened

    if f"{INDEX}.npy" not in archive.names:
        raise Damaged(f"{INDEX}.npy is missing")
    text = archive.array(f"{INDEX}.npy", "U")
    codes = np.frombuffer(text.tobytes(), np.dtype("u4").newbyteorder(text.dtype.byteorder))
    if codes.max(initial=0) > sys.maxunicode:  # str would take it, and fail later
        raise Damaged(f"{INDEX}.npy has a character beyond Unicode")
    try:
        words = text.item()
    except ValueError as error:
        raise Damaged(f"{INDEX}.npy is not text ({error})") from error
    index = json_from(words, INDEX, constants=True)
    if not isinstance(index, dict) or type(index.get("version")) is not int or not isinstance(index.get("requires_grad"), list):
        raise Damaged(f"{INDEX}.npy says {shortened(index)}")
    arrays = {}
    for name in archive.names:
        if not name.endswith(".npy"):
            raise Damaged(f"{name} is not an array")
        if name != f"{INDEX}.npy":
            arrays[name.removesuffix(".npy")] = archive.array(name, NUMBERS)
    return arrays, index


def encode(name: str) -> str:
    """`name` as the name of a zip member: letters, digits and `_.-~` are unchanged, all else is percent-encoded."""
    from urllib.parse import quote

    return quote(name, safe="", errors="surrogatepass")
