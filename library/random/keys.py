"""Keys: states of random numbers that programs pass on, as in JAX.

A key is an ordinary tensor of two uint64 words, so that every transform takes it, and it can be saved, stacked and sent.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

import gradspec  # noqa: F401 (waits for it)

from ..core.conversion import asarray
from ..core.tensor import TensorBase
from ..support.dispatch import ops
from ..support.errors import CallTypeError, CallValueError

if TYPE_CHECKING:
    from ..generated.tensor import Tensor

__all__ = ["PRNGKey", "clone", "fold_in", "key", "key_data", "split", "wrap_key_data"]

WORD = np.dtype(np.uint64)
_ROOT = np.zeros(2, WORD)


def is_key(value: Any) -> bool:
    """Whether a value is one key: a tensor or ndarray of two uint64 words."""
    return isinstance(value, (TensorBase, np.ndarray)) and value.dtype == WORD and value.shape == (2,)


def checked_key(value: Any, name: str, of_numpy: bool = False) -> Any:
    """The key, or an error that says how to get one, and which of NumPy's methods takes the other parameters."""
    if is_key(value):
        return value
    if isinstance(value, (TensorBase, np.ndarray)) and value.dtype == WORD and value.shape[-1:] == (2,):
        raise CallValueError(f"{name}: one key is needed, got keys of shape {tuple(value.shape[:-1])}: write "
                             f"gs.vmap(lambda key: gs.random.{name}(key, ...))(keys)")  # fmt: skip
    beside = f"; numpy.random.default_rng(seed).{name} takes NumPy's parameters" if of_numpy else ""
    raise CallTypeError(f"{name}: the first argument must be a key, as of gs.random.key(0) or gs.random.split(key), got "
                        f"{type(value).__name__}{beside}")  # fmt: skip


def _whole(value: Any, name: str, what: str) -> Any:
    number = isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**64
    array = isinstance(value, (np.integer, np.ndarray, TensorBase)) and value.dtype.kind in "iu" and not value.shape
    if not (number or array):
        raise CallTypeError(f"{name}: {what} must be a whole number of 64 bits, got {value!r}")
    return value


def key(seed: Any) -> "Tensor":
    """A key for the functions of this module that take one.

    Parameters
    ----------
    seed : int
        A whole number of 64 bits, also a 0-d tensor.

    Returns
    -------
    Tensor
        Two words of uint64.

    Raises
    ------
    TypeError
        `seed` is not one whole number of 64 bits.

    Notes
    -----
    A draw is a function of its key and its arguments, and nothing else.  The same call draws the same numbers in any order of
    calls, in `vmap`, `scan` and compiled functions, and in all threads and processes.  Use each key once: `split` it for more.
    The numbers come from NumPy's counter-based Philox; other versions of NumPy may draw others from the same words.

    Examples
    --------
    >>> import gradspec as gs
    >>> key, subkey = gs.random.split(gs.random.key(0))
    >>> x = gs.random.normal(subkey, (3,))
    >>> bool((x == gs.random.normal(subkey, (3,))).all())
    True
    """
    return ops._folded_key(_ROOT, _whole(seed, "key", "the seed"), WORD)


PRNGKey = key


def split(key: Any, num: int | tuple[int, ...] = 2) -> "Tensor":
    """New keys: their numbers are independent of each other, and of the numbers that `key` draws.

    Parameters
    ----------
    key : Tensor
        A key, which should not be used afterwards.
    num : int or tuple of int
        Number of keys, or the shape of an array of keys.

    Returns
    -------
    Tensor
        The keys, along the first axes.  More keys begin with the same keys.

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.random.split(gs.random.key(0), 5).shape
    (5, 2)
    """
    count = (num,) if isinstance(num, (int, np.integer)) else tuple(num)
    return ops._keyed(checked_key(key, "split"), "split", (*count, 2), WORD)


def fold_in(key: Any, data: Any) -> "Tensor":
    """The key that follows from a key and a whole number, such as the number of a step.

    Parameters
    ----------
    key : Tensor
    data : int
        A whole number of 64 bits, also a 0-d tensor.

    Returns
    -------
    Tensor
        A key.

    Examples
    --------
    >>> import gradspec as gs
    >>> key = gs.random.key(0)
    >>> bool((gs.random.fold_in(key, 1) == gs.random.fold_in(key, 2)).any())
    False
    """
    return ops._folded_key(checked_key(key, "fold_in"), _whole(data, "fold_in", "data"), WORD)


def key_data(keys: Any) -> "Tensor":
    """The words of keys, which are the keys themselves.

    Parameters
    ----------
    keys : Tensor
        One key, or keys along the first axes.

    Returns
    -------
    Tensor
    """
    if not (isinstance(keys, (TensorBase, np.ndarray)) and keys.dtype == WORD and keys.shape[-1:] == (2,)):
        checked_key(keys, "key_data")
    return asarray(keys)


def wrap_key_data(key_bits_array: Any, *, impl: Any = None) -> "Tensor":
    """Keys of given words.

    Parameters
    ----------
    key_bits_array : array_like of unsigned int, shape (..., 2)
    impl : None
        There is one kind of key.

    Returns
    -------
    Tensor

    Raises
    ------
    TypeError
        The words are not pairs of unsigned integers.
    """
    words = asarray(key_bits_array)
    if words.dtype.kind != "u" or words.shape[-1:] != (2,):
        raise CallTypeError(f"wrap_key_data: a key is two words of uint64, got {words.dtype}{list(words.shape)}; write "
                            "gs.random.key(seed) for a new one")  # fmt: skip
    if impl is not None:
        raise CallTypeError("wrap_key_data: there is one kind of key; leave impl= out")
    return words.astype(WORD)


def clone(key: Any) -> "Tensor":
    """A copy of a key, which draws the same numbers.

    Parameters
    ----------
    key : Tensor

    Returns
    -------
    Tensor
    """
    return asarray(checked_key(key, "clone"), copy=True)
