"""backward() and grad(): the engine's interface for users.

Checks the users' arguments, and accepts gradient edges instead of tensors.
"""

import collections
import math
import warnings

import numpy as np

from ..support cimport capi as cnp
from ..core.accumulate_grad cimport gradient_edge
from .engine cimport run_backward
from ..core.grad_mode cimport ANOMALY, MAPPED, thread_objects, thread_state
from ..core.node cimport Node, metadata_shape
from ..core.conversion cimport as_tensor
from .ready_queue cimport NodeStack
from ..core.tensor cimport REQUIRES_GRAD, VIEW, TensorBase, check_view, wrap

cnp.import_array()

GradientEdge = collections.namedtuple("GradientEdge", ["node", "output_nr"], module=__name__)
GradientEdge.__doc__ = """The destination of a gradient: a node and the number of one of its outputs.

Parameters
----------
node : Node
output_nr : int
"""


def get_gradient_edge(tensor):
    """The edge that receives the gradient of `tensor`.

    Parameters
    ----------
    tensor : Tensor
        A tensor that requires grad.

    Returns
    -------
    GradientEdge
    """
    if thread_state().flags & MAPPED and (found := thread_objects().mapping.gradient_edge(tensor)) is not NotImplemented:
        return found
    if not isinstance(tensor, TensorBase):
        raise TypeError(f"get_gradient_edge: expected a Tensor, got {type(tensor).__name__}")
    if (<TensorBase> tensor).flags & VIEW:
        check_view(tensor)
    if not (<TensorBase> tensor).flags & REQUIRES_GRAD:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    return GradientEdge(gradient_edge(tensor), (<TensorBase> tensor).output_nr_)


def is_tensor_or_edge(value):
    return isinstance(value, (TensorBase, GradientEdge))


def as_sequence(value):
    return (value,) if value is None or is_tensor_or_edge(value) or isinstance(value, np.ndarray) else tuple(value)


cdef tuple edge_of(object value, Py_ssize_t i, str what):
    """(node, output number) of a root or an input."""
    cdef TensorBase tensor
    if isinstance(value, GradientEdge):
        return edge_to(value.node, value.output_nr, f"{what} {i}")
    if not isinstance(value, TensorBase):
        raise TypeError(f"{what} {i} must be a Tensor or a GradientEdge, got {type(value).__name__}")
    tensor = value
    if tensor.flags & VIEW:
        check_view(tensor)
    if not tensor.flags & REQUIRES_GRAD:
        if what == "element":
            raise RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn")
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    return gradient_edge(tensor), tensor.output_nr_


cdef tuple edge_to(object node, object output_nr, str what):
    """Check a user's GradientEdge: the node must have an output with this number."""
    if not isinstance(node, Node):
        raise TypeError(f"{what}: the GradientEdge leads to no node, but to {node!r}; next_functions has (None, 0) where no "
                        "gradient is needed")
    if not isinstance(output_nr, (int, np.integer)):
        raise TypeError(f"{what}: the output number of a GradientEdge must be an int, got {type(output_nr).__name__}")
    if not 0 <= output_nr < (<Node> node).n_outputs:
        raise RuntimeError(f"{what}: {type(node).__name__} has {(<Node> node).n_outputs} outputs, the GradientEdge names number "
                           f"{output_nr}")
    return node, int(output_nr)


cdef tuple shape_of_root(object root, Py_ssize_t i):
    if not isinstance(root, GradientEdge):
        return root.shape
    node, output_nr = edge_to(root.node, root.output_nr, f"element {i}")
    return metadata_shape((<Node> node).metadata(output_nr))


cdef TensorBase initial_gradient(object root, object grad, Py_ssize_t i, bint create_graph):
    """The gradient to start from: the user's gradient, checked, or 1 for a real scalar."""
    cdef Node node
    cdef TensorBase gradient
    if isinstance(root, GradientEdge):
        node = root.node
        if node.metadata(root.output_nr).ndim < 0:
            raise RuntimeError(f"element {i} of tensors does not require grad: output {root.output_nr} of "
                               f"{type(node).__name__} is not differentiable")
        shape = metadata_shape(node.metadata(root.output_nr))
        dtype = node.dtype_of_output(root.output_nr)
    else:
        shape, dtype = root.shape, root.dtype
    if dtype.kind not in "fc":
        raise RuntimeError(f"element {i} of tensors does not require grad: it is {dtype}")
    if grad is None:
        if math.prod(shape) != 1:
            raise RuntimeError("grad can be implicitly created only for scalar outputs; this one has shape "
                               f"{list(shape)}: pass a gradient of that shape")
        if dtype.kind == "c":
            raise RuntimeError("grad can be implicitly created only for real scalar outputs but got " + str(dtype))
        one = np.empty(shape, dtype)  # np.ones takes three times as long
        one.fill(1)
        return wrap(one)
    if not isinstance(grad, (TensorBase, np.ndarray, np.generic, int, float, complex)):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(grad).__name__}")
    gradient = as_tensor(grad, "backward", "gradient")
    if gradient.shape != shape:
        raise RuntimeError(f"Mismatch in shape: grad_output[{i}] has a shape of {gradient.shape} and output[{i}] has "
                           f"a shape of {shape}.")
    if (gradient.dtype.kind == "c") != (dtype.kind == "c"):
        raise RuntimeError("For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in "
                           f"dtype: grad_output[{i}] has a dtype of {gradient.dtype} and output[{i}] has a dtype of {dtype}.")
    if gradient.dtype != dtype:
        gradient = gradient.astype(dtype) if create_graph else wrap(gradient.array.astype(dtype))
    return gradient


cdef tuple prepare(object outputs, object gradients, bint create_graph):
    """Roots as edges, and their gradients."""
    cdef tuple roots = as_sequence(outputs)
    cdef tuple grads = (None,) * len(roots) if gradients is None else as_sequence(gradients)
    if len(roots) == 0:
        raise RuntimeError("grad requires non-empty outputs.")
    if len(grads) != len(roots):
        raise RuntimeError(f"got {len(roots)} tensors and {len(grads)} gradients")
    edges = tuple([edge_of(root, i, "element") for i, root in enumerate(roots)])
    return edges, tuple([initial_gradient(root, grad, i, create_graph) for i, (root, grad) in enumerate(zip(roots, grads))])


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, inputs=None):
    """Accumulate the gradients of `tensors` into the `.grad` of the leaves that they depend on.

    Parameters
    ----------
    tensors : Tensor, GradientEdge, or sequence of them
        Roots.
    grad_tensors : Tensor, None, or sequence of them
        Gradients with respect to the roots, of the same shapes; None means 1 if the root has one real element.
    retain_graph : bool, optional
        Keep the saved values, so that the graph can be traversed again; the value of `create_graph` by default.
    create_graph : bool
        Record the backward pass itself, for higher derivatives.
    inputs : Tensor, GradientEdge, or sequence of them, optional
        Tensors to accumulate into; all other leaves are unchanged.

    Raises
    ------
    RuntimeError
        A root requires no gradient, a gradient has the wrong shape or dtype, or the graph was freed.
    """
    cdef list targets = None
    if thread_state().flags & MAPPED and thread_objects().mapping.backward(
            tensors, grad_tensors, retain_graph, create_graph, inputs) is not NotImplemented:
        return
    if inputs is not None:
        inputs = as_sequence(inputs)
        if len(inputs) == 0:
            raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
        targets = [edge_of(value, i, "input") for i, value in enumerate(inputs)]
    edges, grads = prepare(tensors, grad_tensors, create_graph)
    if create_graph:
        warnings.warn("Using backward() with create_graph=True will create a reference cycle between the parameter and its "
                      "gradient which can cause a memory leak. Use autograd.grad when creating the graph, or reset the "
                      ".grad fields of your parameters to None after use.", stacklevel=2)
    if inputs is not None:
        for value in inputs:
            if isinstance(value, TensorBase):
                value.retain_grad()
    run_backward(edges, grads, create_graph if retain_graph is None else retain_graph, create_graph, targets, False)


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, allow_unused=None,
         is_grads_batched=False, materialize_grads=False, *, only_inputs=True):
    """The gradients of `outputs` with respect to `inputs`; every `.grad` is unchanged.

    Parameters
    ----------
    outputs : Tensor, GradientEdge, or sequence of them
    inputs : Tensor, GradientEdge, or sequence of them
    grad_outputs : Tensor, None, or sequence of them
        Gradients with respect to `outputs`, of the same shapes.
    retain_graph, create_graph : bool
        As in `backward`.
    allow_unused : bool, optional
        Return None for an input that the outputs do not depend on, instead of raising.
    is_grads_batched : bool
        The first axis of every `grad_outputs`, and of every result, is a batch.  One pass computes the whole batch, unless a
        hook on the path has to see each row separately.
    materialize_grads : bool
        Return zeros instead of None.
    only_inputs : bool
        Ignored: the `.grad` of other tensors is unchanged in any case.

    Returns
    -------
    tuple of Tensor
        One gradient for each input, of its shape and dtype.
    """
    if materialize_grads and allow_unused is False:
        raise ValueError("Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
                         "allow_unused=False.")
    cdef bint unused = bool(allow_unused) or materialize_grads
    inputs = as_sequence(inputs)
    if len(inputs) == 0:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    if thread_state().flags & MAPPED and (found := thread_objects().mapping.grad(
            as_sequence(outputs), inputs, grad_outputs, retain_graph, create_graph, unused, is_grads_batched,
            materialize_grads)) is not NotImplemented:
        return found
    if is_grads_batched:
        return batched_grad(outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused, materialize_grads)
    edges, grads = prepare(outputs, grad_outputs, create_graph)
    cdef list targets = [edge_of(value, i, "input") for i, value in enumerate(inputs)]
    results = run_backward(edges, grads, create_graph if retain_graph is None else retain_graph, create_graph, targets, True)
    return finished(results, inputs, unused, materialize_grads, create_graph, ())


cdef tuple finished(list results, tuple inputs, bint unused, bint materialize_grads, bint create_graph, tuple leading):
    """The gradients as returned to users; zeros get the leading axes `leading`."""
    for i, result in enumerate(results):
        if result is None and not unused:
            raise RuntimeError("One of the differentiated Tensors appears to not have been used in the graph. Set "
                               f"allow_unused=True if this is the desired behavior. (input {i})")
        if result is None and materialize_grads:
            if not isinstance(inputs[i], TensorBase):
                raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge that was not "
                                   f"reached: there is no tensor whose zeros to return (input {i})")
            array = <object> (<TensorBase> inputs[i]).array
            results[i] = wrap(np.zeros(leading + array.shape, array.dtype) if leading else np.zeros_like(array))
            if create_graph:
                results[i].requires_grad = True  # so that it can be differentiated again, to None or zeros
    return tuple(results)


def batched_grad(outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused, materialize_grads):
    """`grad` for each item of a batch of output gradients, stacked."""
    outputs, batches = as_sequence(outputs), as_sequence(grad_outputs)
    if any(batch is not None and batch.ndim == 0 for batch in batches):
        raise RuntimeError("If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch "
                           "dimension; a 0-d grad_output has none")
    sizes = {batch.shape[0] for batch in batches if batch is not None}
    if len(sizes) != 1:
        raise RuntimeError(f"is_grads_batched: every grad_outputs needs the same first axis, got sizes {sorted(sizes)}")
    size = sizes.pop()
    if len(batches) != len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(batches)} gradients")
    for i, (output, batch) in enumerate(zip(outputs, batches)):
        shape = shape_of_root(output, i)
        if batch is not None and batch.shape[1:] != shape:
            raise RuntimeError("If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch "
                               "dimension. The sizes of the remaining dimensions are expected to match the shape of "
                               f"corresponding output, but a mismatch was detected: grad_output[{i}] has a shape of "
                               f"{batch.shape} and output[{i}] has a shape of {shape}. If you only want some "
                               "tensors in `grad_output` to be considered batched, pass a batch for each.")
    cdef bint keep = create_graph if retain_graph is None else retain_graph
    if thread_state().flags & ANOMALY:  # anomaly mode names the row with the NaN
        results = None
    else:
        results = run_batch(outputs, inputs, batches, keep, create_graph, size)
    if results is None:
        results = run_rows(outputs, inputs, batches, keep, create_graph, size)
    return finished(results, inputs, allow_unused or materialize_grads, materialize_grads, create_graph, (size,))


cdef list run_batch(tuple outputs, tuple inputs, tuple batches, bint keep, bint create_graph, Py_ssize_t size):
    """The gradients by a single pass; None if each row needs its own pass."""
    cdef TensorBase one
    cdef list grads = [], targets
    edges = tuple([edge_of(output, i, "element") for i, output in enumerate(outputs)])
    for i, (output, batch) in enumerate(zip(outputs, batches)):
        if batch is None or size == 0:
            one = initial_gradient(output, None if batch is None else np.zeros(batch.shape[1:], batch.dtype), i, create_graph)
            grads.append(wrap(np.repeat(one.array[np.newaxis], max(size, 1), axis=0)))
            continue
        one = initial_gradient(output, batch[0], i, create_graph)
        batch = as_tensor(batch, "backward", "gradient")
        grads.append(batch if batch.dtype == one.dtype else batch.astype(one.dtype))
    targets = [edge_of(value, i, "input") for i, value in enumerate(inputs)]
    results = run_backward(edges, tuple(grads), keep, create_graph, targets, True, max(size, 1))
    if size == 0 and results is not None:  # computed for a row of zeros, which has the right shape
        results = [None if result is None else result[:0] for result in results]
    return results


cdef list run_rows(tuple outputs, tuple inputs, tuple batches, bint keep, bint create_graph, Py_ssize_t size):
    """The gradients by one pass for each row."""
    from ..support.dispatch import ops
    rows = []
    for i in range(max(size, 1)):
        row = [None if batch is None else batch[i] if size else np.zeros(batch.shape[1:], batch.dtype) for batch in batches]
        rows.append(grad(outputs, inputs, row, keep or i + 1 < size, create_graph, True))
    columns = [None if column[0] is None else ops.stack(list(column)) for column in zip(*rows)]
    return columns if size else [None if column is None else column[:0] for column in columns]


def depends_on_others(outputs, leaves):
    """Whether gradients of `outputs` would reach a leaf that requires grad and is not among `leaves`.

    Parameters
    ----------
    outputs, leaves : sequence of Tensor

    Returns
    -------
    bool
    """
    cdef NodeStack stack = NodeStack.__new__(NodeStack)
    cdef set seen = set(), own
    cdef Node node, target
    if thread_state().flags & MAPPED:
        outputs, leaves = thread_objects().mapping.insides(outputs), thread_objects().mapping.insides(leaves)
    own = {id(leaf) for leaf in leaves}
    cdef TensorBase tensor
    for tensor in outputs:
        if tensor.flags & VIEW:
            check_view(tensor)
        if tensor.grad_fn_ is None:
            if tensor.flags & REQUIRES_GRAD and id(tensor) not in own:
                return True
        elif tensor.grad_fn_ not in seen:
            seen.add(tensor.grad_fn_)
            stack.push(tensor.grad_fn_)
    while stack.count:
        node = stack.pop()
        if not node.edge_count:
            leaf = getattr(node, "variable", None)  # a user's edge, or an alias, leads to the accumulator itself
            if leaf is not None and (<TensorBase> leaf).flags & REQUIRES_GRAD and id(leaf) not in own:
                return True
        for i in range(node.edge_count):
            item = <object> node.edge(i)
            if isinstance(item, Node):
                target = item
                if target not in seen:
                    seen.add(target)
                    stack.push(target)
            elif item is not None and (<TensorBase> item).flags & REQUIRES_GRAD and id(item) not in own:
                return True
    return False
