"""Named tensors in a file: NumPy's `.npz`, safetensors, and PyTorch's files to read; loading a file never runs code from it.

Owns the layout of the `.npz` file: one array a tensor under its percent-encoded name (`numpy.load` shows them), and one more,
`%gradspec`, whose text says which of them require grad.  Knows leaves only: a graph is not saved.  Zip, JSON and URLs are
imported where they are used: they would double the time of importing gradspec.
"""

import os
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

import numpy as np

from ..core.grad_mode import no_grad
from ..core.operand import tensor
from ..generated.tensor import Tensor

INDEX = "%gradspec"  # no encoded name is equal to it: an encoded "%" is followed by two hexadecimal digits
VERSION = 1


def save(path: str | os.PathLike, state: Mapping[str, Tensor]) -> None:
    """Write named tensors to `path`, whole or not at all.

    Parameters
    ----------
    path : str or PathLike
        Used as it is; `.npz` is the usual ending.  With the ending `.safetensors`, a file of that format is written, which wants
        the package safetensors.
    state : mapping from str to Tensor
        Any names; leaves only.

    Raises
    ------
    TypeError
        Where a name is not a str or a value is not a Tensor.
    ValueError
        Where a tensor is not a leaf: its graph cannot be saved.
    """
    for name, value in state.items():
        if not isinstance(name, str):
            raise TypeError(f"save: names must be str, got {name!r}")
        if not isinstance(value, Tensor):
            raise TypeError(f"save: state[{name!r}] must be a Tensor, got {type(value).__name__}; see gradspec.tensor")
        if not value.is_leaf:
            raise ValueError(f"save: state[{name!r}] is not a leaf and its graph cannot be saved; save its detach()")
    with no_grad():
        arrays = {name: np.asanyarray(value.numpy()) for name, value in state.items()}
    needs_grad = [name for name, value in state.items() if value.requires_grad]
    if os.fspath(path).endswith(".safetensors"):
        from .safetensors_files import write_safetensors

        data = write_safetensors(arrays, needs_grad)
        replace(path, lambda file: file.write(data))
    else:
        replace(path, lambda file: write(file, arrays, needs_grad))


def replace(path: str | os.PathLike, write: Callable[[BinaryIO], object]) -> None:
    """Write a file beside the one at `path`, and put it in its place when it is whole."""
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


def write(file: BinaryIO, arrays: dict[str, np.ndarray], needs_grad: list[str]) -> None:
    """Arrays as a `.npz` file."""
    import json
    import zipfile

    members = {encode(name): array for name, array in arrays.items()}
    members[INDEX] = np.array(json.dumps({"version": VERSION, "requires_grad": needs_grad}))
    with zipfile.ZipFile(file, "w", allowZip64=True) as archive:
        for name, array in members.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def load(path: str | os.PathLike) -> dict[str, Any]:
    """Read what `save` wrote, in the same order, or weights that PyTorch or safetensors has written.

    What a file is shows in its first bytes and its members, not in its name.

    Parameters
    ----------
    path : str or PathLike

    Returns
    -------
    dict from str to Tensor
        Leaves with the dtypes and `requires_grad` that they were saved with.  Of PyTorch's file, the nest that `torch.save` was
        given, with Tensors for its tensors; nothing in it is imported or called.  Brain floats become single precision.

    Raises
    ------
    ValueError
        Where the file is damaged, or is not one that `save` wrote; where PyTorch's holds something else than tensors, numbers,
        text and nests of them.
    """
    import json
    import zipfile
    from urllib.parse import unquote

    from .pytorch_files import is_pytorch, read_pytorch
    from .safetensors_files import is_safetensors, read_safetensors

    with open(path, "rb") as file:
        if is_safetensors(file.read(9)):
            file.seek(0)
            return read_safetensors(file.read(), os.fspath(path))
        file.seek(0)
        if is_pytorch(file):
            return read_pytorch(file, os.fspath(path))
        try:
            with np.load(file, allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
            index = json.loads(arrays.pop(INDEX).item())
            version, wanted = index["version"], set(index["requires_grad"])
        # np.load returns an array for .npy files: those have no `files`.
        except (zipfile.BadZipFile, AttributeError, KeyError, TypeError, ValueError, EOFError, OSError) as error:
            raise ValueError(f"load: {os.fspath(path)!r} is damaged or was not written by gradspec.save") from error
    if version > VERSION:
        raise ValueError(f"load: {os.fspath(path)!r} was written by a later gradspec (file version {version})")
    state = {unquote(name, errors="surrogatepass"): array for name, array in arrays.items()}
    return {name: tensor(array, requires_grad=name in wanted) for name, array in state.items()}


def encode(name: str) -> str:
    """`name` as the name of a zip member: letters, digits and `_.-~` stay, all else is percent-encoded."""
    from urllib.parse import quote

    return quote(name, safe="", errors="surrogatepass")
