"""Parameters as one vector, for optimisers and sensitivities that know nothing of shapes, and back.

Must not know what the parameters belong to.
"""

from collections.abc import Iterable

from ..core.grad_mode import no_grad
from ..generated import ops
from ..generated.tensor import Tensor


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All elements of some tensors in one vector, one tensor after the other; gradients flow back to each.

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
        1-d, as parameters_to_vector gives it.
    parameters : iterable of Tensor
        As many elements as `vec` has.
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
