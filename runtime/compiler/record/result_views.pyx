"""Looks: results of a call that are views, taken again of the tensors that they are views of.

Owns the way from a tensor to a view of it in words that can be saved, and which tensors count their writes together.
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

cdef dict names = {}  # address of a wrapper -> the operator that takes views


cdef object wrapper_of(str name):
    """The capsule of an operator's wrapper."""
    return compiled_in(entry_of(name), "variable_type", f"op_{name.rpartition('.')[2]}")


cdef str name_of(ViewStep step):
    """The operator of a step; None of what is no operator of the spec."""
    if <size_t> step.operator not in names:
        for name, entry in entries().items():
            capsule = None if entry.view is None else wrapper_of(name)
            if capsule is not None:
                names[<size_t> PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule))] = name
    return names.get(<size_t> step.operator)


cdef bint is_fixed(object statics) except -1:
    """Whether arguments are the same at each call: no arrays, whose numbers may be others."""
    if isinstance(statics, slice):
        return is_fixed((statics.start, statics.stop, statics.step))
    if isinstance(statics, (tuple, list)):
        return all([is_fixed(item) for item in statics])
    return not isinstance(statics, (TensorBase, ndarray))


def way_to(TensorBase view, TensorBase source):
    """How a view was taken of a tensor.

    Returns
    -------
    list or None
        Whether nothing was recorded, and a (name of the operator, its other arguments, which of several) for each step.  None
        where `view` is no view of `source` by operators alone.
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
    """What a tensor is a view of, itself where it is none."""
    return base_of(tensor)


def counted_together(a, b):
    """Whether a write to one of two tensors is counted by both."""
    return is_tensor(a) and is_tensor(b) and (
        a is b or (<TensorBase> a).counter is not None and (<TensorBase> a).counter is (<TensorBase> b).counter)


def version_of(TensorBase tensor):
    """How often a tensor has been written to, be it an inference tensor."""
    return tensor.version()


@contextmanager
def without_hooks(tensors):
    """Let no hook of these tensors run, and none keep its gradient: a pass that only a recording makes is none of theirs."""
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
    """A view, to be taken again.

    Parameters
    ----------
    way : list
        As `way_to` gives it.
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
    """A new tensor of the same array, which counts writes with `owner`; where there is none, as often written to as it says."""
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
    """What a node saves of memory that its owner may write to: such writes are seen, or the value before them is kept."""
    cdef VersionCounter counter = (<TensorBase> owner).counter if is_tensor(owner) else None
    if not is_tensor(owner) or counter is not None and counter.rebased:  # a buffer that fills, view by view
        return wrap(item.array.copy(order="K"))
    return around(owner, item, 0)
