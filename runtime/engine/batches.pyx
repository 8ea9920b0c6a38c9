# cython: boundscheck=False, wraparound=False
"""Batches: compute many gradients of the same outputs, the rows of a leading axis, in one backward pass.

Validates the shape of a batch that arrives at a node, and applies the node to it.  If the node's rule acts on each row
independently (`takes_batch`), it takes the whole batch.  If the node has a separate rule for batches (`apply_rows`), that one is
used.  Otherwise the rule runs row by row and the results are stacked.
Also decides when each row needs its own pass: hooks see single gradients, and an unpack hook of a node that runs row by row would
be called once for each row.
"""

from libc.string cimport memcpy

import numpy as np

from ..support cimport capi as cnp
from ..support.capi cimport (
    NPY_ARRAY_C_CONTIGUOUS, PyArray_BYTES, PyArray_DIMS, PyArray_FLAGS, PyArray_ISNOTSWAPPED, PyArray_NDIM, PyArray_STRIDES,
    PyArray_TYPE, ndarray
)
from ..support.dispatch import ops
from .function_node cimport FunctionNode
from .graph_task cimport GraphTask
from .input_buffer cimport cast, refuse_shape, validate
from ..kernels.indexing.sparse_gradient cimport Placed
from ..kernels.loops.axes cimport row_view
from ..kernels.reductions.reductions_loops cimport sum_to
from ..core.node cimport InputMetadata, Node, NodeHooks, TaskSlot, Wanted, metadata_shape
from .ready_queue cimport NodeStack
from ..saved.saved_variable cimport is_packed
from ..core.tensor cimport TensorBase, wrap

cnp.import_array()


cdef object apply_to_batch(GraphTask task, Node node, object grads, Wanted wanted):
    """The result of a node that cannot take a batch directly: by its rule for batches, else row by row."""
    cdef object results = together(task, node, grads, wanted)
    return by_rows(task, node, grads, wanted) if results is NotImplemented else results


cdef object validate_batch(GraphTask task, Node node, int output_nr, object grad, Node source):
    """`grad` with rows of the shape and dtype of output `output_nr` of `node`; `source` as in `validate`."""
    cdef InputMetadata* metadata = node.metadata(output_nr)
    cdef ndarray array = (<TensorBase> grad).array if task.recording else grad
    cdef int extra = PyArray_NDIM(array) - 1 - metadata.ndim
    cdef tuple shape, current
    if extra != 0 or PyArray_DIMS(array)[0] != task.batch or not rows_have_shape(array, metadata):
        shape, current = metadata_shape(metadata), (<object> array).shape
        if extra < 0 or current[0] != task.batch or any(
                [n != 1 and n != m for n, m in zip(shape, current[1 + extra:])]):
            refuse_shape(node, shape, current[1:], source)
        narrow = (task.batch,) + (1,) * extra + shape
        whole = (task.batch,) + shape
        if task.recording:
            grad = ops.reshape(ops._sum_to(grad, narrow), whole)
        else:
            grad = sum_to(grad, narrow).reshape(whole)
    return cast(grad, PyArray_TYPE(array), metadata, task.recording)


cdef bint rows_have_shape(ndarray array, InputMetadata* metadata) noexcept:
    cdef int i
    for i in range(metadata.ndim):
        if PyArray_DIMS(array)[i + 1] != metadata.dims[i]:
            return False
    return True


cdef object together(GraphTask task, Node node, object grads, Wanted wanted):
    """The results by a node's rule for batches; NotImplemented without such a rule."""
    cdef object results
    if node.outputs != NULL:
        return NotImplemented
    if task.recording:
        return node.apply_rows(grads, wanted)
    results = node.apply_rows(wrap(grads), wanted)
    return results if results is NotImplemented else (<TensorBase> results).array


cdef object by_rows(GraphTask task, Node node, object grads, Wanted wanted):
    """The results of a node that takes one row at a time, stacked; each row is validated for the next node."""
    cdef Py_ssize_t row, i, count = node.edge_count
    cdef list found = [None] * count
    cdef object results, item
    for row in range(task.batch):
        if task.recording:
            results = node.apply_recorded(row_of(node, grads, row), wanted)
        else:
            results = node.apply(row_of(node, grads, row), wanted)
            if type(results) is Placed:
                results = (<Placed> results).computed()
        if results is None:
            continue
        for i in range(count):
            item = results if count == 1 else results[i]
            if item is None or not ((wanted >> (i & 63)) & 1 and node.needs(i)):
                continue
            item = validate(node.next_node(i), node.next_nr(i), item, task.recording, node)
            if found[i] is None and task.recording:
                found[i] = [None] * task.batch
            elif found[i] is None:  # rows without a gradient are zeros
                found[i] = np.zeros((task.batch, *item.shape), item.dtype.newbyteorder("="))
            if task.recording:
                (<list> found[i])[row] = item
            else:
                put_row(found[i], row, item)
    if task.recording:
        found = [None if rows is None else stacked(rows) for rows in found]
    return found[0] if count == 1 else tuple(found)


cdef object row_of(Node node, object grads, Py_ssize_t row):
    """One row of the gradients that arrived; an array without axes remains an array."""
    if grads is None:
        return None
    if node.outputs == NULL:
        return one_row(grads, row)
    return [None if grad is None else one_row(grad, row) for grad in <list> grads]


cdef object one_row(object batch, Py_ssize_t row):
    return row_view(batch, row) if type(batch) is ndarray else batch[row, ...]


cdef int put_row(ndarray whole, Py_ssize_t row, object item) except -1:
    """`whole[row] = item`; the item has the shape and dtype of a row."""
    cdef ndarray values
    if type(item) is ndarray:
        values = item
        if PyArray_FLAGS(values) & NPY_ARRAY_C_CONTIGUOUS and PyArray_ISNOTSWAPPED(values):
            memcpy(PyArray_BYTES(whole) + row * PyArray_STRIDES(whole)[0], PyArray_BYTES(values), cnp.PyArray_NBYTES(values))
            return 0
    (<object> whole)[row] = item
    return 0


cdef object stacked(list rows):
    zero = ops.zeros_like(next(row for row in rows if row is not None))
    return ops.stack([zero if row is None else row for row in rows])


cdef bint goes_row_by_row(GraphTask task) except -1:
    """Whether a hook on the paths of this task would notice the batch."""
    cdef NodeStack stack = NodeStack.__new__(NodeStack)
    cdef set seen = {task.root}
    cdef TaskSlot* slot
    cdef Node node, target
    cdef Py_ssize_t i
    stack.push(task.root)
    while stack.count:
        node = stack.pop()
        for i in range(node.edge_count):
            target = node.next_node(i)
            if target is None or target in seen:
                continue
            seen.add(target)
            slot = task.slot(target)
            if not (slot.needed or slot.captured):
                continue
            if is_watched(target.hooks) or slot.needed and not target.takes_batch() and has_packed(target):
                return True
            stack.push(target)
    return False


cdef bint is_watched(NodeHooks hooks) except -1:
    return hooks is not None and bool(hooks.retains_grad or hooks.pre or hooks.post or any(hooks.tensor_pre.values()))


cdef bint has_packed(Node node) except -1:
    """Whether some saved value of a node has an unpack hook, which may count its calls."""
    if isinstance(node, FunctionNode):
        return any([is_packed(item) for item, _ in (<FunctionNode> node).saved])
    return any([is_packed(getattr(node, f"saved_{name}")) for name in type(node).saves])
