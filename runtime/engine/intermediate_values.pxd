"""Intermediate values: refuse second derivatives through values that a custom forward kept."""

from ..core.node cimport Node

cdef class Kept:
    cdef tuple saved        # for each tensor of save_for_backward, the inputs that it depends on, as bits
    cdef tuple forward      # the same for save_for_forward
    cdef list attributes    # pairs of a weak reference to a tensor in an attribute, and its bits
    cdef dict aside         # attributes with such values, if an input has a tangent: the value and the bits of each
    cdef list levels        # pairs of a dual level and the bits of the inputs with a tangent there

    cdef object shown(self, Node node, tuple tensors, bint in_jvp)
    cdef object attribute(self, Node node, str name, bint in_jvp)
    cdef int enter(self, Node node) except -1
    cdef int refuse_tangents(self, Node node, object sources, bint in_jvp) except -1

cdef object follow(cls, tuple inputs)
cdef Kept kept_by(cls, Node node, object follower, tuple inputs, tuple outputs, object to_save, object for_forward)
