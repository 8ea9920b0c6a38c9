"""Nodes in place of a derivative: Error raises, UndefinedGrad passes nothing on, NotImplemented names the operator.

Defines DelayedError and UndefinedGrad, which attach a tensor to such a node, and handles operators without a rule.
"""

import warnings

from .accumulate_grad cimport connect_all, gradient_edge, set_history
from .grad_mode cimport ANOMALY, DUAL, REFUSE_MISSING, WARN_MISSING, ThreadState, thread_state
from .forward_ad cimport any_tangent
from .grad_mode import _Switch
from .node cimport Node, Wanted
from .provenance cimport remember_forward
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


cdef class NotImplementedBackward(Node):
    """Raises when a gradient arrives at an operator whose entry has no rule."""
    cdef str op

    cdef object apply(self, object grad, Wanted wanted):
        raise NotImplementedError(without_derivative(self.op))

    cdef object apply_recorded(self, object grad, Wanted wanted):
        raise NotImplementedError(without_derivative(self.op))


cdef str without_derivative(str op):
    return (f"the derivative for '{op}' is not implemented: its entry in derivatives.yaml says `unimplemented: true`; write a "
            f"rule there instead, such as d<output>/d<input>, or vjp and jvp, or call detach() where no gradient is meant")


cdef Node missing_rule(ThreadState* state, str op, tuple operands):
    """The node of an operator that is recorded and has no rule."""
    cdef NotImplementedBackward node
    if state.flags & REFUSE_MISSING:
        raise NotImplementedError(without_derivative(op))
    if state.flags & WARN_MISSING:
        warnings.warn(f"{op} is recorded, and backward will fail there: {without_derivative(op)}", stacklevel=1)
    node = NotImplementedBackward.__new__(NotImplementedBackward)
    node.op = op
    connect_all(node, state, operands)
    return node


cdef int refuse_tangent(str op) except -1:
    """Fail in forward mode at an operator without a rule: immediately, as tangents cannot wait."""
    raise NotImplementedError(f"Trying to use forward AD with {op} that does not support it: {without_derivative(op)}")


class set_missing_derivative(_Switch):
    """Set the reaction to recording an operator without a rule, from now on; as a context manager it is restored on exit.

    Backward fails at such an operator in any case, and forward mode fails immediately.

    Parameters
    ----------
    mode : str
        "backward" (the default) waits for a gradient to arrive; "warn" and "error" report when the operator is recorded.
    """

    _mask = WARN_MISSING | REFUSE_MISSING
    _choices = {"backward": 0, "warn": WARN_MISSING, "error": REFUSE_MISSING}


cdef object attach(Node node, tuple inputs):
    """Aliases of `inputs` as the outputs of `node`; None stays None."""
    cdef TensorBase output
    cdef list outputs = []
    for i, value in enumerate(inputs):
        if value is not None and not isinstance(value, TensorBase):
            raise RuntimeError(f"{type(node).__name__}: expected Variable or None (got {type(value).__name__}) at position "
                               f"{i + 1}")
    if not node.edge_count:
        connect_all(node, thread_state(), inputs)
    node.set_outputs(len(inputs))
    for i, value in enumerate(inputs):
        output = None
        if value is not None:
            output = (<TensorBase> value).alias()
            set_history(output, node, i)
        outputs.append(output)
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


cdef int refuse_through(str message, Node source, object mask, tuple operands, list tensors) except -1:
    """Give `tensors`, which have no history, an Error node, with the edges of `source` that are set in `mask`.

    It also has edges to the producers of `operands`.  Edges are needed because a pass visits only paths to the requested inputs:
    with a leaf instead, it would see no path through these tensors.
    """
    cdef Error node = Error.__new__(Error)
    cdef ThreadState* state = thread_state()
    cdef TensorBase operand
    cdef list nodes = [source.next_node(i) if mask >> i & 1 else None for i in range(source.edge_count)]
    cdef list numbers = [source.next_nr(i) for i in range(source.edge_count)]
    cdef int i
    for operand in operands:
        nodes.append(gradient_edge(operand))
        numbers.append(operand.output_nr_)
    node.message = message
    node.set_edges(nodes, numbers)
    node.sequence_nr, node.origin = state.sequence_nr, source.origin
    state.sequence_nr += 1
    node.track()
    if state.flags & ANOMALY:
        remember_forward(state, node)
    node.set_outputs(len(tensors))
    for i, tensor in enumerate(tensors):
        set_history(tensor, node, i)
    return 0


class DelayedError:
    """Tensors that may be used but raise when differentiated.

    Parameters
    ----------
    message : str
        Message of the RuntimeError.
    num_inputs : int
        Number of tensors that a call takes.
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
    """Tensors that block gradients: the gradient is undefined rather than zero."""

    def __call__(self, *tensors):
        cdef UndefinedGradBackward node = UndefinedGradBackward.__new__(UndefinedGradBackward)
        return attach(node, tensors)


class NotImplementedRule:
    """Tensors that pass through an operator without a rule: the behaviour of generated code for an `unimplemented` entry.

    Parameters
    ----------
    op : str
        Name of the operator in messages.
    """

    def __init__(self, op):
        self.op = op

    def __call__(self, *tensors):
        cdef ThreadState* state = thread_state()
        outputs = attach(missing_rule(state, self.op, tensors), tensors)
        if state.flags & DUAL and any_tangent(tensors):
            refuse_tangent(self.op)
        return outputs
