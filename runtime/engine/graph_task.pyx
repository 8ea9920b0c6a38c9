# cython: boundscheck=False, wraparound=False
"""GraphTask: one backward pass, and its data about the nodes that it traverses.

Counts the gradients that each node still waits for, and finds the nodes that the requested `inputs=` need.  The data is in the
node itself, stamped with the task's id, or in a SharedSlot if another task is traversing the same node.  Nothing here recurses or
runs a node.
"""

from cpython.ref cimport Py_CLEAR, Py_XDECREF
from libc.stdint cimport UINT64_MAX, uint64_t

from ..core.node cimport Node, TaskSlot, Wanted
from .ready_queue cimport NodeStack, ReadyQueue
from ..core.tensor cimport TensorBase

cdef uint64_t last_task = 0
cdef dict running_tasks = {}  # id -> GraphTask


cdef class GraphRoot(Node):
    """The start of a backward pass: passes the initial gradients to the roots."""

    cdef object apply(self, object grad, Wanted wanted):
        return self.grads

    cdef object apply_recorded(self, object grad, Wanted wanted):
        return self.grads

    cdef bint takes_undefined(self):
        return True

    cdef bint takes_batch(self):
        return True


cdef class SharedSlot:
    """A task's data about a node whose own slot belongs to another running task."""
    cdef TaskSlot slot

    def __dealloc__(self):
        Py_XDECREF(self.slot.buffer)


cdef class GraphTask:
    """One call of backward() or grad()."""

    cdef TaskSlot* shared_slot(self, Node node) except NULL:
        return &(<SharedSlot> self.shared[node]).slot

    cdef TaskSlot* claim(self, Node node) except NULL:
        """The slot of a node for this task, initialised on first use."""
        cdef SharedSlot other
        cdef TaskSlot* slot
        if node.slot.task == self.id:
            return &node.slot
        if node.slot.task == 0 or node.slot.task not in running_tasks:
            Py_CLEAR(node.slot.buffer)
            slot = &node.slot
        else:
            if self.shared is None:
                self.shared = {}
            other = self.shared.get(node)
            if other is not None:
                return &other.slot
            other = self.shared[node] = SharedSlot.__new__(SharedSlot)
            slot = &other.slot
        slot.task, slot.dependencies, slot.wanted = self.id, 0, 0
        slot.needed, slot.visited, slot.captured = self.everything, False, False
        return slot

    cdef bint knows(self, Node node) except -1:
        """Whether this task's traversal has reached the node without having run it."""
        return node.slot.task == self.id or (self.shared is not None and node in self.shared)

    cdef int release(self, Node node) except -1:
        if node.slot.task == self.id:
            node.slot.task = 0
        else:
            del self.shared[node]
        return 0

    cdef int ask(self, list inputs) except -1:
        """Mark the requested `inputs=`, before the traversal."""
        cdef Node node
        cdef TaskSlot* slot
        for position, (node, output_nr) in enumerate(inputs):
            slot = self.claim(node)
            if self.capturing:
                slot.captured = True
                self.captures.setdefault(node, {}).setdefault(output_nr, []).append(position)
            else:
                slot.needed = True

    cdef int walk(self) except -1:
        """Count the edges into every node, and mark at every node the edges that lead to a requested gradient.

        One depth-first traversal: a node is left after all nodes that its edges lead to, when it is known whether it is needed.
        """
        cdef NodeStack stack = NodeStack.__new__(NodeStack)
        cdef Node node = self.root, target
        cdef TaskSlot* slot = self.claim(node)
        cdef TaskSlot* below
        cdef Py_ssize_t i, count
        slot.visited = True
        stack.push(node)
        while stack.count:
            node = <Node> stack.steps[stack.count - 1].node
            i = stack.steps[stack.count - 1].edge
            slot = self.slot(node)
            count = node.edge_count
            while i < count:
                if not node.needs(<int> i):
                    i += 1
                    continue
                target = node.next_node(i)
                below = self.claim(target)
                if not below.visited:
                    below.visited = True
                    if node.leaves and node.is_leaf(i):
                        self.leaves.append(target)  # edges do not keep new accumulators alive
                    if target.edge_count:
                        break  # visit it first, then return to this edge
                below.dependencies += 1
                if below.needed or below.captured:
                    slot.needed = True
                    slot.wanted |= <Wanted> 1 << (i & 63)
                i += 1
            stack.steps[stack.count - 1].edge = i
            if i < count:
                stack.push(target)
            else:
                stack.count -= 1
                if count > 64 and slot.wanted:
                    slot.wanted = UINT64_MAX
        if self.asked is not None:
            for node in self.asked:  # nodes that the traversal did not reach are not part of this task
                if self.knows(node) and not self.slot(node).visited:
                    self.release(node)
        return 0

    cdef int abandon(self) except -1:
        """After an error: drop the gradients stored in nodes that will not run."""
        cdef NodeStack stack = NodeStack.__new__(NodeStack)
        cdef Node node, target
        cdef Py_ssize_t i
        cdef set seen = set()
        stack.push(self.root)
        while stack.count:
            node = stack.pop()
            for i in range(node.edge_count):
                target = node.next_node(i)
                if target is not None and target not in seen:
                    seen.add(target)
                    stack.push(target)
                    if target.slot.task == self.id:
                        Py_CLEAR(target.slot.buffer)
                        target.slot.task = 0
        return 0

    cdef set nodes(self):
        """All nodes that this pass executes or stops at, including those that are finished."""
        cdef NodeStack stack
        cdef Node node, target
        cdef Py_ssize_t i
        cdef set found
        cdef dict sources = {}
        if self.executed is not None:
            return self.executed
        found, stack = set(), NodeStack.__new__(NodeStack)
        stack.push(self.root)
        while stack.count:
            node = stack.pop()
            for i in range(node.edge_count):
                target = node.next_node(i)
                if target is not None:
                    if target not in sources:
                        sources[target] = []
                        stack.push(target)
                    sources[target].append(node)
        if self.everything:
            found = set(sources)
        else:  # against the edges, from the requested nodes
            for target in self.asked:
                if target in sources and target not in found:
                    found.add(target)
                    stack.push(target)
            while stack.count:
                for node in sources.get(stack.pop(), ()):
                    if node not in found and node is not self.root:
                        found.add(node)
                        stack.push(node)
        self.executed = found
        return found

    cdef bint executes(self, Node node) except -1:
        """Whether this pass runs the node or its hooks."""
        cdef TaskSlot* slot
        if self.knows(node):
            slot = self.slot(node)
            return slot.needed or slot.captured
        return node in self.nodes()

    cdef list execution_order(self):
        """The nodes of this pass in execution order: the engine's traversal, without gradients."""
        cdef ReadyQueue ready = ReadyQueue.__new__(ReadyQueue)
        cdef set nodes = self.nodes()
        cdef dict waiting = {}
        cdef list order = []
        cdef Node node, target
        cdef Py_ssize_t i
        for node in (self.root, *nodes):
            for i in range(node.edge_count):
                target = node.next_node(i)
                if target in nodes:
                    waiting[target] = waiting.get(target, 0) + 1
        ready.push(self.root)
        while ready.count:
            node = ready.pop()
            if node is not self.root:
                order.append(node)
            for i in range(node.edge_count):
                target = node.next_node(i)
                if target in nodes:
                    waiting[target] -= 1
                    if waiting[target] == 0:
                        ready.push(target)
        return order


cdef GraphTask start_task(tuple roots, tuple grads, bint keep_graph, bint create_graph, bint recording):
    """A new task that starts from `roots`, pairs of node and output number, with the gradients `grads`."""
    global last_task
    cdef GraphTask task = GraphTask.__new__(GraphTask)
    cdef GraphRoot root = GraphRoot.__new__(GraphRoot)
    last_task += 1
    task.id = last_task
    task.keep_graph, task.create_graph, task.recording = keep_graph, create_graph, recording
    task.large = -1
    task.ready = ReadyQueue.__new__(ReadyQueue)
    task.root = root
    task.captures, task.callbacks, task.leaves = {}, [], []
    root.grads = grads if recording else tuple([(<TensorBase> g).array for g in grads])
    root.set_edges([r[0] for r in roots], [r[1] for r in roots])
    running_tasks[task.id] = task
    return task


cdef GraphTask running_task(uint64_t id):
    """The task with this id, or None if it is over."""
    return running_tasks.get(id)


cdef int finish_task(GraphTask task) except -1:
    """End the task: its data in nodes becomes invalid."""
    running_tasks.pop(task.id, None)
    return 0
