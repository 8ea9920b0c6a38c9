"""Pytrees in files: convert tensors, arrays, numbers and text to named arrays and a form for JSON, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..generated.tensor import Tensor


class Taken:
    """A flattened pytree.

    Attributes
    ----------
    arrays : dict of str to ndarray
        The arrays, named by their paths, such as `model.fc.weight`.
    needs_grad : list of str
    form : object
        A description of the pytree for JSON.

    Parameters
    ----------
    tree : object

    Raises
    ------
    TypeError
        A value has an unsupported type.
    ValueError
        A tensor is not a leaf.
    """

    def __init__(self, tree: Any) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self.needs_grad: list[str] = []
        self.form = self.taken(tree, "")

    def taken(self, item: Any, way: str) -> Any:
        if item is None or isinstance(item, (bool, int, float, str)) and not isinstance(item, np.generic):
            return item
        if isinstance(item, complex) and not isinstance(item, np.generic):
            return {"complex": [item.real, item.imag]}
        if isinstance(item, Tensor):
            if not item.is_leaf:
                raise ValueError(f"save: {way or 'the tensor'} is not a leaf and its graph cannot be saved; save its detach()")
            name = self.keep(way, np.asanyarray(item.detach().numpy()))
            self.needs_grad += [name] if item.requires_grad else []
            return {"tensor": name}
        if isinstance(item, (np.ndarray, np.generic)) and item.dtype.kind in "fciub":
            return {"array" if isinstance(item, np.ndarray) else "number": self.keep(way, np.asarray(item))}
        if isinstance(item, Mapping):
            return {"dict": [[self.taken(key, way), self.taken(value, joined(way, key))] for key, value in item.items()]}
        if type(item) in (list, tuple):
            return {type(item).__name__: [self.taken(value, joined(way, n)) for n, value in enumerate(item)]}
        advice = "; save its state_dict()" if hasattr(item, "state_dict") else ""
        raise TypeError(f"save: {way or 'the value'} is a {type(item).__name__}, but files can only hold tensors, arrays, "
                        f"numbers, text and pytrees of them{advice}")  # fmt: skip

    def keep(self, way: str, array: np.ndarray) -> str:
        name, count = way or "tensor", 1
        while name in self.arrays:
            count += 1
            name = f"{way}#{count}"
        self.arrays[name] = array
        return name


def joined(way: str, key: object) -> str:
    return f"{way}.{key}" if way else str(key)


def put_together(form: Any, tensors: Mapping[str, Tensor]) -> Any:
    """Rebuild the pytree from its form.

    Parameters
    ----------
    form : object
    tensors : mapping of str to Tensor
        All its arrays.

    Raises
    ------
    ValueError
        The form is invalid.
    """
    if not isinstance(form, dict):
        return form
    ((kind, held),) = form.items()
    if kind == "dict":
        return {put_together(key, tensors): put_together(value, tensors) for key, value in held}
    if kind in ("list", "tuple"):
        return {"list": list, "tuple": tuple}[kind](put_together(value, tensors) for value in held)
    if kind == "complex":
        return complex(*held)
    found = tensors[held]
    if kind == "tensor":
        return found
    array = found.detach().numpy()
    return {"array": array, "number": array[()]}[kind]
