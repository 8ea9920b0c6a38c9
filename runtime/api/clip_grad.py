"""Gradient clipping: limit the gradients of a set of parameters before an optimiser uses them.

Gradients are written in place, so that every reference to a gradient sees the limit.
"""

from collections.abc import Iterable

import numpy as np

from ..core.conversion import asarray, tensor
from ..core.grad_mode import no_grad
from ..generated.tensor import Tensor
from ..support.dispatch import ops


def gradients(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    """The existing gradients; one tensor counts as a list of one."""
    parameters = [parameters] if isinstance(parameters, Tensor) else parameters
    return [parameter.grad for parameter in parameters if parameter.grad is not None]


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
) -> Tensor:
    """Scale all gradients together so that their common norm is at most `max_norm`.

    Parameters
    ----------
    parameters : Tensor or iterable of Tensor
    max_norm : float
    norm_type : float
        Order of the norm of all gradients as one vector; may be inf.
    error_if_nonfinite : bool
        Raise instead of scaling by a norm that is NaN or infinite.

    Returns
    -------
    Tensor
        The norm before scaling, 0-d.
    """
    if not max_norm >= 0:
        raise ValueError(f"clip_grad_norm_: max_norm must be 0 or more, got {max_norm}")
    grads = gradients(parameters)
    total = get_total_norm(grads, norm_type, error_if_nonfinite)
    scale_to(grads, max_norm, total)
    return total


def get_total_norm(tensors: Tensor | Iterable[Tensor], norm_type: float = 2.0, error_if_nonfinite: bool = False) -> Tensor:
    """The norm of several tensors as one vector.

    Parameters
    ----------
    tensors : Tensor or iterable of Tensor
    norm_type : float
        Order of the norm; may be inf.
    error_if_nonfinite : bool
        Raise for a norm that is NaN or infinite.

    Returns
    -------
    Tensor
        0-d; 0 if there are no tensors.
    """
    tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    if not tensors:
        return tensor(0.0)
    with no_grad():
        total = ops.vector_norm(ops.stack([ops.vector_norm(one, norm_type) for one in tensors]), norm_type)
        if error_if_nonfinite and not ops.isfinite(total):
            raise RuntimeError(
                f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be "
                "clipped. To scale the gradients by it anyway, set `error_if_nonfinite=False`"
            )
    return total


def clip_grads_with_norm_(parameters: Tensor | Iterable[Tensor], max_norm: float, total_norm: Tensor) -> None:
    """Scale all gradients together so that a known total norm becomes at most `max_norm`.

    Parameters
    ----------
    parameters : Tensor or iterable of Tensor
    max_norm : float
    total_norm : Tensor
        The norm of the gradients, 0-d, as from `get_total_norm`; it may include further gradients.
    """
    if not max_norm >= 0:
        raise ValueError(f"clip_grads_with_norm_: max_norm must be 0 or more, got {max_norm}")
    scale_to(gradients(parameters), max_norm, total_norm)


def scale_to(grads: list[Tensor], max_norm: float, total: Tensor) -> None:
    with no_grad():
        scale = ops.minimum(max_norm / (asarray(total, dtype=float) + 1e-6), 1.0)  # NaN is propagated: it must be visible
        for grad in grads:
            # By 1 if they are small enough: no branch depends on values.
            grad *= asarray(scale, dtype=np.finfo(grad.dtype).dtype)


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float) -> None:
    """Limit every element of every gradient to [-clip_value, clip_value].

    Parameters
    ----------
    parameters : Tensor or iterable of Tensor
    clip_value : float
    """
    if not clip_value >= 0:
        raise ValueError(f"clip_grad_value_: clip_value must be 0 or more, got {clip_value}")
    with no_grad():
        for grad in gradients(parameters):
            grad.clip_(-clip_value, clip_value)
