"""Containers: modules in sequences and dictionaries, registered as submodules.

Defines Sequential, ModuleList and ModuleDict.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Self, overload

from .module import Module
from .tree import counted


def place(index: Any, count: int) -> int:
    """An index from either end, converted to count from the beginning."""
    found = operator.index(index)
    if not -count <= found < count:
        raise IndexError(f"index {found} is out of range")
    return found % count


class _Numbered(Module):
    """Modules with numbers as names."""

    def _fill(self, modules: Iterable[Module | None]) -> None:
        modules = list(modules)
        self._modules.clear()
        for number, module in enumerate(modules):
            self.add_module(str(number), module)

    def _key(self, index: Any) -> str:
        return list(self._modules)[place(index, len(self._modules))]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(list(self._modules.values()))  # type: ignore[arg-type]

    @overload
    def __getitem__(self, index: int) -> Module: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self._of(list(self._modules.items())[index])
        return self._modules[self._key(index)]

    def _of(self, items: list[tuple[str, Module | None]]) -> Self:
        found = type(self)()
        found._fill(module for _, module in items)
        return found

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, self._key(index), module)

    def __delitem__(self, index: int | slice) -> None:
        for key in list(self._modules)[index] if isinstance(index, slice) else [self._key(index)]:
            delattr(self, key)
        self._fill(self._modules.values())

    def append(self, module: Module) -> Self:
        """Append a module, and return the container."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Self:
        """Append several modules, and return the container."""
        if not isinstance(modules, Iterable):
            raise TypeError(f"{type(self).__name__}.extend should be called with an iterable, but got {type(modules).__name__}")
        for module in list(modules):
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> Self:
        """Insert a module before the one at `index`, and return the container."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        modules = list(self._modules.values())
        if not -len(modules) <= index <= len(modules):
            raise IndexError(f"Index out of range: {index}")
        modules.insert(index, module)
        self._fill(modules)
        return self

    def pop(self, index: int) -> Module:
        """Remove a module and return it."""
        found = self[index]
        del self[index]
        return found

    def __add__(self, other: Iterable[Module]) -> Self:
        return self._of([("", module) for module in chain(self, other)])

    def __iadd__(self, other: Iterable[Module]) -> Self:
        return self.extend(other)


class Sequential(_Numbered):
    """Modules in sequence: each is called with the result of its predecessor.

    Parameters
    ----------
    *args : Module, or one dict of str to Module
        The keys of a dict are the names of the modules.

    Examples
    --------
    >>> net = gs.nn.Sequential(gs.nn.Linear(2, 8), gs.nn.ReLU(), gs.nn.Linear(8, 1))
    >>> net(gs.ones((5, 2))).shape
    (5, 1)
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], Mapping):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for number, module in enumerate(args):
                self.add_module(str(number), module)

    def forward(self, x: Any) -> Any:
        for module in self:
            x = module(x)
        return x

    def _of(self, items: list[tuple[str, Module | None]]) -> Self:
        named = items if all(name for name, _ in items) else [(str(i), module) for i, (_, module) in enumerate(items)]
        return type(self)(dict(named))

    def __delitem__(self, index: int | slice) -> None:
        numbered = list(self._modules) == [str(number) for number in range(len(self))]
        for key in list(self._modules)[index] if isinstance(index, slice) else [self._key(index)]:
            delattr(self, key)
        if numbered:
            self._fill(self._modules.values())

    def __mul__(self, other: int) -> Self:
        if not isinstance(other, int) or other <= 0:
            raise ValueError(f"Sequential can be repeated a positive number of times, not {other!r}")
        return self._of([("", module) for module in [*self] * other])

    __rmul__ = __mul__

    def __imul__(self, other: int) -> Self:
        self._fill([*(self * other)])
        return self


class ModuleList(_Numbered):
    """A list of modules.

    Parameters
    ----------
    modules : iterable of Module, optional
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        self.extend(modules or ())

    def __repr__(self) -> str:
        """Equal modules in succession share a line."""
        shown: list[tuple[int, int, str]] = []
        for number, module in enumerate(self):
            text = repr(module)
            if shown and shown[-1][2] == text:
                shown[-1] = (shown[-1][0], number, text)
            else:
                shown.append((number, number, text))
        if not shown:
            return f"{self._get_name()}()"
        lines = [f"({a}): {text}" if a == b else f"({a}-{b}): {b - a + 1} x {text}" for a, b, text in shown]
        inside = "".join("\n  " + line.replace("\n", "\n  ") for line in lines)
        return f"{self._get_name()}({inside}\n){counted(self)}"


class ModuleDict(Module):
    """A dictionary of modules, in insertion order.

    Parameters
    ----------
    modules : mapping of str to Module, or iterable of (str, Module), optional
    """

    def __init__(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]] | None = None) -> None:
        super().__init__()
        self.update(modules or {})

    def __getitem__(self, key: str) -> Module:
        return self._modules[key]  # type: ignore[return-value]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: object) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Remove all modules."""
        self._modules.clear()

    def pop(self, key: str) -> Module:
        """Remove a module and return it."""
        return self._modules.pop(key)  # type: ignore[return-value]

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._modules.keys()

    def items(self) -> Iterable[tuple[str, Module]]:
        """The names and the modules."""
        return self._modules.items()  # type: ignore[return-value]

    def values(self) -> Iterable[Module]:
        """The modules."""
        return self._modules.values()  # type: ignore[return-value]

    def update(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]]) -> None:
        """Insert modules, replacing those with the same names.

        Parameters
        ----------
        modules : mapping of str to Module, ModuleDict, or iterable of (str, Module)
        """
        if not isinstance(modules, Iterable):
            raise TypeError(
                f"ModuleDict.update should be called with an iterable of key/value pairs, but got {type(modules).__name__}"
            )
        for key, module in modules.items() if isinstance(modules, (Mapping, ModuleDict)) else modules:
            self[key] = module
