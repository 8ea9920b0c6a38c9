import numpy.typing as npt

from gradspec import Tensor

def tensor(data: npt.ArrayLike | Tensor, dtype: npt.DTypeLike | None = None, requires_grad: bool = False) -> Tensor: ...
def foreign(data: npt.ArrayLike) -> Tensor: ...
def asarray(
    data: npt.ArrayLike | Tensor,
    dtype: npt.DTypeLike | None = None,
    *,
    requires_grad: bool = False,
    copy: bool | None = None,
) -> Tensor: ...
