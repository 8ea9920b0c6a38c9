"""The generator that random operators draw from.

Owns the default generator, which all threads share, and the values that users may pass instead.  Knows no tensors.
"""

import functools
import os
from _thread import RLock  # `threading` is imported by programs that have threads
from importlib import import_module
from typing import Any

import numpy as np


class Holder:
    """Something that random operators draw from by way of the NumPy generator that it holds."""

    def __init__(self, generator: "np.random.Generator") -> None:
        self.generator = generator


_default: "np.random.Generator | None" = None  # made when it is first asked for
_making = RLock()
_held: list[Any] = []  # by a fork


@functools.cache
def numpy_random() -> Any:
    """NumPy's random numbers, which are imported when they are first used.

    `np.random` is not for that: NumPy binds the name late, and of two threads that ask at once one may end in a recursion.
    """
    return import_module("numpy.random")


def _wait_for_draws() -> None:
    """Hold the default generator while the process is forked: in the child nobody would let go of what another thread holds."""
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
    """Start the default generator anew: from here on the same calls draw the same numbers.

    Parameters
    ----------
    seed : int
        Whatever `numpy.random.default_rng` takes as a seed.

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

    None is the default generator.  A generator is used, and moved on.  An int is a seed, as it is for
    `numpy.random.default_rng`: each call with it draws the same numbers.
    """
    global _default
    if value is None:
        if _default is None:
            with _making:  # another thread may have made it, or have set one that is seeded
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
    raise TypeError(f"{op}: argument '{argument}' must be a numpy.random.Generator, an int to seed one, or None for the default "
                    f"one of gradspec.random.manual_seed, got {type(value).__name__}{hint}")  # fmt: skip
