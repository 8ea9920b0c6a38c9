"""Random numbers that are a function of a key: NumPy's counter-based Philox, started anew by each draw.

A key is two words of 64 bits, the key of Philox.  The counter begins at 0 for draws, and in regions of its own for the keys
that `split` and `fold_in` derive, so that no derived key repeats numbers that are drawn from its parent.
"""

from _thread import _local
from math import prod

import numpy as np

from ..support.generator import numpy_random
from .random import standard

__all__ = ["fold_in", "keyed", "keyed_counts"]

_SPLIT = 2**62  # the highest word of the counter
_FOLDED = 2**63


class _Started(_local):
    """A generator of each thread, which every draw sets to the start of a stream: a new one would take longer than the draw."""

    bits = None

    def at(self, key, counter=(0, 0, 0, 0)):
        if self.bits is None:
            self.bits = numpy_random().Philox(key=0)
            self.generator, self.state = numpy_random().Generator(self.bits), self.bits.state
        self.state["state"]["key"], self.state["state"]["counter"] = key, np.array(counter, np.uint64)
        self.bits.state = self.state
        return self.generator


_started = _Started()


def fold_in(key, data, dtype):
    """The keys that follow from keys and whole numbers.

    Parameters
    ----------
    key : ndarray of uint64
        Two words along the last axis.
    data : ndarray of int
        Its shape broadcasts with the leading axes of `key`.
    dtype : dtype
        That of keys, uint64.

    Returns
    -------
    ndarray of uint64
    """
    key, data = np.asarray(key).astype(np.uint64), np.asarray(data)
    shape = np.broadcast_shapes(key.shape[:-1], data.shape)
    keys, numbers = np.broadcast_to(key, (*shape, 2)).reshape(-1, 2), np.broadcast_to(data, shape).astype(np.uint64).ravel()
    folded = np.empty_like(keys)
    for one, number, words in zip(keys, numbers, folded):
        words[...] = _started.at(one, (0, number, 0, _FOLDED)).bit_generator.random_raw(2)
    return folded.astype(dtype, copy=False).reshape(*shape, 2)


def keyed(key, distribution, shape, dtype):
    """Random numbers of a distribution without parameters.

    Parameters
    ----------
    key : ndarray of uint64
        Two words along the last axis.  Its other axes are the first ones of `shape`: each key draws what it draws alone.
    distribution : str
        One of `kernels.standard`; "bits" for whole numbers of all bits of the dtype, "permutation" for the numbers from 0 to the
        length of the result, "split" for keys.
    shape : tuple of int
    dtype : dtype

    Returns
    -------
    ndarray
    """
    key, shape, dtype = np.asarray(key).astype(np.uint64), tuple(shape), np.dtype(dtype)
    rest = shape[key.ndim - 1 :]
    drawn = np.empty((prod(shape[: key.ndim - 1]), *rest), dtype)
    for i, one in enumerate(key.reshape(-1, 2)):
        drawn[i, ...] = _of_one(one, distribution, rest, dtype)
    return drawn.reshape(shape)


def _of_one(key, distribution, shape, dtype):
    if distribution == "split":
        return _started.at(key, (0, 0, 0, _SPLIT)).bit_generator.random_raw(prod(shape)).reshape(shape)
    generator = _started.at(key)
    if distribution == "bits":
        return generator.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype, endpoint=True)
    if distribution == "permutation":
        return generator.permutation(shape[0])
    if dtype.kind != "f":
        raise TypeError(f"{distribution}: the random numbers are real floats, not {dtype}")
    return standard(distribution, np.zeros((), dtype), np.ones((), dtype), shape, generator)


def keyed_counts(key, distribution, a, b, shape, dtype):
    """Random whole numbers of a distribution with parameters.

    Parameters
    ----------
    key : ndarray of uint64
        Two words.
    distribution : str
        "integers" between `a` and `b`, "poisson" of mean `a`, "binomial" of `a` trials with probability `b`, or "geometric" with
        probability `a`.
    a, b : ndarray
    shape : tuple of int
    dtype : dtype

    Returns
    -------
    ndarray of int
    """
    generator, size = _started.at(np.asarray(key).astype(np.uint64)), tuple(shape)
    draws = {
        "integers": lambda: generator.integers(a, b, size, np.dtype(dtype)), "poisson": lambda: generator.poisson(a, size),
        "binomial": lambda: generator.binomial(a, b, size), "geometric": lambda: generator.geometric(a, size),
    }  # fmt: skip
    if distribution not in draws:
        raise ValueError(f"there is no distribution {distribution!r}")
    return np.asarray(draws[distribution]()).astype(dtype, copy=False)
