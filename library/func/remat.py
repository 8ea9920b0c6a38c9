"""Checkpoints as JAX writes them: a function that computes again, in a backward pass, what its operators would keep.

Owns the transformation; `autograd.checkpoint` is what it does.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from ..autograd.checkpoint import checkpoint as checkpointed
from ..support.errors import CallTypeError


def checkpoint(
    fun: Callable[..., Any] | None = None, *, prevent_cse: bool = True, policy: Any = None, static_argnums: Any = ()
) -> Callable[..., Any]:
    """A function of which a backward pass keeps the arguments alone: it is called again for what its operators would have kept.

    Parameters
    ----------
    fun : callable, optional
        Has to do the same in both calls.  Without it, `checkpoint` is a decorator's argument list.
    prevent_cse, static_argnums
        Taken from JAX, and not needed.
    policy : None
        Which values to keep all the same: none.

    Returns
    -------
    callable
        Takes the arguments of `fun`.  `gs.utils.checkpoint.checkpoint(fun, *args)` is one call, as PyTorch writes it, and has
        more options.

    Examples
    --------
    >>> import gradspec as gs
    >>> gs.grad(gs.checkpoint(lambda x: gs.sin(gs.sin(x))))(0.0).item()
    1.0
    """
    if fun is None:
        return lambda fun: checkpoint(fun, prevent_cse=prevent_cse, policy=policy, static_argnums=static_argnums)
    if not callable(fun):
        raise CallTypeError(f"checkpoint: a function is needed, got {type(fun).__name__}; a call is "
                            "gs.utils.checkpoint.checkpoint(f, *args)")  # fmt: skip
    if policy is not None:
        raise CallTypeError("checkpoint: there are no policies; checkpoint the functions whose values are not to be kept")
    function = fun

    @wraps(fun)
    def again(*args: Any, **kwargs: Any) -> Any:
        return checkpointed(_call, function, args, kwargs, use_reentrant=False)

    return again


def _call(fun: Callable[..., Any], args: tuple, kwargs: dict) -> Any:
    return fun(*args, **kwargs)
