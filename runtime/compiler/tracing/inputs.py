"""Inputs: turn the arguments of a call into the parameters of a program.

Decides whether a leaf of an argument is an input, a generator or a part of the program, and names the inputs.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np

from ...core.conversion import asarray
from ...support.errors import CallTypeError
from ...support.pytree import flatten, places, rebuild
from .literals import literal
from .tracer import Recorder
from .values import Value, copied, held, held_generator, mapped

TAKEN = ("np", "gs", "ops")  # names that programs use for modules


class Inputs:
    """The inputs of a call: each array has a name and becomes a tensor, so that operators report it.

    Attributes
    ----------
    values : list of Value
    unpacked : list of (Value, str)
        Each value with its path among the parameters.
    fixed : list of (str, str)
        Numbers and strings, which are parts of the program.
    before : list
        The original arguments, with copies of their arrays.
    """

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.values: list[Value] = []
        self.unpacked: list[tuple[Value, str]] = []
        self.before: list[Any] = []
        self.fixed: list[tuple[str, str]] = []

    def tensors(self, parameter: str, argument: Any) -> Any:
        """An argument with tensors in place of its arrays, in the same memory."""
        leaves, form = flatten(argument)
        arrays = [held(leaf) for leaf in leaves]
        self.before.append(rebuild(form, [own(leaf) if array is None else copied(array) for leaf, array in zip(leaves, arrays)]))
        for leaf, array, path in zip(leaves, arrays, places(form)):
            if array is not None:
                self.enter(array, parameter, path)
            elif held_generator(leaf) is not None:
                source = self.recorder.met.source(held_generator(leaf), name_of(parameter, path))
                source.path = source.path or parameter + path
            elif leaf is None or isinstance(leaf, (bool, int, float, complex, str)) and leaf == leaf:  # NaN equals nothing
                self.fixed.append((parameter + path, literal(leaf)))
        return rebuild(form, [asarray(leaf) if isinstance(leaf, np.ndarray) and array is not None else leaf
                              for leaf, array in zip(leaves, arrays)])  # fmt: skip

    def enter(self, array: np.ndarray, parameter: str, path: str) -> None:
        memory = self.recorder.met
        value = memory.known(array)
        if value is not None or memory.block(array) is not None:
            self.recorder.notes.append(f"{parameter}{path} shares memory with another input, and has to where the program is run")
        if value is None:
            value = memory.enter(array, "input")
            value.name = name_of(parameter, path)
        self.values.append(value)
        self.unpacked.append((value, parameter + path))


def own(leaf: Any) -> Any:
    """A leaf that no other code advances: a copy of a generator."""
    return leaf if held_generator(leaf) is None else deepcopy(leaf)


def anew(tree: Any) -> Any:
    """A tree with copies of its arrays and generators."""
    return mapped(tree, lambda leaf: copied(leaf) if isinstance(leaf, np.ndarray) else own(leaf))


def name_of(parameter: str, path: str) -> str:
    """The name for a path in an argument: `params_w` for `params['w']`."""
    return "_".join([parameter, *re.findall(r"\w+", path)])


def parameters_of(f: Callable[..., Any], count: int) -> list[str]:
    """The names of the positional parameters, as many as there are arguments."""
    try:
        names = [name for name, one in inspect.signature(f).parameters.items()
                 if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    except (TypeError, ValueError):
        names = []
    names = [name for name in names[:count] if name not in TAKEN]
    return names + [f"x{number}" for number in range(len(names), count)]


def keywords_of(f: Callable[..., Any], keywords: dict[str, Any], own: tuple[str, ...]) -> dict[str, Any]:
    """The keywords of the function, without the tracer's keywords `own`; refused if a keyword could belong to either."""
    try:
        names = inspect.signature(f).parameters
    except (TypeError, ValueError):
        names = {}
    for name in keywords:
        if name in own and name in names:
            raise CallTypeError(f"trace: '{name}' is a parameter of the function and of trace; pass the function's by position, "
                                f"or trace a function that has it: lambda *args: f(*args, {name}=...)")  # fmt: skip
        if name in TAKEN:
            raise CallTypeError(f"trace: a program has '{name}' for a module; trace a function without a parameter of that name")
    return {name: value for name, value in keywords.items() if name not in own}
