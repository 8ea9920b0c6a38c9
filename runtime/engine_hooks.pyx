# cython: boundscheck=False, wraparound=False
"""Hooks around a node, as the engine runs them.

Owns their order (hooks of the output tensors, retained gradients, prehooks; posthooks after the node), what they may
return, and that they see tensors.  Knows no order of nodes.
"""

from numpy cimport ndarray

from .graph_task cimport GraphTask
from .input_buffer cimport accumulate
from .node cimport Node, NodeHooks
from .tensor cimport TensorBase, wrap


cdef object as_user(object grad):
    """A gradient as hooks see it: a tensor, whatever the engine carries."""
    return wrap(grad) if isinstance(grad, ndarray) else grad


cdef object from_user(GraphTask task, object grad):
    """A gradient as the engine carries it in this task."""
    return (<TensorBase> grad).array if isinstance(grad, TensorBase) and not task.recording else grad


cdef object checked(Node node, object old, object new):
    """What a hook returned, in place of `old`."""
    if new is None:
        return old
    if not isinstance(new, TensorBase):
        raise TypeError(f"expected Variable, but hook returned {type(new).__name__} (hook of {node.name()})")
    if old is not None and new.shape != old.shape:
        raise RuntimeError(f"hook of {node.name()} has changed the size of value")
    if old is not None and new.dtype != old.dtype:
        raise RuntimeError(f"hook of {node.name()} has changed the dtype of value")
    return new


cdef object run_tensor_hooks(GraphTask task, Node node, object grads):
    """Hooks of the node's output tensors, then gradients that are retained."""
    cdef NodeHooks hooks = node.hooks
    cdef bint single = node.outputs == NULL
    for output_nr in range(node.n_outputs):
        if output_nr not in hooks.tensor_pre and output_nr not in hooks.retains_grad:
            continue
        grad = grads if single else (None if grads is None else grads[output_nr])
        if grad is None:
            continue
        grad = as_user(grad)
        functions = hooks.tensor_pre.get(output_nr, {})
        for key in tuple(functions):
            if key in functions:
                grad = checked(node, grad, functions[key](grad))
        if output_nr in hooks.retains_grad:
            retain(task, hooks.retains_grad[output_nr](), grad)
        grad = from_user(task, grad)
        if single:
            grads = grad
        else:
            grads[output_nr] = grad
    return grads


cdef int retain(GraphTask task, TensorBase tensor, TensorBase grad) except -1:
    """Keep the gradient of a non-leaf in its `.grad`; None for a tensor that is gone."""
    cdef TensorBase kept
    if tensor is None:
        return 0
    if tensor.grad_ is None:
        kept = grad
        if not task.recording:
            kept = wrap(grad.array.copy())
        tensor.grad_ = kept
    elif task.create_graph:
        tensor.grad_ = accumulate(tensor.grad_, grad, True)
    else:
        tensor.grad_ = wrap(tensor.grad_.array + grad.array)
    return 0


cdef object run_pre_hooks(GraphTask task, Node node, object grads):
    cdef bint single = node.outputs == NULL
    values = (as_user(grads),) if single else tuple(
        [as_user(g) for g in (grads if grads is not None else [None] * node.n_outputs)])
    for key in tuple(node.hooks.pre):
        if key in node.hooks.pre:
            values = checked_tuple(node, "prehook", values, node.hooks.pre[key](values))
    if single:
        return from_user(task, values[0])
    return [from_user(task, v) for v in values] if any([v is not None for v in values]) else None


cdef object run_post_hooks(GraphTask task, Node node, object results, object grads):
    cdef Py_ssize_t count = len(node.next_nodes)
    inputs = () if count == 0 else (
        (as_user(results),) if count == 1 else
        tuple([as_user(r) for r in (results if results is not None else [None] * count)]))
    outputs = (as_user(grads),) if node.outputs == NULL else tuple(
        [as_user(g) for g in (grads if grads is not None else [None] * node.n_outputs)])
    for key in tuple(node.hooks.post):
        if key in node.hooks.post:
            inputs = checked_tuple(node, "hook", inputs, node.hooks.post[key](inputs, outputs))
    if count == 0:
        return None
    return from_user(task, inputs[0]) if count == 1 else tuple([from_user(task, v) for v in inputs])


cdef tuple checked_tuple(Node node, str kind, tuple old, object new):
    if new is None:
        return old
    if isinstance(new, TensorBase) and len(old) == 1:
        new = (new,)
    if not isinstance(new, tuple):
        raise TypeError(f"expected a tuple of tensors, but the {kind} of {node.name()} returned {type(new).__name__}")
    if len(new) != len(old):
        raise RuntimeError(f"{kind} of {node.name()} has returned an incorrect number of values: "
                           f"{len(new)} instead of {len(old)}")
    return tuple([None if n is None else checked(node, o, n) for o, n in zip(old, new)])
