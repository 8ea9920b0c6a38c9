"""SciPy's names without a derivative here, each with its reason from the tables: SciPy's values, refusals and SciPy's own tools.

Defines these kinds.  A value keeps a node in the graph that refuses its derivative, so nothing is detached silently.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.conversion import asarray
from ..core.tensor import TensorBase
from ..support.pytree import flatten, rebuild
from .tables import REFUSED, TOOLS, VALUES
from .values import must_be_constant, refused

VALUE, REFUSAL, TOOL = "value", "refused", "tool"


def value_only(module: str, name: str, why: str) -> Callable[..., Any]:
    """SciPy's function on the numbers of tensors; the derivative of its result is refused.

    Parameters
    ----------
    module : str
        "linalg" for scipy.linalg.
    name : str
    why : str
        The reason, and a replacement.

    Returns
    -------
    callable
        Returns tensors, alone or in a tuple; whole numbers and SciPy's own objects as SciPy does.  An object has no node, so its
        arguments must be constants.  Arguments must not be functions: tensors that they read would be detached.
    """
    words = f"scipy.{module}.{name} has no derivative: {why}; pass x.detach()"

    def call(*args: Any, **keywords: Any) -> Any:
        leaves, form = flatten((args, keywords))
        tensors = [leaf for leaf in leaves if isinstance(leaf, TensorBase)]
        if any(callable(leaf) and not isinstance(leaf, (type, TensorBase)) for leaf in leaves):
            raise NotImplementedError(f"scipy.{module}.{name} takes no functions here: tensors that a function reads would be "
                                      "detached; call SciPy's with gs.scipy.objective(function)")  # fmt: skip
        arrays = [leaf.detach().numpy() if isinstance(leaf, TensorBase) else leaf for leaf in leaves]
        args, keywords = rebuild(form, arrays)
        return result(_scipys(module, name)(*args, **keywords), tensors)

    def result(found: Any, tensors: list[Any]) -> Any:
        if isinstance(found, (np.ndarray, np.generic)) and found.dtype.kind in "biufc":
            tensor = asarray(found)
            return refused(tensor, tensors, words) if tensors and found.dtype.kind in "fc" else tensor
        if isinstance(found, float):
            return result(np.float64(found), tensors)
        if type(found) is tuple:
            return tuple(result(part, tensors) for part in found)
        if not isinstance(found, (bool, int, str, type(None))):
            must_be_constant(f"scipy.{module}.{name} returns an object of numbers: {why}. It takes constants", tensors)
        return found

    def attribute(inner: str) -> Any:
        found = getattr(_scipys(module, name), inner)
        return value_only(module, f"{name}.{inner}", why) if callable(found) else found

    doc = f"SciPy's `{name}`, with its arguments; the derivative is refused: {why}."
    return _described(Named(call, attribute), name, VALUE, why, doc)


def no_value(module: str, name: str, why: str) -> Callable[..., Any]:
    """A function that refuses each call, with the reason and a replacement."""

    def refuse(*args: Any, **keywords: Any) -> Any:
        raise NotImplementedError(f"scipy.{module}.{name} is not there: {why}; for values alone call SciPy's with x.detach().numpy()")

    return _described(refuse, name, REFUSAL, why, f"Refused: {why}.")


def handed_on(module: str, name: str, why: str) -> Callable[..., Any]:
    """SciPy's own class or switch, called with unchanged arguments."""

    def call(*args: Any, **keywords: Any) -> Any:
        return _scipys(module, name)(*args, **keywords)

    def attribute(inner: str) -> Any:
        return getattr(_scipys(module, name), inner)

    return _described(Named(call, attribute), name, TOOL, why, f"SciPy's `{name}`: {why}.")


class Named:
    """A name of SciPy's that can be called, and whose public attributes are looked up in SciPy: `Rotation.from_rotvec`."""

    def __init__(self, call: Callable[..., Any], attribute: Callable[[str], Any]) -> None:
        self.__call, self.__attribute = call, attribute

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self.__call(*args, **keywords)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return self.__attribute(name)


def _scipys(module: str, name: str) -> Any:
    """SciPy's object of a name, or of an attribute such as `Rotation.from_rotvec`."""
    return functools.reduce(getattr, name.split("."), importlib.import_module(f"scipy.{module}"))


def _described(function: Any, name: str, kind: str, why: str, doc: str) -> Any:
    function.__name__ = function.__qualname__ = name
    function.__doc__, function.kind, function.why = doc, kind, why
    return function


def without_derivative(module: str) -> dict[str, Callable[..., Any]]:
    """The names of a submodule of SciPy that the tables explain, each as its kind of function."""
    kinds = (value_only, VALUES), (no_value, REFUSED), (handed_on, TOOLS)
    return {name: kind(module, name, why)
            for kind, table in kinds for why, names in table.get(module, {}).items() for name in names.split()}  # fmt: skip


def add_without_derivative(names: dict[str, Any]) -> None:
    """Add the names that the tables explain to the namespace of a submodule, and to its `__all__`."""
    found = without_derivative(names["__name__"].partition(".scipy.")[2])
    names.update(found)
    names["__all__"] = sorted([*names["__all__"], *found])
