"""Dual levels and the tangents that tensors carry at each of them."""

from .tensor cimport TANGENT, VIEW, TensorBase, check_view, is_tensor

cdef class DualLevel:
    cdef readonly int index
    cdef Py_ssize_t batch       # how many tangents each tensor has here, along a leading axis; 0 if there is no such axis
    cdef void* first            # the ForwardGrads of this level, a list linked through them, borrowed

    cdef void leave(self)

cdef class ForwardGrad:
    cdef TensorBase tangent
    cdef int level              # index of its dual level
    cdef ForwardGrad outer      # the same tensor's tangent at the next outer level
    cdef DualLevel owner        # None once the level was left
    cdef void* previous
    cdef void* following

    cdef void link(self, DualLevel owner)
    cdef void unlink(self)

cdef ForwardGrad find(object operand, int level)
cdef list levels_of(tuple operands)
cdef TensorBase tangent_of(object operand, int level)
cdef object primal_of(object operand, int level)
cdef object tangents_of(object operands, int level, bint fill)
cdef int set_tangent(TensorBase tensor, int level, TensorBase tangent) except -1
cdef int take_tangents(TensorBase target, TensorBase source) except -1

# A jvp formula: the tangents of the outputs, from the operator's results, arguments and the arguments' tangents.
ctypedef tuple (*Jvp)(tuple, tuple, tuple)

cdef int push_forward(Jvp jvp, tuple outputs, tuple inputs) except -1
cdef int push_linear(Jvp jvp, tuple outputs, tuple inputs) except -1
cdef int push_whole(Jvp jvp, Jvp whole, bint linear, tuple outputs, tuple inputs) except -1
cdef Py_ssize_t batch_of(int level) except -1
cdef object row_of(object operand, object tangent, Py_ssize_t row)
cdef object stacked(list rows, TensorBase output)
cdef object defined_tangent(object tangent, object primal)
cdef object plus(object total, object term)
cdef object minus(object total, object term)

cdef inline bint any_tangent(tuple operands) except -1:
    for operand in operands:
        if has_tangent(operand):
            return True
    return False

cdef inline bint has_tangent(object operand) except -1:
    """Whether a tensor carries a tangent, at some level; a view first takes its base's tangent."""
    if not is_tensor(operand) or not (<TensorBase> operand).flags & (TANGENT | VIEW):
        return False
    if (<TensorBase> operand).flags & VIEW:
        check_view(<TensorBase> operand)
    return (<TensorBase> operand).flags & TANGENT != 0
