"""Containers of parameters: a list and a dictionary whose parameters belong to the module.

Defines ParameterList and ParameterDict.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self, overload

import gradspec as gs

from ..parameter import Parameter
from .containers import place
from .module import Module


class _Held(Module):
    """A container of parameters by key; other values are plain attributes."""

    def _put(self, name: str, value: Any) -> None:
        if isinstance(value, gs.Tensor) and not isinstance(value, Parameter):
            value = Parameter(value)
        setattr(self, name, value)

    def _lines(self, items: Iterable[tuple[Any, Any]]) -> str:
        lines = []
        for key, value in items:
            what = "Object of type: " + type(value).__name__
            if isinstance(value, gs.Tensor):
                kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
                what = f"{kind} containing: [{value.dtype} of shape {tuple(value.shape)}]"
            lines.append(f"  ({key}): {what}")
        return "\n".join(lines)


class ParameterList(_Held):
    """A list of parameters.

    Parameters
    ----------
    values : iterable, optional
        Tensors become parameters; other values are stored unchanged and are not parameters.
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        self.extend(values or ())

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return (getattr(self, str(number)) for number in range(self._size))

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> ParameterList: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return getattr(self, str(place(index, self._size)))

    def __setitem__(self, index: int, value: Any) -> None:
        self._put(str(place(index, self._size)), value)

    def append(self, value: Any) -> Self:
        """Append a value, and return the list."""
        self._put(str(self._size), value)
        self._size += 1
        return self

    def extend(self, values: Iterable[Any]) -> Self:
        """Append several values, and return the list."""
        if not isinstance(values, Iterable) or isinstance(values, gs.Tensor):
            raise TypeError(f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}")
        for value in list(values):
            self.append(value)
        return self

    def __iadd__(self, values: Iterable[Any]) -> Self:
        return self.extend(values)

    def extra_repr(self) -> str:
        return self._lines(enumerate(self))


class ParameterDict(_Held):
    """A dictionary of parameters, in insertion order.

    Parameters
    ----------
    parameters : mapping of str to Tensor, or iterable of (str, Tensor), optional
        Tensors become parameters; other values are stored unchanged and are not parameters.
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        self.update(parameters or {})

    def __getitem__(self, key: str) -> Any:
        if key not in self._keys:
            raise KeyError(key)
        return self._parameters[key] if key in self._parameters else getattr(self, key)

    def __setitem__(self, key: str, value: Any) -> None:
        if not isinstance(key, str):
            raise TypeError(
                f"Index given to ParameterDict cannot be used as a key as it is not a string (type is '{type(key).__name__}')."
            )
        self._keys[key] = None
        self._put(key, value)

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._keys))

    def __or__(self, other: ParameterDict) -> ParameterDict:
        return type(self)({**dict(self.items()), **dict(other.items())})

    def __ior__(self, other: Any) -> Self:
        self.update(other)
        return self

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._keys.keys()

    def values(self) -> Iterable[Any]:
        """The parameters."""
        return [self[key] for key in self._keys]

    def items(self) -> Iterable[tuple[str, Any]]:
        """The names and the parameters."""
        return [(key, self[key]) for key in self._keys]

    def get(self, key: str, default: Any = None) -> Any:
        """The parameter with this name, or `default`."""
        return self[key] if key in self._keys else default

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The parameter with this name; a missing one is set to `default` first."""
        if key not in self._keys:
            self[key] = default
        return self[key]

    def pop(self, key: str) -> Any:
        """Remove a parameter and return it."""
        found = self[key]
        del self[key]
        return found

    def popitem(self) -> tuple[str, Any]:
        """Remove the last parameter and return it."""
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def clear(self) -> None:
        """Remove all parameters."""
        for key in list(self._keys):
            del self[key]

    def copy(self) -> ParameterDict:
        """A new dictionary with the same parameters."""
        return type(self)(dict(self.items()))

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """A dictionary with `default` for each of the keys."""
        return type(self)({key: default for key in keys})

    def update(self, parameters: Any) -> None:
        """Insert parameters, replacing those with the same names.

        Parameters
        ----------
        parameters : mapping of str to Tensor, ParameterDict, or iterable of (str, Tensor)
        """
        if not isinstance(parameters, Iterable):
            raise TypeError(
                f"ParameterDict.update should be called with an iterable of key/value pairs, but got {type(parameters).__name__}"
            )
        for key, value in parameters.items() if isinstance(parameters, (Mapping, ParameterDict)) else parameters:
            self[key] = value

    def extra_repr(self) -> str:
        return self._lines(self.items())
