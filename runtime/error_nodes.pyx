"""Nodes that stand where no derivative is: Error raises, UndefinedGrad passes nothing on.

Owns DelayedError and UndefinedGrad, which hang a tensor on such a node.
"""

from .accumulate_grad cimport connect_all, set_history
from .grad_mode cimport thread_state
from .node cimport Node, Wanted
from .tensor cimport TensorBase


cdef class Error(Node):
    """Raises when a gradient arrives."""
    cdef str message

    cdef object apply(self, object grad, Wanted wanted):
        raise RuntimeError(self.message)

    cdef object apply_recorded(self, object grad, Wanted wanted):
        raise RuntimeError(self.message)


cdef class UndefinedGradBackward(Node):
    """Passes no gradient on."""

    cdef object apply(self, object grad, Wanted wanted):
        return None

    cdef object apply_recorded(self, object grad, Wanted wanted):
        return None


cdef object attach(Node node, tuple inputs):
    """Aliases of `inputs` as the outputs of `node`; None stays None."""
    cdef TensorBase output
    cdef list outputs = []
    for i, value in enumerate(inputs):
        if value is not None and not isinstance(value, TensorBase):
            raise RuntimeError(f"{node.name()}: expected Variable or None (got {type(value).__name__}) at position {i + 1}")
    connect_all(node, thread_state(), inputs)
    node.set_outputs(len(inputs))
    for i, value in enumerate(inputs):
        output = None
        if value is not None:
            output = (<TensorBase> value).alias()
            set_history(output, node, i)
        outputs.append(output)
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


class DelayedError:
    """Tensors whose use is fine and whose differentiation raises.

    Parameters
    ----------
    message : str
        Of the RuntimeError.
    num_inputs : int
        How many tensors a call takes.
    """

    def __init__(self, message, num_inputs):
        self.message, self.num_inputs = message, num_inputs

    def __call__(self, *tensors):
        cdef Error node = Error.__new__(Error)
        if len(tensors) != self.num_inputs:
            raise TypeError(f"DelayedError: expected {self.num_inputs} tensors, got {len(tensors)}")
        node.message = self.message
        return attach(node, tensors)


class UndefinedGrad:
    """Tensors through which no gradient flows: not zeros, but none."""

    def __call__(self, *tensors):
        cdef UndefinedGradBackward node = UndefinedGradBackward.__new__(UndefinedGradBackward)
        return attach(node, tensors)
