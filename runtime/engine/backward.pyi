from collections.abc import Sequence
from typing import NamedTuple

import numpy.typing as npt

from gradspec import Tensor

from ..core.node import Node

class GradientEdge(NamedTuple):
    node: Node
    output_nr: int

def get_gradient_edge(tensor: Tensor) -> GradientEdge: ...
def backward(
    tensors: Tensor | GradientEdge | Sequence[Tensor | GradientEdge],
    grad_tensors: Tensor | npt.ArrayLike | Sequence[Tensor | npt.ArrayLike | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Tensor | GradientEdge | Sequence[Tensor | GradientEdge] | None = None,
) -> None: ...
def grad(
    outputs: Tensor | GradientEdge | Sequence[Tensor | GradientEdge],
    inputs: Tensor | GradientEdge | Sequence[Tensor | GradientEdge],
    grad_outputs: Tensor | npt.ArrayLike | Sequence[Tensor | npt.ArrayLike | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
    *,
    only_inputs: bool = True,
) -> tuple[Tensor, ...]: ...
def depends_on_others(outputs: Sequence[Tensor], leaves: Sequence[Tensor]) -> bool: ...
