"""Reporter: tell the user, once, why a function runs eagerly."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from .record.capture import Unfit


class Reporter:
    """Warns of each reason once; raises instead if the function is compiled with `strict=True`."""

    def __init__(self, function: Callable[..., Any], strict: bool) -> None:
        self.name, self.strict = name_of(function), strict
        self.said: set[str] = set()

    def report(self, reason: str, depth: int) -> None:
        """Report a reason, at the line `depth` frames above.

        Raises
        ------
        Unfit
            The function is strict.
        """
        if self.strict:
            raise Unfit(f"compile: {self.name} cannot be replayed: {reason}")
        if reason not in self.said:
            self.said.add(reason)
            warnings.warn(f"compile: {self.name} runs eagerly: {reason}", RuntimeWarning, stacklevel=depth + 1)


def name_of(function: Any) -> str:
    return getattr(function, "__qualname__", repr(function))
