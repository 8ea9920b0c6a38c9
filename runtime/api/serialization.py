"""Named tensors in a file: NumPy's `.npz`, without pickle, so that loading a file never runs code from it.

Owns the layout of the file: one array a tensor under its percent-encoded name (`numpy.load` shows them), and one more,
`%gradspec`, whose text says which of them require grad.  Knows leaves only: a graph is not saved.  Zip, JSON and URLs are
imported where they are used: they would double the time of importing gradspec.
"""

import os
from collections.abc import Mapping

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
        Used as it is; `.npz` is the usual ending.
    state : mapping from str to Tensor
        Any names; leaves only.

    Raises
    ------
    TypeError
        Where a name is not a str or a value is not a Tensor.
    ValueError
        Where a tensor is not a leaf: its graph cannot be saved.
    """
    import json
    import zipfile

    for name, value in state.items():
        if not isinstance(name, str):
            raise TypeError(f"save: names must be str, got {name!r}")
        if not isinstance(value, Tensor):
            raise TypeError(f"save: state[{name!r}] must be a Tensor, got {type(value).__name__}; see gradspec.tensor")
        if not value.is_leaf:
            raise ValueError(f"save: state[{name!r}] is not a leaf and its graph cannot be saved; save its detach()")
    index = {"version": VERSION, "requires_grad": [name for name, value in state.items() if value.requires_grad]}
    with no_grad():
        arrays = {encode(name): value.numpy() for name, value in state.items()}
    arrays[INDEX] = np.array(json.dumps(index))

    target = os.path.realpath(path)
    temporary = f"{target}.{os.urandom(8).hex()}.tmp"  # beside the target: a rename within one folder is atomic
    try:
        with open(temporary, "xb") as file:
            with zipfile.ZipFile(file, "w", allowZip64=True) as archive:
                for name, array in arrays.items():
                    with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                        np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        if os.path.exists(temporary):
            os.remove(temporary)
        raise


def load(path: str | os.PathLike) -> dict[str, Tensor]:
    """Read what `save` wrote, in the same order.

    Parameters
    ----------
    path : str or PathLike

    Returns
    -------
    dict from str to Tensor
        Leaves with the dtypes and `requires_grad` that they were saved with.

    Raises
    ------
    ValueError
        Where the file is damaged, or is not one that `save` wrote.
    """
    import json
    import zipfile
    from urllib.parse import unquote

    with open(path, "rb") as file:
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
