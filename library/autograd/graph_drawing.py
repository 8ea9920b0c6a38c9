"""Draw a graph: DOT text, and SVG if graphviz is installed.

Decides which attributes of a node are shown, and how.  Only reads nodes: it unpacks nothing and computes nothing.
"""

from typing import Any

from ..core.tensor import TensorBase
from ..support.dot import digraph


class Picture:
    """The graph behind some tensors, as a picture.  A notebook shows it if graphviz's `dot` is installed.

    Parameters
    ----------
    source : str
        The graph as DOT text.
    """

    def __init__(self, source):
        self.source = source

    def __str__(self):
        return self.source

    def svg(self):
        """The graph as SVG text.

        Raises
        ------
        RuntimeError
            If graphviz is not installed.
        """
        import shutil
        import subprocess

        program = shutil.which("dot")
        if program is None:
            raise RuntimeError("a picture needs graphviz's program `dot`, which was not found; `source` is the DOT text")
        return subprocess.run([program, "-Tsvg"], input=self.source, capture_output=True, check=True, text=True).stdout

    def _repr_svg_(self):
        try:
            return self.svg()
        except RuntimeError:  # the notebook shows the text instead
            return None


def make_dot(tensors: Any, params: dict[str, Any] | None = None, *, show_saved: bool = True) -> "Picture":
    """A picture of the graph that backward would traverse.

    Parameters
    ----------
    tensors : Tensor, or sequence of them
        Results of the computation.
    params : dict, optional
        Tensors by name: leaves, and other tensors that should be labelled in the picture.
    show_saved : bool
        Show the values that each node saves.

    Returns
    -------
    Picture

    Examples
    --------
    >>> x = gs.ones((3,), requires_grad=True)
    >>> print(gs.autograd.graph.make_dot(gs.exp(x).sum(), {"x": x}))  # doctest: +SKIP
    """
    tensors = (tensors,) if isinstance(tensors, TensorBase) else tuple(tensors)
    names = {id(tensor): name for name, tensor in (params or {}).items()}
    numbers, waiting, boxes, edges = {}, [], [], []

    def place(node):
        """The node's name in the text; a new node is queued for output."""
        if node not in numbers:
            numbers[node] = f"n{len(numbers)}"
            waiting.append(node)
        return numbers[node]

    for i, tensor in enumerate(tensors):
        name = names.get(id(tensor), "")
        boxes.append((f"out{i}", "\n".join(filter(None, (name, _described(tensor)))), "fillcolor=palegreen"))
        if tensor.grad_fn is not None:
            edges.append((place(tensor.grad_fn), f"out{i}", ""))
    for node in waiting:  # the list grows during the loop
        for target, output_nr in node.next_functions:
            if target is not None:
                edges.append((place(target), numbers[node], str(output_nr) if len(target._input_metadata) > 1 else ""))
        leaf = getattr(node, "variable", None)
        if isinstance(leaf, TensorBase):
            label, colour = [names.get(id(leaf), "leaf"), _described(leaf)], "lightblue"
        else:
            label, colour = [type(node).__name__, *_outputs(node), *(_saved(node, names) if show_saved else ())], "white"
        boxes.append((numbers[node], "\n".join(label), f"fillcolor={colour}"))
    settings = ("rankdir=BT", 'node [shape=box, style=filled, fillcolor=white, fontname="monospace"]')
    return Picture(digraph("", boxes, edges, settings))


def _described(tensor):
    return f"{tensor.dtype}{list(tensor.shape)}"


def _outputs(node):
    return [f"{metadata.dtype}{list(metadata.shape)}" for metadata in node._input_metadata]


def _saved(node, names):
    """A line for each tensor that a node saves; packed values and the node's own output are not unpacked."""
    for name in type(node).saves:
        value = getattr(node, f"saved_{name}", None)
        if isinstance(value, TensorBase):
            known = names.get(id(value))
            yield f"saves {name} = {known}" if known else f"saves {name}: {_described(value)}"
        elif value is not None and hasattr(node, f"version_{name}"):  # has no shape
            yield f"saves {name}"
