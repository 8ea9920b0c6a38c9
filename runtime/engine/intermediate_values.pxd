"""Kept: the values of the middle that a custom forward keeps."""

from ..core.node cimport Node

cdef class Kept:
    cdef tuple saved        # of each tensor of save_for_backward the inputs that it was computed from, as bits
    cdef tuple forward      # the same of save_for_forward
    cdef list attributes    # pairs of a weak reference to a tensor among the attributes and its bits
    cdef dict aside         # attributes that hold such values, where an input has a tangent: the value and the bits of each
    cdef list levels        # pairs of a dual level and the bits of the inputs that have a tangent there

    cdef object shown(self, Node node, tuple tensors, bint in_jvp)
    cdef object attribute(self, Node node, str name, bint in_jvp)
    cdef int enter(self, Node node) except -1
    cdef int refuse_tangents(self, Node node, object sources, bint in_jvp) except -1

cdef object follow(cls, tuple inputs)
cdef Kept kept_by(cls, Node node, object follower, tuple inputs, tuple outputs, object to_save, object for_forward)
