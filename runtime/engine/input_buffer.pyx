"""InputBuffer: validate and accumulate the gradients that arrive at a node.

A gradient is summed to the shape and cast to the dtype of the node's output; for a real output, its real part is taken.  In an
unrecorded pass gradients are arrays; otherwise they are tensors and every step is an operator.
"""

import numpy as np

from ..support cimport capi as cnp
from ..support.capi cimport (
    NPY_ARRAY_C_CONTIGUOUS, NPY_ARRAY_OWNDATA, NPY_ARRAY_WRITEABLE, PyArray_DIMS, PyArray_FLAGS, PyArray_NDIM, PyArray_STRIDES,
    PyArray_TYPE, Py_REFCNT, ndarray,
)
from ..support.dispatch import ops
from ..kernels.loops.copying cimport copy_alike
from ..kernels.loops.plain cimport has_shape
from ..kernels.reductions.reductions_loops cimport sum_to
from ..kernels.fusion_engine.ufunc cimport Ufunc, add_into
from ..core cimport node as node_module
from ..core.leaf_gradient cimport ANY_TYPE
from ..core.node cimport InputMetadata, Node, metadata_shape
from ..core.tensor cimport TensorBase, wrap

cnp.import_array()

cdef Ufunc _add = Ufunc(np.add, "add")
cdef Ufunc _subtract = Ufunc(np.subtract, "subtract")
cdef Ufunc _negative = Ufunc(np.negative, "negative")


cdef object validate(Node node, int output_nr, object grad, bint recording, Node source):
    """`grad` with the shape and dtype of output `output_nr` of `node`.

    The error for an incompatible shape names `source`, which is None for a gradient that the user passed.
    """
    cdef InputMetadata* metadata = node.metadata(output_nr)
    cdef ndarray array = (<TensorBase> grad).array if recording else grad
    cdef bint same_shape = has_shape(array, metadata.ndim, metadata.dims)
    if same_shape and PyArray_TYPE(array) == metadata.type_num:
        return grad
    if not same_shape:
        grad = reduce_to(node, metadata_shape(metadata), grad, recording, source)
    return cast(grad, PyArray_TYPE(array), metadata, recording)


cdef object cast(object grad, int type_num, InputMetadata* metadata, bint recording):
    """`grad`, whose type number was `type_num`, in the dtype of an output: the real part if that dtype is real."""
    if type_num != metadata.type_num and metadata.type_num != ANY_TYPE:
        dtype = <object> cnp.PyArray_DescrFromType(metadata.type_num)
        if cnp.PyTypeNum_ISCOMPLEX(type_num) and not cnp.PyTypeNum_ISCOMPLEX(metadata.type_num):
            grad = ops.real(grad) if recording else grad.real
        if grad.dtype != dtype:
            grad = ops.astype(grad, dtype) if recording else grad.astype(dtype)
    return grad


cdef object checked_gradient(Node node, int output_nr, object grad):
    """A gradient that the user passes to a node: with the shape and dtype of the output, or None."""
    if grad is None:
        return None
    if not isinstance(grad, TensorBase):
        raise TypeError(f"{type(node).__name__} takes Tensors or None, got {type(grad).__name__} at position {output_nr}")
    return grad if node.metadata(output_nr).ndim < 0 else validate(node, output_nr, grad, True, None)


node_module.check_gradient = checked_gradient


cdef object reduce_to(Node node, tuple shape, object grad, bint recording, Node source):
    """Sum a broadcast gradient back to the shape of the value that was broadcast."""
    cdef tuple current = grad.shape
    cdef int extra = len(current) - len(shape)
    fits = extra >= 0 and all([n == 1 or n == m for n, m in zip(shape, current[extra:])])
    if not fits:
        refuse_shape(node, shape, current, source)
    if recording:
        return ops._sum_to(grad, shape)
    return sum_to(grad, shape)


cdef int refuse_shape(Node node, tuple shape, tuple current, Node source) except -1:
    """Refuse a gradient that cannot be summed to the shape."""
    name = "GraphRoot" if source is None else type(source).__name__
    raise RuntimeError(f"Function {name} returned an invalid gradient at index "
                       f"{0 if source is None else index_of(source, node)} - got {list(current)} but expected shape "
                       f"compatible with {list(shape)}")


cdef int index_of(Node source, Node target) noexcept:
    """The number of the first input of `source` that `target` computed."""
    cdef int i
    for i in range(source.edge_count):
        if source.next_node(i) is target:
            return i
    return 0


cdef object accumulate(object total, object term, bint recording):
    """The sum of two gradients: in place in `total` if no other code can see it and a new sum would have the same layout.

    The memory layout decides the order of additions in a later sum, so it must not depend on reference counts.
    """
    cdef int wanted = NPY_ARRAY_OWNDATA | NPY_ARRAY_WRITEABLE
    if recording:
        return ops.add(total, term)
    if (type(total) is ndarray and type(term) is ndarray and Py_REFCNT(total) <= 1 and PyArray_FLAGS(total) & wanted == wanted
            and PyArray_TYPE(total) == PyArray_TYPE(term)
            and (PyArray_FLAGS(total) & NPY_ARRAY_C_CONTIGUOUS or has_steps_of(total, term))):
        return add_into(total, term)
    return _add.binary(total, term)


cdef bint has_steps_of(ndarray a, ndarray b) noexcept:
    """Whether two arrays of the same shape have the same memory layout."""
    cdef int i
    for i in range(PyArray_NDIM(a)):
        if PyArray_STRIDES(a)[i] != PyArray_STRIDES(b)[i] and PyArray_DIMS(a)[i] > 1:
            return False
    return True


cdef ndarray spare(Node node, object grad):
    """The gradient that arrived at a node, for its formula to overwrite: a copy unless only the engine references it."""
    cdef int wanted = NPY_ARRAY_OWNDATA | NPY_ARRAY_WRITEABLE
    if node.hooks is None and Py_REFCNT(grad) <= 1 and PyArray_FLAGS(grad) & wanted == wanted:
        return grad
    return copy_alike(grad)


cdef object plus_array(object total, object term):
    """The sum of two terms of a formula; the first may be None."""
    return term if total is None else _add.binary(total, term)


cdef object minus_array(object total, object term):
    """The difference of two terms of a formula; the first may be None."""
    return _negative.unary(term) if total is None else _subtract.binary(total, term)


cdef object conj_of(object x):
    """The complex conjugate in a recorded formula; a real Python number is unchanged, without a dtype."""
    return x if type(x) is float or type(x) is int else ops.conj(x)


cdef object defined_array(Node node, object grads, int output_nr):
    """The gradient of one of several outputs, zeros before it arrives."""
    cdef InputMetadata* metadata
    grad = grads[output_nr]
    if grad is None:
        metadata = node.metadata(output_nr)
        grad = np.zeros(metadata_shape(metadata), <object> cnp.PyArray_DescrFromType(metadata.type_num))
    return grad


cdef object defined_tensor(Node node, object grads, int output_nr):
    grad = grads[output_nr]
    return wrap(defined_array(node, grads, output_nr)) if grad is None else grad


cdef list defined_arrays(Node node, object grads):
    """The gradients of a list of outputs, zeros for the missing ones."""
    if node.outputs == NULL:
        grads = [grads]
    return [defined_array(node, grads, i) for i in range(node.n_outputs)]


cdef list defined_tensors(Node node, object grads):
    if node.outputs == NULL:
        grads = [grads]
    return [defined_tensor(node, grads, i) for i in range(node.n_outputs)]


cdef object flat_gradients(tuple grads, tuple is_list):
    """The gradients of inputs and lists of inputs in one sequence, like the edges."""
    cdef list flat = []
    cdef Py_ssize_t i
    for i in range(len(grads)):
        if is_list[i]:
            flat += grads[i]
        else:
            flat.append(grads[i])
    return flat[0] if len(flat) == 1 else tuple(flat)
