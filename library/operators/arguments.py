"""The arguments of a call: bind them to the signature, and convert them as the library's own operators do.

Defines the conversions for the types of the spec, and their errors, which name the operator and the argument.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.conversion import asarray
from ..core.tensor import TensorBase
from ..support.errors import describe
from .facts import Argument, Facts, Required

_CLAIMS = {  # kinds of dtypes, in words, and how to convert a value to one of them
    "real": ("fiub", "real numbers", "abs(), or .real and .imag, make real arrays of it"),
    "complex": ("c", "complex numbers", "astype(complex) makes complex numbers of it"),
    "int": ("iub", "integers and booleans", "astype(int) makes integers of it, a comparison booleans"),
    "bool": ("b", "booleans", "a comparison, or astype(bool), makes booleans of it"),
}
_NUMBERS = (int, float, complex)


def python_signature(facts: Facts) -> inspect.Signature:
    """The Python signature, with `out=` if the operator has that form."""
    parameters = [
        inspect.Parameter(
            a.name, inspect.Parameter.KEYWORD_ONLY if a.keyword_only else inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=inspect.Parameter.empty if isinstance(a.default, Required) else a.default,
        )
        for a in facts.arguments
    ]  # fmt: skip
    if "out" in facts.variants:
        parameters.append(inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None))
    return inspect.Signature(parameters)


class Conversion:
    """Convert a user's arguments to the arguments of the operator."""

    def __init__(self, facts: Facts) -> None:
        self.name, self.claim = facts.name, _CLAIMS.get(facts.dtype)
        self.signature = python_signature(facts)
        self.each = [(a, self._of(a)) for a in facts.arguments]
        self.positional = len(self.each) if not any(a.keyword_only for a in facts.arguments) else -1

    def __call__(self, args: tuple, kwargs: dict) -> tuple[tuple, Any]:
        """The converted arguments in the order of the signature, and `out`."""
        if not kwargs and len(args) == self.positional:  # no binding is needed
            return tuple([convert(value, a.name) for value, (a, convert) in zip(args, self.each)]), None
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self.name}: {error}; it is called as {self.name}{self.signature}") from None
        bound.apply_defaults()
        given = bound.arguments
        return tuple([convert(given[a.name], a.name) for a, convert in self.each]), given.get("out")

    def _of(self, argument: Argument) -> Callable[[Any, str], Any]:
        type_ = argument.type
        optional, type_ = type_.endswith("?"), type_.removesuffix("?")
        word, type_ = type_.endswith("|str"), type_.removesuffix("|str")
        base, bracket, length = type_.partition("[")
        one: Callable[[Any, str], Any] = getattr(self, f"_{base.lower()}")
        count = int(length.rstrip("]") or -1) if bracket else None

        def convert(value: Any, name: str) -> Any:
            if value is None and optional or word and isinstance(value, str):
                return value
            if count is None:
                return one(value, name)
            return self._several(one, value, name, count, base == "int")

        return convert

    def _refusal(self, value: Any, name: str, wanted: str) -> TypeError:
        return TypeError(f"{self.name}: argument '{name}' must be {wanted}, got {describe(value)}")

    def _several(self, one: Callable[[Any, str], Any], value: Any, name: str, count: int, ints: bool) -> tuple:
        if ints and not isinstance(value, (list, tuple)) and hasattr(value, "__index__"):
            return (one(value, name),) * max(count, 1)
        if isinstance(value, (str, bytes, dict)) or not hasattr(value, "__len__") or getattr(value, "ndim", 1) == 0:
            raise self._refusal(value, name, "a sequence")
        found = tuple([one(item, name) for item in value])
        if ints and len(found) == 1:
            return found * max(count, 1)
        if count >= 0 and len(found) != count:
            raise ValueError(f"{self.name}: argument '{name}' must be an int or {count} ints, got {len(found)}: {found}")
        return found

    def _array(self, value: Any, name: str) -> Any:
        """A tensor; a Python number stays one, because its dtype is weak."""
        if type(value) not in _NUMBERS and type(value) is not bool:
            if value is None:
                raise self._refusal(value, name, "an array")
            if not isinstance(value, TensorBase):
                value = asarray(value)
        dtype = value.dtype if isinstance(value, TensorBase) else np.dtype(type(value))
        if self.claim is not None and dtype.kind not in self.claim[0]:
            given = f"dtype {dtype}" if isinstance(value, TensorBase) else f"type {type(value).__name__}"
            _, takes, way_out = self.claim
            raise TypeError(f"{self.name}: argument '{name}' is of {given}, but {self.name} takes {takes}; {way_out}")
        return value

    def _mask(self, value: Any, name: str) -> Any:
        value = value if isinstance(value, TensorBase) else asarray(value)
        return value if value.dtype.kind == "b" else asarray(value.detach().numpy().astype(bool))

    def _index(self, value: Any, name: str) -> Any:
        if isinstance(value, (TensorBase, slice, tuple, int, type(...))):
            return value
        value = asarray(value)
        if value.dtype.kind not in "iub":
            raise self._refusal(value, name, "integers or booleans")
        return value

    def _constant(self, value: Any, name: str) -> Any:
        """The number in an array of one element; refused if a gradient through it would be dropped."""
        if isinstance(value, TensorBase):
            if value.requires_grad:
                raise TypeError(f"{self.name}: argument '{name}' is a plain number and cannot be differentiated; pass "
                                f"{name}.item() if no gradient should flow")  # fmt: skip
            value = value.detach().numpy()
        return value.item() if isinstance(value, (np.ndarray, np.generic)) and value.size == 1 else value

    def _int(self, value: Any, name: str) -> int:
        value = self._constant(value, name)
        if not isinstance(value, bool):
            try:
                return operator.index(value)
            except TypeError:
                pass
        raise self._refusal(value, name, "an int")

    def _float(self, value: Any, name: str) -> float:
        value = self._constant(value, name)
        if isinstance(value, bool) or not hasattr(type(value), "__float__") or isinstance(value, np.ndarray):
            raise self._refusal(value, name, "a real number")
        return float(value)

    def _scalar(self, value: Any, name: str) -> Any:
        value = self._constant(value, name)
        if not isinstance(value, (int, float, complex)):
            raise self._refusal(value, name, "a number")
        return value

    def _bool(self, value: Any, name: str) -> bool:
        value = self._constant(value, name)
        if not isinstance(value, (bool, int)):
            raise self._refusal(value, name, "True or False")
        return bool(value)

    def _str(self, value: Any, name: str) -> str:
        if not isinstance(value, str):
            raise self._refusal(value, name, "a string")
        return value

    def _dtype(self, value: Any, name: str) -> np.dtype:
        try:
            return np.dtype(value)
        except TypeError:
            raise self._refusal(value, name, "a dtype") from None
