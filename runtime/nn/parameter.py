"""Parameter and Buffer: tensors that a module takes up when they are assigned to one of its attributes.

Owns these two types.  An operator's result is a plain Tensor, whatever it was given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gradspec as gs

from ..support.later import answer

if TYPE_CHECKING:  # for checkers alone: it is slow to import
    import numpy.typing as npt

__all__ = ["Buffer", "Parameter"]
answer(__name__)


def __dir__() -> list[str]:
    return list(__all__)


class Parameter(gs.Tensor):
    """A leaf that a module trains: assigned to an attribute of a `Module`, it is one of `parameters()`.

    Parameters
    ----------
    data : array_like, optional
        Its memory is shared, as `gradspec.asarray` shares it; nothing of its history is. Empty by default.
    requires_grad : bool

    Examples
    --------
    >>> gs.nn.Parameter(gs.zeros(2))
    Parameter containing:
    tensor([0., 0.], requires_grad=True)
    """

    def __init__(self, data: gs.Tensor | npt.ArrayLike | None = None, requires_grad: bool = True) -> None:
        self.data = gs.empty(0) if data is None else gs.asarray(data).detach()
        self.requires_grad = requires_grad

    def __repr__(self) -> str:
        return f"Parameter containing:\n{super().__repr__()}"


class Buffer(gs.Tensor):
    """A tensor that belongs to a module's state and is not trained: assigned to an attribute, it is one of `buffers()`.

    Parameters
    ----------
    data : array_like, optional
        Its memory is shared; empty by default.
    persistent : bool
        Whether `state_dict` has it.
    """

    persistent: bool

    def __init__(self, data: gs.Tensor | npt.ArrayLike | None = None, *, persistent: bool = True) -> None:
        self.data = gs.empty(0) if data is None else gs.asarray(data).detach()
        self.persistent = persistent


def parameter(shape: Any, device: Any = None, dtype: Any = None) -> Parameter:
    """A parameter whose numbers are set later; in double precision by default, as all tensors here.

    Parameters
    ----------
    shape : int or sequence of int
    device : str or None
        "cpu" or None: every tensor is in memory.
    dtype : dtype, optional

    Returns
    -------
    Parameter
    """
    return Parameter(gs.empty(shape, dtype=dtype).to(device=device))
