"""In-place writes and `out=`: check the write, keep the old value if a formula needs it, and write."""

from ..support.capi cimport ndarray
from ..core.grad_mode cimport ThreadState
from ..kernels.fusion_engine.ufunc cimport Ufunc
from ..core.node cimport Node
from ..core.tensor cimport TensorBase

cdef enum:
    NO_GRADIENT = 0     # of an operator: it never records anything
    HAS_GRADIENT = 1

ctypedef object (*Unary)(object)
ctypedef object (*Binary)(object, object)

# Bit i of `readers`: the gradient of operand i depends on the value that the write destroys.  With any bit set, tangents do too.
cdef object inplace_unary(Unary function, Ufunc ufunc, object x, unsigned int readers, str op)
cdef object inplace_binary(Binary function, Ufunc ufunc, object a, object b, unsigned int readers, str op)
cdef object inplace_times(Binary function, Ufunc ufunc, object a, object b, object factor, str op)
cdef bint in_one_pass(ThreadState* state, TensorBase target, object function, tuple operands) except -1
cdef int check_broadcast(ndarray target, tuple operands, str op) except -1
cdef TensorBase prepare_inplace(object target, tuple operands, unsigned int readers, str op)

cdef TensorBase writable(object target, str op)
cdef TensorBase value_before(TensorBase target, bint copy)
cdef TensorBase overwrite(TensorBase target, TensorBase value, str op)
cdef TensorBase written_value(TensorBase target, Node node)
cdef TensorBase before_view(object target, str op)
cdef TensorBase become_view(TensorBase target, TensorBase view)

cdef object out_unary(Ufunc ufunc, object x, object out, bint differentiable)
cdef object out_binary(Ufunc ufunc, object a, object b, object out, bint differentiable)
cdef TensorBase prepare_out(object out, tuple operands, str op)
cdef TensorBase write_out(TensorBase target, TensorBase result, str op)
