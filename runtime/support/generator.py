"""Generators: the source of random numbers for random operators.

Holds the default generator, which all threads share, and checks the values that users may pass instead.
"""

import functools
import os
from _thread import RLock  # only programs with threads import `threading`
from importlib import import_module
from typing import Any

import numpy as np


class Holder:
    """An object with a NumPy generator that random operators draw from."""

    def __init__(self, generator: "np.random.Generator") -> None:
        self.generator = generator


_default: "np.random.Generator | None" = None  # created on first use
_making = RLock()
_held: list[Any] = []  # locks held during a fork


@functools.cache
def numpy_random() -> Any:
    """NumPy's module of random numbers, imported on first use.

    `np.random` itself is unsafe here: NumPy binds the name late, and if two threads ask at once, one may end in a recursion.
    """
    return import_module("numpy.random")


def _wait_for_draws() -> None:
    """Lock the default generator during a fork: in the child, a lock held by another thread would never be released."""
    _making.acquire()
    if _default is not None:
        _default.bit_generator.lock.acquire()
        _held.append(_default.bit_generator.lock)


def _go_on() -> None:
    while _held:
        _held.pop().release()
    _making.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_wait_for_draws, after_in_parent=_go_on, after_in_child=_go_on)


def manual_seed(seed: int) -> "np.random.Generator":
    """Restart the default generator: from here on the same calls draw the same numbers.

    Parameters
    ----------
    seed : int
        Any seed that `numpy.random.default_rng` takes.

    Returns
    -------
    numpy.random.Generator
        The new default generator.
    """
    global _default
    generator = numpy_random().default_rng(seed)
    with _making:
        _default = generator
    return generator


def as_generator(value, op: str, argument: str) -> "np.random.Generator":
    """The generator that a random operator draws from.

    None is the default generator.  A generator is used, and advanced.  An int is a seed, as for `numpy.random.default_rng`:
    each call with it draws the same numbers.
    """
    global _default
    if value is None:
        if _default is None:
            with _making:  # another thread may have created it, or have set a seeded one
                if _default is None:
                    _default = numpy_random().default_rng()
        return _default
    random = numpy_random()
    if isinstance(value, random.Generator):
        return value
    if isinstance(value, Holder):
        return value.generator
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        if value < 0:
            raise ValueError(f"{op}: argument '{argument}' is a seed and must not be negative, got {value}")
        return random.default_rng(value)
    hint = "; wrap it: numpy.random.Generator(...)" if isinstance(value, random.BitGenerator) else ""
    if getattr(value, "dtype", None) == np.uint64:
        hint = "; a key is the first argument: gs.random.normal(key, shape)"
    raise TypeError(f"{op}: argument '{argument}' must be a numpy.random.Generator, an int to seed one, or None for the default "
                    f"one of gradspec.random.manual_seed, got {type(value).__name__}{hint}")  # fmt: skip
