from collections.abc import Callable
from typing import Any

from gradspec import Tensor

class SavedVariable:
    @property
    def data(self) -> Any: ...
    @property
    def unpack_hook(self) -> Callable[[Any], Tensor] | None: ...
    def register_hooks(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None: ...
