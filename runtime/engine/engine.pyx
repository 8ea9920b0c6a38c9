# cython: boundscheck=False, wraparound=False
"""Engine: run a backward graph.

Decides the order of nodes: a ReadyQueue returns the most recently created node among those whose gradients have all arrived.
Delivers gradients from node to node, and captures requested ones.  All kinds of gradients take the same pass: arrays, tensors if
the pass is recorded, batches of either, and deferred arrays.  The arrival of each kind is handled by a separate module.
The engine does not recurse.  If hooks nest passes too deeply for one stack, the next pass runs in a thread with its own stack.
Independent of the operators.
"""

from cpython.ref cimport Py_CLEAR, Py_INCREF, PyObject
from libc.stdint cimport uint64_t

from ..core.accumulate_grad cimport AccumulateGrad
from ..core.events cimport Event, begin_event, end_event, note_event
from ..core.anomaly_mode cimport check_nan
from .batches cimport apply_to_batch, goes_row_by_row, validate_batch
from ..support.capi cimport PyTupleObject, Py_REFCNT, ndarray
from .engine_hooks cimport capture_gradient, run_post_hooks, run_pre_hooks, run_tensor_hooks
from ..core.grad_mode cimport (
    ANOMALY, BATCHED, BY_OPERATOR, DUAL, GRAD_DISABLED, LISTENING, MAPPED, NAN_ALLOWED, ONE_THREAD, ThreadObjects, ThreadState,
    thread_objects, thread_state,
)
from .graph_task cimport GraphTask, finish_task, running_task, start_task
from .input_buffer cimport accumulate, validate
from ..kernels.indexing.sparse_gradient cimport Placed
from ..kernels.fusion_engine.fusion cimport Fused, large_size
from ..kernels.loops.memory cimport give_back
from ..core.node cimport Node, TaskSlot, Wanted
from ..core.provenance cimport calculation, report_failure
from .deferred_gradients cimport (
    add_placed, arrived, blamed, forget, is_large, may_wait, settle, taken_computed, validate_deferred,
)

cdef enum:
    NESTED_LIMIT = 60  # passes within passes on one stack: far from Python's recursion limit, whatever runs between them
    HOOKS_CHANGE = DUAL | BATCHED | LISTENING | BY_OPERATOR | MAPPED  # modes that a hook or an operator may change for good


cdef int run(GraphTask task) except -1:
    """Run ready nodes until none is left.

    In anomaly mode the thread knows the running node, which is the parent of the nodes recorded meanwhile.
    """
    cdef Node node = task.root
    cdef ThreadObjects watched = None
    cdef object outer = None
    if thread_state().flags & ANOMALY:
        watched = thread_objects()
        outer = watched.running
    elif not (task.recording or task.batch):
        task.large = large_size()
    task.ready.push(node)
    try:
        while task.ready.count:
            node = task.ready.pop()
            if watched is not None:
                watched.running = None if node.origin == 0 else calculation(node)
            run_node(task, node)
        if task.fusions is not None:
            settle_heard(task)
    except Exception as error:
        report_failure(thread_state(), blamed(task, node), error)
        raise
    finally:
        if watched is not None:
            watched.running = outer
    return 0


cdef int run_node(GraphTask task, Node node) except -1:
    """Run one node between its hooks, and deliver its results."""
    cdef TaskSlot* slot = task.slot(node)
    cdef object grads = None, results, item
    cdef tuple several
    cdef bint needed = slot.needed
    cdef Wanted wanted = slot.wanted
    cdef Py_ssize_t i, count
    if task.fusions is not None and not may_wait(node, needed):
        settle_heard(task)
    if node is not task.root:
        if slot.buffer != NULL:
            grads = <object> slot.buffer
            Py_CLEAR(slot.buffer)
        if is_large(task, &node.output):
            grads = arrived(task, node, grads, needed)
        if node.hooks is not None:
            grads = run_tensor_hooks(task, node, grads)
        if slot.captured:
            capture_gradient(task, node, grads)
        task.release(node)
        if not needed:
            return 0
    if node.hooks is not None and node.hooks.pre:
        grads = run_pre_hooks(task, node, grads)
    results = applied_heard(task, node, grads, wanted) if task.listening else applied(task, node, grads, wanted)
    if task.check_nan and results is not None:
        check_nan(node, results)
    if node.hooks is not None and node.hooks.post:
        results = run_post_hooks(task, node, results, grads)
    if type(grads) is ndarray:
        give_back(<PyObject*> grads)
    grads = None  # the inputs' gradients may be this very array: they must be its only references
    if not task.keep_graph:
        node.release_variables()
    count = node.edge_count
    if count == 1:
        if wanted:
            item, results = results, None
            if node is task.root:
                item = item[0]
            deliver(task, node, 0, item)
            if type(item) is ndarray:
                give_back(<PyObject*> item)
    elif count > 1:
        several, results = results, None
        for i in range(count):
            if (wanted >> (i & 63)) & 1 and node.needs(i):
                deliver(task, node, i, None if several is None else several[i])
        if several is not None and Py_REFCNT(several) == 1:  # items that were added to a different gradient are no longer needed
            for i in range(count):
                if type(<object> (<PyTupleObject*> several).ob_item[i]) is ndarray:
                    give_back((<PyTupleObject*> several).ob_item[i])
    return 0


cdef inline object applied(GraphTask task, Node node, object grads, Wanted wanted):
    """The results of a node, by the kind of pass."""
    cdef object results
    if grads is None and not node.takes_undefined():
        return None
    if task.batch and not node.takes_batch():
        return apply_to_batch(task, node, grads, wanted)
    if task.recording:
        return node.apply_recorded(grads, wanted)
    results = node.apply(grads, wanted)
    if type(results) is Placed and (task.check_nan or task.listening or node.hooks is not None):
        results = (<Placed> results).computed()
    return results


cdef object applied_heard(GraphTask task, Node node, object grads, Wanted wanted):
    """`applied`, reported to listeners."""
    cdef ThreadState* state = thread_state()
    cdef Event event
    if node is task.root:
        return applied(task, node, grads, wanted)
    event = begin_event(state, "node", type(node).__name__, tuple(grads) if type(grads) is list else (grads,), node)
    try:
        results = applied(task, node, grads, wanted)
    except BaseException as error:
        end_event(state, event, None, error)
        raise
    end_event(state, event, results, None)
    computed = taken_computed(task)
    if computed:  # the program of deferred work had reached the maximal length of a plan
        note_event(state, "made", "put off", (), computed)
    return results


cdef int settle_heard(GraphTask task) except -1:
    """`settle`, reported to listeners."""
    cdef ThreadState* state = thread_state()
    cdef Event event
    if not task.listening:
        return settle(task)
    event = begin_event(state, "deferred", "put off", (), None)
    try:
        settle(task)
    except BaseException as error:
        end_event(state, event, None, error)
        raise
    return end_event(state, event, taken_computed(task), None)


cdef int deliver(GraphTask task, Node source, Py_ssize_t i, object grad) except -1:
    """Add one gradient to the buffer of the node at edge `i`, and queue that node if this was its last missing gradient."""
    cdef Node target = source.next_node(i)
    cdef TaskSlot* slot = task.slot(target)
    cdef int output_nr
    cdef list buffers
    if not (slot.needed or slot.captured):
        return 0
    if grad is not None:
        output_nr = source.next_nr(i)
        if task.batch:
            grad = validate_batch(task, target, output_nr, grad, None if source is task.root else source)
        elif type(grad) is Fused:
            grad = validate_deferred(target, output_nr, grad, source)
        elif type(grad) is Placed:
            grad = add_placed(slot.buffer, target, output_nr, grad, source)
        else:
            grad = validate(target, output_nr, grad, task.recording, None if source is task.root else source)
        if grad is None:
            pass
        elif target.outputs == NULL:
            grad = merge(task, slot, grad)
        else:
            if slot.buffer == NULL:
                buffers = [None] * target.n_outputs
                Py_INCREF(buffers)
                slot.buffer = <PyObject*> buffers
            buffers = <list> slot.buffer
            item, buffers[output_nr] = buffers[output_nr], None
            buffers[output_nr] = grad if item is None else accumulate(item, grad, task.recording)
    slot.dependencies -= 1
    if slot.dependencies == 0:
        task.ready.push(target)
    return 0


cdef object merge(GraphTask task, TaskSlot* slot, object grad):
    """Add a gradient to the buffer of a node with one output."""
    cdef object total
    if slot.buffer != NULL:
        total = <object> slot.buffer
        Py_CLEAR(slot.buffer)
        grad = accumulate(total, grad, task.recording)
    Py_INCREF(grad)
    slot.buffer = <PyObject*> grad
    return None


cdef list run_backward(tuple roots, tuple grads, bint keep_graph, bint create_graph, list inputs, bint capture,
                       Py_ssize_t batch=0):
    """Run one GraphTask.

    Parameters
    ----------
    roots : tuple of (Node, int)
        Start nodes and their output numbers.
    grads : tuple of TensorBase
        Initial gradients, one for each root.
    inputs : list of (Node, int), or None
        Requested gradients; None for all.
    capture : bool
        Whether to return the gradients of `inputs` instead of accumulating them.
    batch : int
        Length of the first axis of all `grads`, rows of a batch; 0 if they have no such axis.

    Returns
    -------
    list
        None if the batch has to be computed row by row.
    """
    cdef ThreadState* state = thread_state()
    cdef bint recording = create_graph or state.flags & (DUAL | BY_OPERATOR) != 0
    cdef GraphTask task = start_task(roots, grads, keep_graph, create_graph, recording)
    cdef GraphTask outer
    cdef NestedPass nested
    task.everything, task.capturing, task.batch = inputs is None, capture, batch
    if state.graph_task:
        outer = running_task(state.graph_task)
        task.depth = 0 if outer is None else outer.depth + 1
        if task.depth and task.depth % NESTED_LIMIT == 0:
            nested = NestedPass.__new__(NestedPass)
            nested.task, nested.inputs = task, inputs
            thread_objects()  # created here, if at all: they end with their thread
            nested.state = state[0]
            try:
                from .worker import run_on_own_stack  # imports `threading`, which few programs need
                return run_on_own_stack(nested)
            finally:
                state[0] = nested.state
                finish_task(task)  # also if no thread could be started
    return run_task(state, task, inputs)


cdef class NestedPass:
    """A pass that runs in a different thread as if it ran in this one."""
    cdef GraphTask task
    cdef list inputs
    cdef ThreadState state

    def __call__(self):
        cdef ThreadState* state = thread_state()
        cdef ThreadState own = state[0]
        state[0] = self.state
        try:
            return run_task(state, self.task, self.inputs)
        finally:
            self.state, state[0] = state[0], own


cdef list run_task(ThreadState* state, GraphTask task, list inputs):
    """Run a task that was started, and restore the thread's modes."""
    cdef Node node
    cdef unsigned int flags = state.flags
    cdef uint64_t outer_task = state.graph_task
    cdef bint outer_keep = state.keep_graph, finished = False
    cdef tuple modes = modes_of(state)
    cdef Event event = None
    cdef object failure = None
    if flags & LISTENING:
        event = begin_event(state, "pass", "grad" if task.capturing else "backward", task.root.grads, None)
        task.listening = True
    try:
        if inputs is not None:
            task.results = [None] * len(inputs)
            task.asked = [node for node, _ in inputs]
            task.ask(inputs)
        task.walk()
        if task.batch and goes_row_by_row(task):
            return None
        state.graph_task, state.keep_graph = task.id, task.keep_graph
        state.flags = flags & ~<unsigned int> GRAD_DISABLED if task.create_graph else flags | GRAD_DISABLED
        task.check_nan = flags & ANOMALY and not flags & NAN_ALLOWED
        run(task)
        while task.callbacks:
            task.callbacks.pop(0)()
        finished = True
    except BaseException as error:
        failure = error
        raise
    finally:
        # Dual levels and listeners that a hook opened or closed stay so; every other mode is restored.
        state.flags = flags & ~<unsigned int> HOOKS_CHANGE | state.flags & HOOKS_CHANGE
        state.graph_task, state.keep_graph = outer_task, outer_keep
        if state.objects != NULL:
            restore_modes(<ThreadObjects> state.objects, modes)
        finish_task(task)
        if task.fusions is not None:
            forget(task)
        if not finished:
            task.abandon()
        if event is not None:
            end_event(state, event, task.results if finished else None, failure)
    return task.results


cdef tuple modes_of(ThreadState* state):
    """Copies of the stacks of modes, which a hook may change without restoring them."""
    cdef ThreadObjects objects
    if state.objects == NULL:
        return None
    objects = <ThreadObjects> state.objects
    if not objects.saved_hooks and not objects.hooks_disabled:
        return None
    return list(objects.saved_hooks), list(objects.hooks_disabled)


cdef int restore_modes(ThreadObjects objects, tuple modes) except -1:
    if modes is None:
        objects.saved_hooks.clear()
        objects.hooks_disabled.clear()
    else:
        objects.saved_hooks[:], objects.hooks_disabled[:] = modes
    return 0


def current_graph_task_id():
    """Id of the backward pass that runs in this thread, -1 outside."""
    cdef uint64_t task = thread_state().graph_task
    return task if task else -1


def will_engine_execute_node(node):
    """Whether the running backward pass runs `node` or captures its gradient, now, earlier or later."""
    cdef GraphTask task = running_task(thread_state().graph_task)
    if not isinstance(node, Node):
        raise RuntimeError(f"will_engine_execute_node: expects an grad_fn, got {type(node).__name__}")
    if task is None:
        raise RuntimeError("will_engine_execute_node: can only be called during the backward pass")
    if task.capturing and isinstance(node, AccumulateGrad):
        raise RuntimeError("will_engine_execute_node: was called with the accumulator of a leaf while you are currently "
                           "running autograd.grad(), which accumulates into no leaf")
    return bool(task.executes(node))


def current_graph_task_execution_order():
    """The nodes of the running backward pass in execution order, including those that have run."""
    cdef GraphTask task = running_task(thread_state().graph_task)
    if task is None:
        raise RuntimeError("_current_graph_task_execution_order should only be called during the backward pass")
    if not thread_state().flags & ONE_THREAD:
        raise RuntimeError("_current_graph_task_execution_order expects the current backward to be executed with multithreading "
                           "disabled, e.g. by running it inside `with autograd.set_multithreading_enabled(False):`")
    return task.execution_order()


def current_graph_task_keep_graph():
    """Whether the running backward pass retains its graph; True outside."""
    cdef ThreadState* state = thread_state()
    return bool(state.keep_graph) if state.graph_task else True


def runs_everything():
    """Whether the backward pass that runs in this thread accumulates into every leaf: a backward() without `inputs=`."""
    cdef GraphTask task = running_task(thread_state().graph_task)
    return task is not None and task.everything


def queue_callback(callback):
    """Call `callback()` when the running backward pass has finished."""
    cdef GraphTask task = running_task(thread_state().graph_task)
    if task is None:
        raise RuntimeError("Final callbacks can only be installed during backward pass.")
    task.callbacks.append(callback)
