"""Arguments: convert the arguments of a compiled function into the pytree that the function receives.

Replaces ndarrays by tensors, and detects writes of the function to dictionaries and lists among the arguments.  A container of an
ndarray is copied.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.conversion import foreign
from ...core.tensor import TensorBase
from ...support.pytree import flatten, rebuild
from ..guards.state_guards import NUMBERS, attributes_of, hooks_of


class Arguments:
    """The arguments of a call.

    Attributes
    ----------
    args, keywords
        The arguments with tensors in place of arrays.
    form : form
        Structure of the pytree of both.
    tensors, originals : list
        For each array a tensor, and the original argument.
    others : list
        The leaves that are not arrays.
    """

    def __init__(self, args: tuple, keywords: dict) -> None:
        leaves, self.form = flatten((args, keywords))
        found = [as_tensor(leaf) for leaf in leaves]
        self.tensors = [item for item in found if isinstance(item, TensorBase)]
        self.originals = [leaf for leaf, item in zip(leaves, found) if isinstance(item, TensorBase)]
        self.others = [item for item in found if not isinstance(item, TensorBase)]
        self.args, self.keywords = args, keywords
        if any(map(is_another, leaves, found)):
            self.args, self.keywords = rebuild(self.form, found)
        self.containers: list[tuple[Any, Any, Any]] = []  # the argument, the object that the function receives, its contents
        for given, taken in ((args, self.args), (keywords, self.keywords)):
            for item, other in zip(children(given), children(taken)):
                self.watch(item, other)

    def watch(self, given: Any, taken: Any) -> None:
        if isinstance(taken, (dict, list)):
            self.containers.append((given, taken, contents(taken)))
        if isinstance(taken, (dict, list, tuple)):
            for item, other in zip(children(given), children(taken)):
                self.watch(item, other)

    def with_state(self) -> list[Any]:
        """Objects of the arguments that are known by identity: hooks, and tensors with attributes that a user has set."""
        found = [hook for item in self.tensors for hook in hooks_of(item)]
        return found + [item for item in self.tensors if attributes_of(item)]

    def put_back(self) -> bool:
        """Whether the function has written to a dictionary or a list; writes to a copy are repeated on the argument."""
        written = [(given, taken) for given, taken, before in self.containers if not same(contents(taken), before)]
        back = {id(item): given for item, given in zip(self.tensors, self.originals) if item is not given}
        back |= {id(taken): given for given, taken, _ in self.containers}
        for given, taken in written:
            if given is taken:
                continue
            if isinstance(given, dict):
                found = {key: back.get(id(value), value) for key, value in taken.items()}
                given.clear()
                given.update(found)
            else:
                given[:] = [back.get(id(value), value) for value in taken]
        return bool(written)


def children(tree: Any) -> list[Any]:
    return list(tree.values()) if isinstance(tree, dict) else list(tree)


def contents(container: Any) -> tuple[list[Any], list[Any]]:
    return (list(container), list(container.values())) if isinstance(container, dict) else ([], list(container))


def same(now: tuple[list[Any], list[Any]], before: tuple[list[Any], list[Any]]) -> bool:
    return now[0] == before[0] and len(now[1]) == len(before[1]) and not any(map(is_another, now[1], before[1]))


def is_another(now: Any, before: Any) -> bool:
    return now is not before


def as_tensor(leaf: Any) -> Any:
    """An argument, with an array replaced by a tensor in the same memory."""
    return foreign(leaf) if isinstance(leaf, np.ndarray) and leaf.dtype.kind in "fciub" else leaf


def is_plain(leaf: Any) -> bool:
    """Whether the kind of a call contains the value of this argument."""
    return type(leaf) in NUMBERS or isinstance(leaf, (np.generic, np.dtype)) or type(leaf) is slice
