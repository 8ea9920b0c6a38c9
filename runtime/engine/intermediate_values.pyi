from collections.abc import Callable
from typing import Any, TypeVar

_Backward = TypeVar("_Backward", bound=Callable[..., Any])

def set_follower(follower: Callable[[tuple[Any, ...], list[int]], Any]) -> None: ...
def once_differentiable(function: _Backward) -> _Backward: ...
