# cython: boundscheck=False, wraparound=False
"""GraphTask: one backward pass, and its notes on the nodes that it walks.

Owns how many gradients each node still waits for, which nodes are needed for what `inputs=` asks, and where such notes
are: in the node itself under the stamp of the task, or beside it while another task walks the same node.  Nothing here
recurses, and nothing here runs a node.
"""

from cpython.ref cimport Py_CLEAR, Py_XDECREF
from libc.stdint cimport uint64_t

from .node cimport Node, TaskSlot, Wanted
from .ready_queue cimport NodeStack, ReadyQueue
from .tensor cimport TensorBase

cdef uint64_t last_task = 0
cdef dict running_tasks = {}  # id -> GraphTask


cdef class GraphRoot(Node):
    """The start of a backward pass: hands the initial gradients to the roots."""

    cdef object apply(self, object grad, Wanted wanted):
        return self.grads

    cdef object apply_recorded(self, object grad, Wanted wanted):
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

    cdef bint knows(self, Node node) except -1:
        """Whether the walk of this task met the node, and has not run it yet."""
        return node.slot.task == self.id or (self.shared is not None and node in self.shared)

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

    cdef Wanted wanted(self, Node node) except? 0:
        """The mask that `apply` gets: which gradients of inputs this task asks for."""
        cdef Wanted mask = node.edges()
        cdef TaskSlot* slot
        cdef Py_ssize_t i, count = len(node.next_nodes)
        if self.everything or count > 64:
            return mask
        for i in range(count):
            if (mask >> i) & 1:
                slot = self.slot(node.next_node(i))
                if not (slot.needed or slot.captured):
                    mask ^= <Wanted> 1 << i
        return mask

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
        return 0

    cdef set nodes(self):
        """All nodes that this pass executes or stops at, those that it has done with included."""
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
            for i in range(len(node.next_nodes)):
                target = node.next_node(i)
                if target is not None:
                    if target not in sources:
                        sources[target] = []
                        stack.push(target)
                    sources[target].append(node)
        if self.everything:
            found = set(sources)
        else:  # against the edges, from what was asked for
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
        """Whether the node runs in this pass, or its hooks do."""
        cdef TaskSlot* slot
        if self.knows(node):
            slot = self.slot(node)
            return slot.needed or slot.captured
        return node in self.nodes()

    cdef list execution_order(self):
        """The nodes of this pass in the order in which they run: the walk of the engine, without gradients."""
        cdef ReadyQueue ready = ReadyQueue.__new__(ReadyQueue)
        cdef set nodes = self.nodes()
        cdef dict waiting = {}
        cdef list order = []
        cdef Node node, target
        cdef Py_ssize_t i
        for node in (self.root, *nodes):
            for i in range(len(node.next_nodes)):
                target = node.next_node(i)
                if target in nodes:
                    waiting[target] = waiting.get(target, 0) + 1
        ready.push(self.root)
        while ready.count:
            node = ready.pop()
            if node is not self.root:
                order.append(node)
            for i in range(len(node.next_nodes)):
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
    task.ready = ReadyQueue.__new__(ReadyQueue)
    task.root = root
    task.captures, task.callbacks, task.leaves = {}, [], []
    root.next_nodes = tuple([r[0] for r in roots])
    root.grads = grads if recording else tuple([(<TensorBase> g).array for g in grads])
    root.set_edges([r[1] for r in roots])
    running_tasks[task.id] = task
    return task


cdef GraphTask running_task(uint64_t id):
    """The task of this id, or None when it is over."""
    return running_tasks.get(id)


cdef int finish_task(GraphTask task) except -1:
    """The task is no longer running: what it noted in nodes is of the past."""
    running_tasks.pop(task.id, None)
    return 0
