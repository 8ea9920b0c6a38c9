from typing import Any

from ..core.events import Listener

ROW: list[tuple[str, str]]
CHANGE: list[tuple[str, str]]

class Recorder(Listener):
    dropped: int
    workers: dict[int, int]
    def __init__(self, *, shapes: bool = False, memory: bool = False, stack: bool = False, limit: int = ...) -> None: ...
    def taken(self) -> tuple[bytes, bytes, list[str], list[str], list[Any], list[Any]]: ...

def line_at(origin: int) -> tuple[str, int, str] | None: ...
def now() -> int: ...
