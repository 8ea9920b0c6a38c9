# cython: boundscheck=False, wraparound=False
"""Hooks around a node, as the engine runs them.

Defines their order (hooks of the output tensors, retained gradients, prehooks; posthooks after the node), checks their results,
and converts gradients to and from tensors.
"""

from ..support.capi cimport ndarray
from ..support.dispatch import ops
from .graph_task cimport GraphTask
from .input_buffer cimport plus_array
from ..core.non_operator_events cimport call_hook
from ..core.node cimport Node, NodeHooks
from ..core.tensor cimport TensorBase, wrap


cdef object as_user(object grad):
    """A gradient for hooks: always a tensor, whatever the engine carries."""
    return wrap(grad) if isinstance(grad, ndarray) else grad


cdef int capture_gradient(GraphTask task, Node node, object grads) except -1:
    """Store the gradient that arrives at a node named in `inputs=`."""
    for output_nr, positions in task.captures[node].items():
        grad = grads if node.outputs == NULL else (None if grads is None else grads[output_nr])
        for position in positions:
            task.results[position] = as_user(grad)
    return 0


cdef object from_user(GraphTask task, object grad):
    """A gradient in the engine's form for this task."""
    return (<TensorBase> grad).array if isinstance(grad, TensorBase) and not task.recording else grad


cdef str named(object hook):
    return f"hook '{getattr(hook, '__name__', '<unknown>')}'"


cdef object checked(Node node, object hook, object old, object new):
    """The result of a hook, checked against the old value `old`; None keeps the old value."""
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
    """Run the hooks of the node's output tensors, then store retained gradients.

    A hook gets None if its gradient is undefined.  The list of hooks is fixed before the first one runs: a hook that an
    earlier one removes still runs this time.
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
    """Add a gradient to the `.grad` of a non-leaf; `tensor` is None if it has been freed."""
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
