"""Look at values while a program runs: `gs.debug.print` and `gs.debug.callback`, under JAX's names.

A value that is only printed is not a guard of a compiled function.  The function prints, and calls back, at each replay.
"""

import builtins
from collections.abc import Callable
from typing import Any

import gradspec  # noqa: F401 (waits for it)
import gradspec.func  # noqa: F401 (as well)

from .func.callbacks import Callback, called_back
from .support.lazy_import import answer

__all__ = ["callback", "print"]


def callback(callback: Callable[..., Any], *args: Any, ordered: bool = False, **kwargs: Any) -> None:
    """Call a Python function with the current numbers, also when a compiled function is replayed.

    Within `gs.compile`, `losses.append(float(loss))` turns the loss into a guard, because Python may branch on it.
    `gs.debug.callback(losses.append, loss)` does not, because the callback returns nothing to the call.  So a compiled function
    must not read anything that its callbacks change.  The callback waits until all guards of the call have been compared.

    Parameters
    ----------
    callback : callable
        Receives copies of the arguments as tensors, which it may keep.  Runs under `no_grad`; its result is ignored.
    *args
        Pytrees of tensors, arrays, numbers and strings.
    ordered : bool
        As in JAX; the order of calls is the order of the program in any case.
    **kwargs
        Pytrees, as `*args`.

    Examples
    --------
    >>> import gradspec as gs
    >>> losses = []
    >>> @gs.compile
    ... def step(x):
    ...     loss = (x * x).sum()
    ...     gs.debug.callback(losses.append, loss)
    ...     return x * 0.5
    >>> x = gs.asarray([2.0, 4.0])
    >>> for _ in range(3):
    ...     x = step(x)
    >>> [loss.item() for loss in losses]
    [20.0, 5.0, 1.25]
    """
    called_back(Callback("debug", callback), args, kwargs)


def print(fmt: str, *args: Any, ordered: bool = False, **kwargs: Any) -> None:
    """Print the current numbers, also when a compiled function is replayed.

    Parameters
    ----------
    fmt : str
        As for `str.format`: `"loss {:.3f}, step {n}"`.
    *args
        Values for its braces: tensors, arrays, numbers.
    ordered : bool
        As in JAX; the order of lines is the order of the program in any case.
    **kwargs
        Values for braces with a name.

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.debug.print("norm {:.2f} of {n}", gs.asarray(2.5), n=3)
    norm 2.50 of 3
    """
    called_back(Callback("debug", _print), (fmt, *args), kwargs)


def _print(fmt: str, *args: Any, **kwargs: Any) -> None:
    builtins.print(fmt.format(*args, **kwargs))


answer(__name__)
