"""Parameter and Buffer: tensors that a module registers when they are assigned to one of its attributes.

Defines these two types, and their uninitialized forms, whose shapes are unknown.  The result of an operator is always a plain
Tensor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gradspec as gs

from ..support.lazy_import import answer

if TYPE_CHECKING:  # for checkers alone: it is slow to import
    import numpy.typing as npt

__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "is_lazy"]
answer(__name__)


class Parameter(gs.Tensor):
    """A leaf that a module trains: assigned to an attribute of a `Module`, it is one of `parameters()`.

    Parameters
    ----------
    data : array_like, optional
        Its memory is shared, as in `gradspec.asarray`; its history is not. Empty by default.
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
        Whether `state_dict` contains it.
    """

    persistent: bool

    def __init__(self, data: gs.Tensor | npt.ArrayLike | None = None, *, persistent: bool = True) -> None:
        self.data = gs.empty(0) if data is None else gs.asarray(data).detach()
        self.persistent = persistent


class _Uninitialized(gs.Tensor):
    """A tensor whose shape is not known yet.

    It contains a single NaN, so that computing with it gives no finite result.
    """

    cls_to_become: type[gs.Tensor]
    persistent: bool

    def _begin(self, device: Any, dtype: Any) -> None:
        self.data = gs.full(1, gs.nan, dtype=dtype).to(device=device)

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Become a tensor of this shape, with uninitialised elements.

        Parameters
        ----------
        shape : int or sequence of int
        device : str, optional
        dtype : dtype, optional
            None means the dtype given to the constructor.
        """
        wanted = self.requires_grad
        with gs.no_grad():
            self.data = gs.empty(shape, dtype=self.dtype if dtype is None else dtype).to(device=device)
        self.requires_grad = wanted
        self.__class__ = self.cls_to_become  # type: ignore[assignment]

    @property
    def shape(self) -> Any:
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in `load_state_dict` "
            "when trying to load an uninitialized parameter into an initialized one. Call `forward` to initialize the parameters "
            "before accessing their attributes."
        )

    size = ndim = shape  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        memo[id(self)] = found = self.__reduce__()[0](*self.__reduce__()[1])
        return found

    def __reduce__(self) -> Any:
        return type(self), (self.requires_grad, None, self.dtype)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.__reduce__()


class UninitializedParameter(_Uninitialized, Parameter):
    """A parameter whose shape is not known yet; `materialize(shape)` makes it a `Parameter`.

    Parameters
    ----------
    requires_grad : bool
    device : str, optional
    dtype : dtype, optional
    """

    cls_to_become = Parameter

    def __init__(self, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> None:
        self._begin(device, dtype)
        self.requires_grad = requires_grad


class UninitializedBuffer(_Uninitialized):
    """A buffer whose shape is not known yet; `materialize(shape)` makes it a tensor.

    Parameters
    ----------
    requires_grad : bool
    device : str, optional
    dtype : dtype, optional
    persistent : bool
        Whether `state_dict` contains it.
    """

    def __init__(self, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True) -> None:
        self._begin(device, dtype)
        self.requires_grad, self.persistent = requires_grad, persistent

    cls_to_become = Buffer

    def __reduce__(self) -> Any:
        return type(self), (self.requires_grad, None, self.dtype, self.persistent)


def is_lazy(param: Any) -> bool:
    """Whether a tensor is a parameter or a buffer of unknown shape."""
    return isinstance(param, _Uninitialized)


def parameter(shape: Any, device: Any = None, dtype: Any = None) -> Parameter:
    """A parameter with uninitialised elements; in double precision by default, like all tensors.

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
