"""Libraries that take long to import, imported when a test wants something of them: collecting wants nothing."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest


class Later:
    """A module whose names are looked up when they are used; a test that uses one is skipped where the library is missing."""

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, part: str) -> Any:
        if part == "_mock_name" or part.startswith("__"):
            raise AttributeError(part)  # pytest asks for these of every name in a file
        return getattr(pytest.importorskip(self._name), part)


def later(name: str, reason: str = "", needs: str = "") -> Any:
    """A module by its name; where `needs`, or the library itself, is missing, the tests of a file are skipped for the `reason`, if any."""
    if reason and importlib.util.find_spec(needs or name.partition(".")[0]) is None:
        pytest.skip(reason, allow_module_level=True)
    return Later(name)
