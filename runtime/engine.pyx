# cython: boundscheck=False, wraparound=False
"""Engine: runs a backward graph.

Owns the order of nodes (a GraphTask counts the gradients each node still waits for, a ReadyQueue hands out the node made
last), the pruning to what `inputs=` needs, captures, and hooks around a node.  A node's notes live in the node itself
under the stamp of the task, or beside it while another task walks the same node.  Nothing here recurses.  Knows no
operators.
"""

from cpython.ref cimport Py_CLEAR, Py_INCREF, Py_XDECREF, PyObject
from libc.stdint cimport uint64_t
cimport numpy as cnp
from numpy cimport ndarray

from .accumulate_grad cimport AccumulateGrad
from .grad_mode cimport DUAL, GRAD_DISABLED, ThreadState, thread_state
from .input_buffer cimport accumulate, validate
from .node cimport Node, NodeHooks, TaskSlot
from .ready_queue cimport NodeStack, ReadyQueue
from .tensor cimport TensorBase, wrap

cnp.import_array()

cdef uint64_t last_task = 0
cdef set running_tasks = set()
cdef dict tasks_by_id = {}


cdef class GraphRoot(Node):
    """The start of a backward pass: hands the initial gradients to the roots."""

    cdef object apply(self, object grad):
        return self.grads

    cdef object apply_recorded(self, object grad):
        return self.grads

    cdef bint takes_undefined(self):
        return True


cdef class SharedSlot:
    """A task's notes on a node whose own slot belongs to another running task."""
    cdef TaskSlot slot

    def __dealloc__(self):
        Py_XDECREF(self.slot.buffer)


cdef class GraphTask:
    """One call of backward() or grad()."""

    cdef TaskSlot* slot(self, Node node) except NULL:
        if node.slot.task == self.id:
            return &node.slot
        return &(<SharedSlot> self.shared[node]).slot

    cdef TaskSlot* claim(self, Node node) except NULL:
        """The slot of a node met for the first time; its `task` is set by the caller's first visit."""
        cdef SharedSlot other
        if node.slot.task == self.id:
            return &node.slot
        if node.slot.task == 0 or node.slot.task not in running_tasks:
            Py_CLEAR(node.slot.buffer)
            node.slot.task = 0
            return &node.slot
        if self.shared is None:
            self.shared = {}
        other = self.shared.get(node)
        if other is None:
            other = self.shared[node] = SharedSlot.__new__(SharedSlot)
        return &other.slot

    cdef int release(self, Node node) except -1:
        if node.slot.task == self.id:
            node.slot.task = 0
        else:
            del self.shared[node]
        return 0

    cdef int count_dependencies(self) except -1:
        """Walk the graph once and count the edges into every node."""
        cdef NodeStack stack = NodeStack.__new__(NodeStack)
        cdef Node node, target
        cdef TaskSlot* slot
        cdef Py_ssize_t i
        stack.push(self.root)
        while stack.count:
            node = stack.pop()
            for i in range(len(node.next_nodes)):
                if node.next_nodes[i] is None:
                    continue
                target = node.next_node(i)
                slot = self.claim(target)
                if slot.task != self.id:
                    if node.has_leaves:
                        self.leaves.append(target)  # edges do not hold what was made for them
                    slot.task = self.id
                    slot.dependencies = 0
                    slot.needed = self.everything
                    slot.captured = slot.marked = False
                    stack.push(target)
                slot.dependencies += 1
        return 0

    cdef int mark_needed(self) except -1:
        """Mark what lies on a path to a captured gradient: a node after all that it leads to, without recursion."""
        cdef NodeStack stack = NodeStack.__new__(NodeStack)
        cdef Node node, target
        cdef TaskSlot* slot
        cdef TaskSlot* below
        cdef Py_ssize_t i
        cdef bint ready
        for i in range(len(self.root.next_nodes)):
            stack.push(self.root.next_node(i))
        while stack.count:
            node = <Node> stack.items[stack.count - 1]
            slot = self.slot(node)
            ready = True
            if not slot.marked:
                for i in range(len(node.next_nodes)):
                    target = node.next_node(i)
                    if target is not None and not self.slot(target).marked:
                        stack.push(target)
                        ready = False
            if not ready:
                continue
            stack.pop()
            if slot.marked:
                continue
            slot.marked = True
            for i in range(len(node.next_nodes)):
                target = node.next_node(i)
                if target is not None:
                    below = self.slot(target)
                    if below.needed or below.captured:
                        slot.needed = True
        return 0

    cdef int run(self) except -1:
        self.ready.push(self.root)
        while self.ready.count:
            self.run_node(self.ready.pop())
        return 0

    cdef int run_node(self, Node node) except -1:
        cdef TaskSlot* slot
        cdef object grads = None, results, item
        cdef tuple several
        cdef bint needed = True
        cdef Py_ssize_t i, count
        if node is not self.root:
            slot = self.slot(node)
            if slot.buffer != NULL:
                grads = <object> slot.buffer
                Py_CLEAR(slot.buffer)
            needed = slot.needed
            if node.hooks is not None:
                grads = self.run_tensor_hooks(node, grads)
            if self.slot(node).captured:
                self.capture(node, grads)
            self.release(node)
            if not needed:
                return 0
            if not self.everything:
                self.set_skip(node)
        if node.hooks is not None and node.hooks.pre:
            grads = self.run_pre_hooks(node, grads)
        if grads is None and not node.takes_undefined():
            results = None
        elif self.recording:
            results = node.apply_recorded(grads)
        else:
            results = node.apply(grads)
        if node.hooks is not None and node.hooks.post:
            results = self.run_post_hooks(node, results, grads)
        grads = None  # the inputs' gradients may be this very array: let them be its only owners
        if not self.keep_graph:
            node.release_variables()
        node.skip = 0
        count = len(node.next_nodes)
        if count == 1:
            if node.next_nodes[0] is not None:
                item, results = results, None
                if node is self.root:
                    item = item[0]
                self.deliver(node, node.next_node(0), node.next_nr(0), item)
        elif count > 1:
            several = results
            for i in range(count):
                if node.next_nodes[i] is not None:
                    self.deliver(node, node.next_node(i), node.next_nr(i), None if several is None else several[i])
        return 0

    cdef int deliver(self, Node source, Node target, int output_nr, object grad) except -1:
        """Add one gradient to what has arrived at `target`, and queue it when that was the last."""
        cdef TaskSlot* slot = self.slot(target)
        cdef list buffers
        if not (slot.needed or slot.captured):
            return 0
        if grad is not None:
            grad = validate(target, output_nr, grad, self.recording, None if source is self.root else source)
            slot = self.slot(target)
            if target.outputs == NULL:
                grad = self.merge(slot, grad)
            else:
                if slot.buffer == NULL:
                    buffers = [None] * target.n_outputs
                    Py_INCREF(buffers)
                    slot.buffer = <PyObject*> buffers
                buffers = <list> slot.buffer
                item, buffers[output_nr] = buffers[output_nr], None
                buffers[output_nr] = grad if item is None else accumulate(item, grad, self.recording)
        slot = self.slot(target)
        slot.dependencies -= 1
        if slot.dependencies == 0:
            self.ready.push(target)
        return 0

    cdef object merge(self, TaskSlot* slot, object grad):
        """Put a gradient into the buffer of a node with one output."""
        cdef object total
        if slot.buffer != NULL:
            total = <object> slot.buffer
            Py_CLEAR(slot.buffer)
            grad = accumulate(total, grad, self.recording)
        Py_INCREF(grad)
        slot.buffer = <PyObject*> grad
        return None

    cdef int set_skip(self, Node node) except -1:
        cdef Py_ssize_t i
        cdef TaskSlot* slot
        node.skip = 0
        for i in range(min(64, len(node.next_nodes))):
            if node.next_nodes[i] is not None:
                slot = self.slot(node.next_node(i))
                if not (slot.needed or slot.captured):
                    node.skip |= <uint64_t> 1 << i
        return 0

    cdef int capture(self, Node node, object grads) except -1:
        for output_nr, positions in self.captures[node].items():
            grad = grads if node.outputs == NULL else (None if grads is None else grads[output_nr])
            for position in positions:
                self.results[position] = self.as_user(grad)
        return 0

    # Hooks see tensors, whatever the engine carries.

    cdef object as_user(self, object grad):
        return wrap(grad) if isinstance(grad, ndarray) else grad

    cdef object from_user(self, object grad):
        return (<TensorBase> grad).array if isinstance(grad, TensorBase) and not self.recording else grad

    cdef object checked(self, Node node, int output_nr, object old, object new):
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

    cdef object run_tensor_hooks(self, Node node, object grads):
        """Hooks of the node's output tensors, then gradients that are retained."""
        cdef NodeHooks hooks = node.hooks
        cdef bint single = node.outputs == NULL
        for output_nr in range(node.n_outputs):
            if output_nr not in hooks.tensor_pre and output_nr not in hooks.retains_grad:
                continue
            grad = grads if single else (None if grads is None else grads[output_nr])
            if grad is None:
                continue
            grad = self.as_user(grad)
            functions = hooks.tensor_pre.get(output_nr, {})
            for key in tuple(functions):
                if key in functions:
                    grad = self.checked(node, output_nr, grad, functions[key](grad))
            if output_nr in hooks.retains_grad:
                self.retain(hooks.retains_grad[output_nr](), grad)
            grad = self.from_user(grad)
            if single:
                grads = grad
            else:
                grads[output_nr] = grad
        return grads

    cdef retain(self, TensorBase tensor, TensorBase grad):
        cdef TensorBase kept
        if tensor is None:
            return
        if tensor.grad_ is None:
            kept = grad
            if not self.recording:
                kept = wrap(grad.array.copy())
            tensor.grad_ = kept
        elif self.create_graph:
            tensor.grad_ = accumulate(tensor.grad_, grad, True)
        else:
            tensor.grad_ = wrap(tensor.grad_.array + grad.array)

    cdef object run_pre_hooks(self, Node node, object grads):
        cdef bint single = node.outputs == NULL
        values = (self.as_user(grads),) if single else tuple(
            [self.as_user(g) for g in (grads if grads is not None else [None] * node.n_outputs)])
        for key in tuple(node.hooks.pre):
            if key in node.hooks.pre:
                values = self.checked_tuple(node, "prehook", values, node.hooks.pre[key](values))
        if single:
            return self.from_user(values[0])
        return [self.from_user(v) for v in values] if any([v is not None for v in values]) else None

    cdef object run_post_hooks(self, Node node, object results, object grads):
        cdef Py_ssize_t count = len(node.next_nodes)
        inputs = () if count == 0 else (
            (self.as_user(results),) if count == 1 else
            tuple([self.as_user(r) for r in (results if results is not None else [None] * count)]))
        outputs = (self.as_user(grads),) if node.outputs == NULL else tuple(
            [self.as_user(g) for g in (grads if grads is not None else [None] * node.n_outputs)])
        for key in tuple(node.hooks.post):
            if key in node.hooks.post:
                inputs = self.checked_tuple(node, "hook", inputs, node.hooks.post[key](inputs, outputs))
        if count == 0:
            return None
        return self.from_user(inputs[0]) if count == 1 else tuple([self.from_user(v) for v in inputs])

    cdef tuple checked_tuple(self, Node node, str kind, tuple old, object new):
        if new is None:
            return old
        if isinstance(new, TensorBase) and len(old) == 1:
            new = (new,)
        if not isinstance(new, tuple):
            raise TypeError(f"expected a tuple of tensors, but the {kind} of {node.name()} returned {type(new).__name__}")
        if len(new) != len(old):
            raise RuntimeError(f"{kind} of {node.name()} has returned an incorrect number of values: "
                               f"{len(new)} instead of {len(old)}")
        return tuple([None if n is None else self.checked(node, i, o, n) for i, (o, n) in enumerate(zip(old, new))])

    cdef int abandon(self) except -1:
        """After an error: drop the gradients that wait in nodes which will not run."""
        cdef NodeStack stack = NodeStack.__new__(NodeStack)
        cdef Node node, target
        cdef Py_ssize_t i
        cdef set seen = set()
        stack.push(self.root)
        while stack.count:
            node = stack.pop()
            for i in range(len(node.next_nodes)):
                target = node.next_node(i)
                if target is not None and target not in seen:
                    seen.add(target)
                    stack.push(target)
                    if target.slot.task == self.id:
                        Py_CLEAR(target.slot.buffer)
                        target.slot.task = 0
                        target.skip = 0
        return 0


cdef list run_backward(tuple roots, tuple grads, bint keep_graph, bint create_graph, list inputs, bint capture):
    """Run one GraphTask.

    Parameters
    ----------
    roots : tuple of (Node, int)
        Nodes and output numbers to start from.
    grads : tuple of TensorBase
        Their gradients.
    inputs : list of (Node, int), or None
        What is asked for; None for everything.
    capture : bool
        Return the gradients of `inputs` rather than let their nodes accumulate them.
    """
    global last_task
    cdef ThreadState* state = thread_state()
    cdef GraphTask task = GraphTask.__new__(GraphTask)
    cdef GraphRoot root = GraphRoot.__new__(GraphRoot)
    cdef Node node
    cdef int output_nr
    cdef unsigned int flags = state.flags
    cdef uint64_t outer_task = state.graph_task
    cdef bint outer_keep = state.keep_graph, finished = False
    last_task += 1
    task.id = last_task
    task.keep_graph, task.create_graph = keep_graph, create_graph
    task.recording = create_graph or state.flags & DUAL != 0
    task.everything = inputs is None
    task.capturing = capture
    task.ready = ReadyQueue.__new__(ReadyQueue)
    task.root = root
    task.captures, task.callbacks, task.leaves = {}, [], []
    root.next_nodes = tuple([r[0] for r in roots])
    root.grads = grads if task.recording else tuple([(<TensorBase> g).array for g in grads])
    root.set_edges([r[1] for r in roots])
    running_tasks.add(task.id)
    tasks_by_id[task.id] = task
    try:
        task.count_dependencies()
        if inputs is not None:
            task.results = [None] * len(inputs)
            for position, (node, output_nr) in enumerate(inputs):
                if node.slot.task != task.id and (task.shared is None or node not in task.shared):
                    continue  # not reachable from the roots
                if capture:
                    task.slot(node).captured = True
                    task.captures.setdefault(node, {}).setdefault(output_nr, []).append(position)
                else:
                    task.slot(node).needed = True
            task.mark_needed()
        state.graph_task, state.keep_graph = task.id, keep_graph
        state.flags = flags & ~<unsigned int> GRAD_DISABLED if create_graph else flags | GRAD_DISABLED
        task.run()
        while task.callbacks:
            task.callbacks.pop(0)()
        finished = True
    finally:
        state.flags, state.graph_task, state.keep_graph = flags, outer_task, outer_keep
        running_tasks.discard(task.id)
        tasks_by_id.pop(task.id, None)
        if not finished:
            task.abandon()
    return task.results


def current_graph_task_id():
    """Id of the backward pass that runs in this thread, -1 outside."""
    cdef uint64_t task = thread_state().graph_task
    return task if task else -1


def will_engine_execute_node(node):
    """Whether the running backward pass is still going to run `node`, or is just running its hooks."""
    cdef GraphTask task = tasks_by_id.get(thread_state().graph_task)
    cdef TaskSlot* slot
    if task is None:
        raise RuntimeError("will_engine_execute_node: can only be called during the backward pass")
    if not isinstance(node, Node):
        raise RuntimeError(f"will_engine_execute_node: expects an grad_fn, got {type(node).__name__}")
    if task.capturing and isinstance(node, AccumulateGrad):
        raise RuntimeError("will_engine_execute_node: was called with the accumulator of a leaf while you are currently "
                           "running autograd.grad(), which accumulates into no leaf")
    if (<Node> node).slot.task != task.id and (task.shared is None or node not in task.shared):
        return False
    slot = task.slot(node)
    return bool(slot.needed or slot.captured)


def queue_callback(callback):
    """Call `callback()` when the running backward pass has finished."""
    cdef GraphTask task = tasks_by_id.get(thread_state().graph_task)
    if task is None:
        raise RuntimeError("Final callbacks can only be installed during backward pass.")
    task.callbacks.append(callback)
