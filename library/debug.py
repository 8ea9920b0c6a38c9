"""Looking at values while a program runs: `gs.debug.print` and `gs.debug.callback`, under JAX's names.

Owns what is only looked at: it is no guard of a compiled function, which prints and calls back again at each replay.
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
    """Call a Python function with the numbers of this moment, also where a compiled function is replayed.

    Within `gs.compile`, `losses.append(float(loss))` makes a guard of the loss, for Python may go on by it as it likes.
    `gs.debug.callback(losses.append, loss)` does not: what leaves this way does not come back.  So a compiled function must not
    read what its callbacks change.  Where something may still send the call another way (a branch on a value), the callback waits
    until nothing can.

    Parameters
    ----------
    callback : callable
        Gets copies of the arguments as tensors, which it may keep, and is called under `no_grad`.  What it returns is dropped.
    *args, **kwargs
        Nests of tensors, arrays, numbers and strings.
    ordered : bool
        As of JAX; calls are made in the order of the program in any case.

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
    """Print the numbers of this moment, also where a compiled function is replayed.

    Parameters
    ----------
    fmt : str
        As of `str.format`: `"loss {:.3f}, step {n}"`.
    *args, **kwargs
        What stands in its braces: tensors, arrays, numbers.
    ordered : bool
        As of JAX; lines are printed in the order of the program in any case.

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


def __dir__() -> list[str]:
    return __all__
