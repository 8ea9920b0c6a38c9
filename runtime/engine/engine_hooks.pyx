# cython: boundscheck=False, wraparound=False
"""Hooks around a node, as the engine runs them.

Owns their order (hooks of the output tensors, retained gradients, prehooks; posthooks after the node), what they may
return, and that they see tensors.  Knows no order of nodes.
"""

from ..support.capi cimport ndarray
from ..support.dispatch import ops
from .graph_task cimport GraphTask
from .input_buffer cimport plus_array
from ..core.non_operator_events cimport call_hook
from ..core.node cimport Node, NodeHooks
from ..core.tensor cimport TensorBase, wrap


cdef object as_user(object grad):
    """A gradient as hooks see it: a tensor, whatever the engine carries."""
    return wrap(grad) if isinstance(grad, ndarray) else grad


cdef int capture_gradient(GraphTask task, Node node, object grads) except -1:
    """Keep what arrives at a node that `inputs=` names."""
    for output_nr, positions in task.captures[node].items():
        grad = grads if node.outputs == NULL else (None if grads is None else grads[output_nr])
        for position in positions:
            task.results[position] = as_user(grad)
    return 0


cdef object from_user(GraphTask task, object grad):
    """A gradient as the engine carries it in this task."""
    return (<TensorBase> grad).array if isinstance(grad, TensorBase) and not task.recording else grad


cdef str named(object hook):
    return f"hook '{getattr(hook, '__name__', '<unknown>')}'"


cdef object checked(Node node, object hook, object old, object new):
    """What a hook returned, in place of `old`."""
    if new is None:
        return old
    if not isinstance(new, TensorBase):
        raise TypeError(f"expected Variable, but hook returned '{type(new).__name__}' ({named(hook)} of {type(node).__name__})")
    if old is None:
        raise RuntimeError(f"{named(hook)} can't replace a None gradient with a non-None value, of {type(node).__name__}")
    if new.shape != old.shape:
        raise RuntimeError(f"{named(hook)} has changed the size of value (was {list(old.shape)}, got {list(new.shape)}), of "
                           f"{type(node).__name__}")
    if new.dtype != old.dtype:
        raise RuntimeError(f"{named(hook)} has changed the type of value, its dtype (was {old.dtype}, got {new.dtype}), of "
                           f"{type(node).__name__}")
    return new


cdef object run_tensor_hooks(GraphTask task, Node node, object grads):
    """Hooks of the node's output tensors, then gradients that are retained.

    A hook sees None where its gradient is undefined.  Which hooks run is settled when the first does: one that an earlier
    one removes runs this once more.
    """
    cdef NodeHooks hooks = node.hooks
    cdef bint single = node.outputs == NULL
    for output_nr, functions in tuple(hooks.tensor_pre.items()):
        if not functions:
            continue
        grad = as_user(grads if single or grads is None else grads[output_nr])
        for hook in tuple(functions.values()):
            grad = checked(node, hook, grad, call_hook(node, hook, (grad,)))
        grad = from_user(task, grad)
        if single:
            grads = grad
        elif grad is not None:
            grads[output_nr] = grad
    for output_nr, tensor in tuple(hooks.retains_grad.items()):
        grad = grads if single or grads is None else grads[output_nr]
        if grad is not None:
            retain(task, tensor(), as_user(grad))
    return grads


cdef int retain(GraphTask task, TensorBase tensor, TensorBase grad) except -1:
    """Keep the gradient of a non-leaf in its `.grad`; None for a tensor that is gone."""
    cdef TensorBase kept, before
    if tensor is None:
        return 0
    while True:
        before = tensor.grad_
        if task.recording:
            kept = ops.copy(grad) if before is None else ops.add(before, grad)
        else:
            kept = wrap(grad.array.copy() if before is None else plus_array(before.array, grad.array))
        if tensor.grad_ is before:  # else another thread stored one meanwhile
            tensor.grad_ = kept
            return 0


cdef object run_pre_hooks(GraphTask task, Node node, object grads):
    cdef bint single = node.outputs == NULL
    values = (as_user(grads),) if single else tuple(
        [as_user(g) for g in (grads if grads is not None else [None] * node.n_outputs)])
    for hook in tuple(node.hooks.pre.values()):
        values = checked_tuple(node, hook, values, call_hook(node, hook, (values,)))
    if single:
        return from_user(task, values[0])
    return [from_user(task, v) for v in values] if any([v is not None for v in values]) else None


cdef object run_post_hooks(GraphTask task, Node node, object results, object grads):
    cdef Py_ssize_t count = node.edge_count
    inputs = () if count == 0 else (
        (as_user(results),) if count == 1 else
        tuple([as_user(r) for r in (results if results is not None else [None] * count)]))
    outputs = (as_user(grads),) if node.outputs == NULL else tuple(
        [as_user(g) for g in (grads if grads is not None else [None] * node.n_outputs)])
    for hook in tuple(node.hooks.post.values()):
        inputs = checked_tuple(node, hook, inputs, call_hook(node, hook, (inputs, outputs)))
    if count == 0:
        return None
    return from_user(task, inputs[0]) if count == 1 else tuple([from_user(task, v) for v in inputs])


cdef tuple checked_tuple(Node node, object hook, tuple old, object new):
    if new is None:
        return old
    if not isinstance(new, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type(new).__name__}' ({named(hook)} of {type(node).__name__})")
    if len(new) != len(old):
        raise RuntimeError(f"{named(hook)} has returned an incorrect number of values (got {len(new)}, but expected {len(old)}), "
                           f"of {type(node).__name__}")
    return tuple([None if n is None else checked(node, hook, o, n) for o, n in zip(old, new)])
