"""Operator: a layer that calls one function, with arguments fixed at its construction.

Derives such a class from its annotated fields: they are the parameters of its constructor and the arguments of the function.  So
a layer consists of the line that names its function and a line for each field; the docstring of the function describes the fields.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from inspect import Parameter as Argument
from inspect import Signature, cleandoc, get_annotations
from typing import Any, dataclass_transform

import gradspec as gs

from .module import Module

# Arguments whose names differ between PyTorch's layers and the functions.
ARGUMENTS = {"dim": "axis", "keepdim": "keepdims", "start_dim": "start_axis", "end_dim": "end_axis"}
ENTRY = re.compile(r"^(\w+) : (.*?)(?:, (?:optional|default .*))?\n((?:    .*\n)*)", re.M)  # of a docstring: name, type, words
APART = ("inplace", "return_indices", "size_average", "reduce")  # fields that are not arguments of the functions


@cache
def described(doc: str) -> dict[str, tuple[str, str]]:
    """The parameters in a docstring: name -> type and words."""
    section = cleandoc(doc).partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    return {name: (kind, words) for name, kind, words in ENTRY.findall(f"{section}\n")}


@dataclass_transform()
class Operator(Module):
    """A layer that calls one function.

    The class statement of a layer has the arguments
        call : the function
        shown : the fields in its `repr`; a star omits a field's name
        trains : whether the function receives the training mode
        held : the fields that are buffers

    Parameters
    ----------
    inplace : bool
        Whether the result is written into the input.
    """

    _call: Callable[..., Any]
    _signature: Signature
    _defaults: dict[str, Any] = {}  # noqa: RUF012 (of each field; each class makes its own)
    _arguments: tuple[tuple[str, str], ...] = ()
    _shown: tuple[str, ...] = ()
    _held: tuple[str, ...] = ()
    _trains = False

    def __init_subclass__(
        cls, call: Callable[..., Any] | None = None, shown: str = "", trains: bool = False, held: str = "", **kwargs: Any
    ) -> None:
        super().__init_subclass__(**kwargs)
        own = vars(cls)
        fields = {name: own.get(name, Argument.empty) for name in get_annotations(cls) if not name.startswith("_")}
        for name in [name for name in fields if name in own]:  # otherwise it would hide a buffer or a module with that name
            delattr(cls, name)
        cls._defaults = {**cls._defaults, **fields}
        cls._held = tuple(held.split()) or cls._held
        if call is None:
            return
        arguments = [Argument(name, Argument.POSITIONAL_OR_KEYWORD, default=value) for name, value in cls._defaults.items()]
        cls._signature = cls.__signature__ = Signature(arguments)  # type: ignore[attr-defined]
        cls._call = staticmethod(call)
        cls._arguments = tuple((name, ARGUMENTS.get(name, name)) for name in cls._defaults if name not in APART)
        cls._shown, cls._trains = tuple(shown.split()), trains
        cls._describe(call)

    @classmethod
    def _describe(cls, call: Callable[..., Any]) -> None:
        """Add the fields to the docstring: a class describes its own, or else the function does."""
        found: dict[str, tuple[str, str]] = {}
        for doc in (call.__doc__, *(vars(base).get("__doc__") for base in reversed(cls.__mro__))):
            found |= described(doc or "")
        lines = []
        for name, default in cls._defaults.items():
            kind, words = found.get(name) or found.get(ARGUMENTS.get(name, name)) or ("", "")
            if default is not Argument.empty:
                kind += f"{' or None' * (default is None and 'None' not in kind)}, default {default!r}"
            lines.append(f"{name} : {kind}\n{words}")
        if lines and cls.__doc__:
            summary = cleandoc(cls.__doc__).partition("\n\nParameters\n")[0]
            cls.__doc__ = f"{summary}\n\nParameters\n----------\n{''.join(lines)}"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{type(self).__name__}: {error}; its arguments are {', '.join(self._defaults)}") from None
        bound.apply_defaults()
        for name, value in bound.arguments.items():
            if name in self._held:
                self.register_buffer(name, None if value is None else gs.asarray(value))
            else:
                setattr(self, name, value)
        self._prepare()

    def _prepare(self) -> None:
        """Adjust the fields after construction; for classes to override."""

    def forward(self, *inputs: Any) -> Any:
        options = {argument: getattr(self, name) for name, argument in self._arguments}
        if self._trains:
            options["training"] = self.training
        result = self._call(*inputs, **options)
        return inputs[0].copy_(result) if getattr(self, "inplace", False) else result

    def extra_repr(self) -> str:
        lines = [f"{getattr(self, name[1:])}" if name[0] == "*" else f"{name}={getattr(self, name)!r}" for name in self._shown]
        if "inplace" not in self._shown and getattr(self, "inplace", False):
            lines.append("inplace=True")
        return ", ".join(lines)
