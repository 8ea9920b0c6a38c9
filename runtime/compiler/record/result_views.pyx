"""Result views: take the results of a call that are views again from their base tensors.

Describes the steps from a tensor to its view in a form that can be saved, and shares version counters between tensors.
"""

from cpython.pycapsule cimport PyCapsule_GetName, PyCapsule_GetPointer

from contextlib import contextmanager

from ...core.grad_mode cimport GRAD_DISABLED, ThreadState, thread_state
from ...core.node cimport NodeHooks
from ...core.tensor cimport (
    IN_NO_GRAD, ONE_OF_SEVERAL, PLAIN, VIEW, Creation, TensorBase, VersionCounter, check_view, is_tensor, wrap,
)
from ...saved.modes cimport put_back
from ...saved.view cimport ViewStep, base_of, replayed, steps_of
from ...support.capi cimport ndarray
from ..tracing.entries import compiled_in, entries, entry_of

cdef dict names = {}  # address of a wrapper -> the view operator


cdef object wrapper_of(str name):
    """The capsule of an operator's wrapper."""
    return compiled_in(entry_of(name), "variable_type", f"op_{name.rpartition('.')[2]}")


cdef str name_of(ViewStep step):
    """The operator of a step; None if it is not an operator of the spec."""
    if <size_t> step.operator not in names:
        for name, entry in entries().items():
            capsule = None if entry.view is None else wrapper_of(name)
            if capsule is not None:
                names[<size_t> PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule))] = name
    return names.get(<size_t> step.operator)


cdef bint is_fixed(object statics) except -1:
    """Whether arguments are equal at each call: they contain no arrays, whose values may change."""
    if isinstance(statics, slice):
        return is_fixed((statics.start, statics.stop, statics.step))
    if isinstance(statics, (tuple, list)):
        return all([is_fixed(item) for item in statics])
    return not isinstance(statics, (TensorBase, ndarray))


def way_to(TensorBase view, TensorBase source):
    """The steps from a tensor to its view.

    Returns
    -------
    list or None
        Whether nothing was recorded, and then for each step (operator name, other arguments, index among several results).  None
        if `view` is not a view of `source`, or was not taken by operators alone.
    """
    cdef ViewStep step, stop = steps_of(source)
    cdef TensorBase base = source.extra.base if source.flags & VIEW else source
    cdef Creation before = source.extra.creation if source.flags & VIEW else PLAIN
    cdef list found = []
    if view is source or not view.flags & VIEW or view.extra.base is not base or view.extra.owns_tangents or view.extra.hidden:
        return None
    check_view(view)
    if view.extra.creation not in (before, PLAIN, ONE_OF_SEVERAL, IN_NO_GRAD):
        return None
    step = view.extra.steps
    while step is not stop:
        name = None if step is None else name_of(step)
        if name is None or not is_fixed(step.statics):
            return None
        found.append((name, step.statics, step.index))
        step = step.previous
    return [view.extra.creation == IN_NO_GRAD and before != IN_NO_GRAD, *reversed(found)] if found else None


def base_under(TensorBase tensor):
    """The base of a view, or the tensor itself if it is not a view."""
    return base_of(tensor)


def counted_together(a, b):
    """Whether two tensors share a version counter."""
    return is_tensor(a) and is_tensor(b) and (
        a is b or (<TensorBase> a).counter is not None and (<TensorBase> a).counter is (<TensorBase> b).counter)


def version_of(TensorBase tensor):
    """The number of writes to a tensor, also to an inference tensor."""
    return tensor.version()


@contextmanager
def without_hooks(tensors):
    """Disable the hooks and `retain_grad` of tensors: a pass that exists only for a recording must not trigger them."""
    cdef TensorBase tensor
    cdef NodeHooks hooks
    cdef list taken = []
    try:
        for tensor in tensors:
            hooks = tensor.grad_fn_.hooks if tensor.grad_fn_ is not None else (
                None if tensor.extra is None else tensor.extra.leaf_hooks)
            if hooks is None:
                continue
            for tables in (hooks.tensor_pre, hooks.retains_grad):
                if tensor.output_nr_ in tables:
                    taken.append((tables, tensor.output_nr_, tables.pop(tensor.output_nr_)))
        yield
    finally:
        for tables, number, table in taken:
            tables[number] = table


cdef class ResultView:
    """A view that can be taken again.

    Parameters
    ----------
    way : list
        Result of `way_to`.
    """

    def __init__(self, way):
        cdef ViewStep step
        self.quiet = way[0]
        for name, statics, index in way[1:]:
            step = ViewStep.__new__(ViewStep)
            capsule = wrapper_of(name)
            step.operator = PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule))
            step.statics, step.index, step.previous = statics, index, self.last
            self.last = step

    cdef object take(self, object source):
        """The view of a tensor, at its place in the graph."""
        cdef ThreadState* state = thread_state()
        cdef unsigned int flags = state.flags
        state.flags = flags | GRAD_DISABLED if self.quiet else flags & ~<unsigned int> GRAD_DISABLED
        try:
            return replayed(self.last, None, source if is_tensor(source) else wrap(source))
        finally:
            put_back(state, flags)

    def taken(self, source):
        """`take` for Python."""
        return self.take(source)


cdef TensorBase around(object owner, TensorBase item, int version):
    """A new tensor of the same array.  It shares the version counter of `owner`; without an owner its version is `version`."""
    cdef TensorBase other
    cdef VersionCounter counter
    if is_tensor(owner):
        other = (<TensorBase> owner).alias()
        other.flags, other.array = 0, item.array
        return other
    other = wrap(item.array)
    if version:
        counter = other.shared_counter()
        counter.value = version
    return other


def kept(owner, TensorBase item):
    """The saved value for memory that its owner may write to: such writes are detected, or the value before them is copied."""
    cdef VersionCounter counter = (<TensorBase> owner).counter if is_tensor(owner) else None
    if not is_tensor(owner) or counter is not None and counter.rebased:  # for example a buffer filled view by view
        return wrap(item.array.copy(order="K"))
    return around(owner, item, 0)
