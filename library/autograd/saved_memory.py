"""List the memory that a graph keeps alive for backward: the saved arrays, by operator and by calling line.

Computes the list and the total: an array that several nodes save counts once, for the earliest such node.  Unpacks nothing:
values held by saved-tensor hooks are not examined.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

import gradspec  # noqa: F401 (waits for it)
import gradspec.profiler  # noqa: F401 (as well)

from ..core.node import Node
from ..core.provenance import line_of_node
from ..core.tensor import TensorBase
from ..profiler.function_event import memory_text


class SavedArray(NamedTuple):
    """One saved array of a node.

    Parameters
    ----------
    node : str
        Class of the node.
    name : str
        Name of the array in its formula.
    shape : tuple of int
    dtype : numpy.dtype
    nbytes : int
        Bytes that the array keeps alive; for a view, the bytes of the whole array.
    line : str
        File and line of the call.
    leaf : bool
        Whether the array belongs to a leaf, which exists without the graph.
    """

    node: str
    name: str
    shape: tuple[int, ...]
    dtype: Any
    nbytes: int
    line: str
    leaf: bool


class SavedMemory(list[SavedArray]):
    """The saved arrays of a graph, the greatest first.  As text and in a notebook it is a table.

    Parameters
    ----------
    iterable : iterable of SavedArray
    """

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays except leaves."""
        return sum(row.nbytes for row in self if not row.leaf)

    def _cells(self) -> list[tuple[str, ...]]:
        return [
            (row.node, row.name, f"{row.dtype}{list(row.shape)}", memory_text(row.nbytes) + " (leaf)" * row.leaf, row.line)
            for row in self
        ]

    def __str__(self) -> str:
        rows = [("Node", "saves", "array", "memory", "line"), *self._cells()]
        widths = [max(map(len, column)) for column in zip(*rows)]
        lines = ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths)).rstrip() for row in rows]
        return "\n".join([*lines, f"saved by the graph: {memory_text(self.nbytes)}"])

    def _repr_html_(self) -> str:
        import html

        body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in self._cells())
        head = "".join(f"<th>{title}</th>" for title in ("Node", "saves", "array", "memory", "line"))
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _nodes(roots: Sequence[Any]) -> list[Node]:
    """All nodes below some tensors, in the order of their creation."""
    waiting = [root if isinstance(root, Node) else root.grad_fn for root in roots]
    found = dict.fromkeys(node for node in waiting if node is not None)
    waiting = list(found)
    for node in waiting:  # the list grows during the loop
        for target, _ in node.next_functions:
            if target is not None and target not in found:
                found[target] = None
                waiting.append(target)
    return sorted(found, key=lambda node: node._sequence_nr())


def _saved(node: Any) -> Iterator[tuple[str, Any, bool]]:
    """Names and arrays that a node keeps, and whether each belongs to a leaf."""
    fields = [(name, getattr(node, f"saved_{name}", None)) for name in type(node).saves]
    if hasattr(type(node), "_raw_saved_tensors"):  # only nodes of custom Functions
        try:
            fields += [(f"saved_tensors[{i}]", value) for i, value in enumerate(node._raw_saved_tensors)]
        except RuntimeError:  # already freed
            pass
    for name, value in fields:
        for part in value if isinstance(value, (tuple, list)) else (value,):
            if not isinstance(part, (TensorBase, np.ndarray)):
                part = getattr(part, "data", None)
            if isinstance(part, TensorBase):
                yield name, part.detach().numpy(), part.is_leaf and part.requires_grad
            elif isinstance(part, np.ndarray):
                yield name, part, False


def saved_memory(root: Any) -> SavedMemory:
    """The memory that the graph behind some tensors keeps alive for a backward pass.

    Parameters
    ----------
    root : Tensor, Node, or sequence of them

    Returns
    -------
    SavedMemory
        A list with one row for each array; its `nbytes` is the sum without leaves.

    Examples
    --------
    >>> x = gs.ones((1000,), requires_grad=True)
    >>> y = gs.tanh(gs.exp(x)).sum()
    >>> gs.autograd.graph.saved_memory(y).nbytes
    8000
    """
    roots = root if isinstance(root, (tuple, list)) else (root,)
    rows, seen = [], set()
    for node in _nodes(roots):
        for name, array, leaf in _saved(node):
            owner = array
            while isinstance(owner.base, np.ndarray):
                owner = owner.base
            if id(owner) in seen:
                continue
            seen.add(id(owner))
            found = line_of_node(node)
            line = f"{found[0]}:{found[1]}" if found else ""
            rows.append(SavedArray(type(node).__name__, name, array.shape, array.dtype, owner.nbytes, line, leaf))
    return SavedMemory(sorted(rows, key=lambda row: -row.nbytes))
