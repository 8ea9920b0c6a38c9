"""JAX's checkpoint: a function whose operators' saved values are rematerialised in the backward pass.

Defines the transformation; `autograd.checkpoint` implements it.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from ..autograd.checkpoint import checkpoint as checkpointed
from ..support.errors import CallTypeError


def checkpoint(
    fun: Callable[..., Any] | None = None, *, prevent_cse: bool = True, policy: Any = None, static_argnums: Any = ()
) -> Callable[..., Any]:
    """A function that saves only its arguments for the backward pass, which calls it again for the other saved values.

    Parameters
    ----------
    fun : callable, optional
        Must compute the same in both calls.  Without it, a decorator with the other arguments is returned.
    prevent_cse : bool
        Accepted for compatibility with JAX, without effect, as `static_argnums` is.
    policy : None
        Must be None: there are no policies for the values to keep.
    static_argnums : int or tuple of int

    Returns
    -------
    callable
        Takes the arguments of `fun`.  `gs.utils.checkpoint.checkpoint(fun, *args)` is a single call in PyTorch's form, with more
        options.

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
