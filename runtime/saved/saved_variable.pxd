"""SavedVariable: a value that backward needs, as of the time when it was saved."""

from libc.stdint cimport uint32_t

from ..support.capi cimport ndarray
from ..core.grad_mode cimport SAVED_HOOKS, ThreadState
from ..core.node cimport Node
from .copy_on_write cimport Snapshot
from ..core.tensor cimport FOREIGN, INFERENCE_TENSOR, REPLACED, SAVED, TensorBase, TensorExtra, VersionCounter, is_tensor

cdef enum:
    RARE = INFERENCE_TENSOR | REPLACED | FOREIGN
    HAD_HISTORY = 0x80000000    # set in a version word: the tensor was not a leaf when it was saved

cdef class SavedVariable:
    cdef ndarray array              # None once packed by a hook
    cdef VersionCounter counter
    cdef uint32_t version
    cdef TensorBase variable        # the tensor itself; None for an output, which would reference its own node
    cdef TensorExtra extra          # an output's tangents
    cdef Snapshot keeper            # has the value once a recorded write has changed the array
    cdef ndarray copy               # the value itself, for a view of a buffer that is being filled
    cdef Node grad_fn               # of an input, in case the tensor itself loses it
    cdef int output_nr
    cdef bint is_output
    cdef bint requires_grad
    cdef bint had_history
    cdef object packed
    cdef readonly object unpack_hook
    cdef object owner               # weak reference to the node, once users have seen this object

    cdef pack(self, pack_hook, unpack_hook)
    cdef TensorBase unpacked(self)

cdef class SavedList:
    cdef type kind          # list or tuple
    cdef tuple parts        # pairs of a saved value and its version

cdef object save_shared(ThreadState* state, TensorBase value, uint32_t* version)
cdef SavedVariable save_output(TensorBase value)
cdef object saved_array(Node node, object saved, uint32_t version, str name)
cdef object saved_tensor(Node node, object saved, uint32_t version, str name)
cdef object as_variable(Node node, object saved, uint32_t version)
cdef object freed(Node node, str name)

cdef SavedList save_inputs(ThreadState* state, tuple values)
cdef object slow_index(ThreadState* state, object index, uint32_t* version)
cdef bint holds_arrays(object saved) noexcept
cdef bint is_packed(object saved) except -1

cdef inline object save_input(ThreadState* state, object value, uint32_t* version):
    """Save an input: the tensor and its version, or the Python number."""
    cdef TensorBase tensor
    if is_tensor(value):
        tensor = <TensorBase> value
        if state.flags & SAVED_HOOKS or tensor.counter is not None or tensor.flags & RARE:
            return save_shared(state, tensor, version)
        tensor.flags |= SAVED
        if tensor.grad_fn_ is not None:
            version[0] = HAD_HISTORY
    return value

cdef inline object save_index(ThreadState* state, object index, uint32_t* version):
    """Save an index or a mask: arrays as inputs are saved, integers and slices unchanged."""
    return index if type(index) is int or type(index) is slice else slow_index(state, index, version)
