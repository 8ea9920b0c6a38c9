"""Flatten parameters into one vector, for optimisers and sensitivity analysis, and write a vector back.

Works for any tensors, independent of modules.
"""

from collections.abc import Iterable

from ..core.grad_mode import no_grad
from ..generated import ops
from ..generated.tensor import Tensor


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """The elements of some tensors concatenated to one vector; gradients propagate back to each tensor.

    Parameters
    ----------
    parameters : iterable of Tensor

    Returns
    -------
    Tensor
        1-d.
    """
    rows = [ops.reshape(parameter, (-1,)) for parameter in parameters]
    if not rows:
        raise ValueError("parameters_to_vector: there are no parameters")
    return ops.concat(rows)


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Write the elements of a vector into some tensors, one after the other, in place and without recording it.

    The tensors keep their memory and their dtype, so that optimisers and views see the new values; PyTorch makes them views of
    `vec` instead.

    Parameters
    ----------
    vec : Tensor
        1-d, as returned by parameters_to_vector.
    parameters : iterable of Tensor
        With as many elements as `vec` has in total.
    """
    parameters = list(parameters)
    count = sum(parameter.size for parameter in parameters)
    if vec.shape != (count,):
        raise ValueError(f"vector_to_parameters: the parameters have {count} elements, vec has shape {tuple(vec.shape)}")
    start = 0
    with no_grad():
        for parameter in parameters:
            parameter.copy_(ops.reshape(vec[start : start + parameter.size], parameter.shape))
            start += parameter.size
