# cython: boundscheck=False, wraparound=False
"""Argument guards: find the recording of a call without running Python code.

Compares the arguments with the guards of recent recordings, runs the executable, and builds the pytree that the call returns.  On any
mismatch the call takes the Python path.
"""

from cpython.dict cimport PyDict_GetItem, PyDict_Size
from cpython.object cimport PyObject, Py_TYPE
from libc.stdlib cimport free, malloc
from functools import partial

import numpy as np

from ...support.pytree import parts as parts_of
from ...core.forward_ad cimport levels_of
from ...core.grad_mode cimport ANOMALY, GRAD_DISABLED, INFERENCE, LISTENING, SAVED_HOOKS, ThreadState, thread_state
from ...core.tensor cimport INFERENCE_TENSOR, REQUIRES_GRAD, TANGENT, TensorBase, VersionCounter, is_tensor, wrap
from ...support cimport capi as cnp
from ...support.capi cimport (
    PyArray_CheckExact, PyArray_DIMS, PyArray_FLAGS, PyArray_ISNOTSWAPPED, PyArray_NDIM, PyArray_STRIDES, PyArray_TYPE, ndarray,
)
from ..guards.state_guards cimport Guards, hooks_of, same_number
from ..record.result_views cimport ResultView, around
from .interpreter cimport run
from ..guards.aliasing cimport same_places
from ..guards.state_guards import NUMBERS
from .interpreter import GuardFailed

cnp.import_array()

cdef enum:
    FLAGS = 0x500       # NumPy's flags: aligned, writeable
    NEEDS_GRAD = 1
    LEAF = 2
    HAS_GRAD = 4
    GRAD_OFF = 8
    HOOKED = 16
    INFERRED = 32


cdef class Pattern:
    """The required content of one place among the arguments."""
    cdef str kind       # "array", "tensor", "value", "object", "tuple", "list", "dict"
    cdef object like
    cdef list parts

    def __init__(self, str kind, like=None, parts=None):
        self.kind, self.like, self.parts = kind, like, parts

    cdef bint match(self, object item, list given) except -1:
        cdef Py_ssize_t i
        if self.kind == "tensor":
            if not is_tensor(item):
                return False
            given.append(item)
            return True
        if self.kind == "array":
            if not PyArray_CheckExact(item):
                return False
            given.append(item)
            return True
        if self.kind == "object":
            return item is self.like
        if self.kind == "value":
            return same_number(item, self.like)
        if Py_TYPE(item) != Py_TYPE(self.like) or len(item) != len(self.parts):
            return False
        if self.kind == "dict":
            for (key, part), other in zip(self.parts, <dict> item):
                if key != other or not (<Pattern> part).match((<dict> item)[key], given):
                    return False
            return True
        for i in range(len(self.parts)):
            if not (<Pattern> self.parts[i]).match(item[i], given):
                return False
        return True


def pattern_of(item):
    """The pattern of an argument."""
    if is_tensor(item):
        return Pattern("tensor")
    if type(item) is np.ndarray and item.dtype.kind in "fciub":
        return Pattern("array")
    if type(item) is dict:
        return Pattern("dict", {}, [(key, pattern_of(value)) for key, value in item.items()])
    if type(item) in (tuple, list):
        return Pattern("tuple", item, [pattern_of(value) for value in item])
    if parts_of(item) is not None:
        raise TypeError(type(item))
    return Pattern("value" if type(item) in NUMBERS or isinstance(item, np.generic) else "object", item)


cdef class ArgumentGuards:
    """Calls of one kind, with their original arguments.

    Parameters
    ----------
    args, keywords
        Arguments of one call of the kind.
    given : list
        All input arrays.
    held : list
        The captured arrays among them.
    """

    def __init__(self, tuple args, dict keywords, list given, list held):
        cdef Layout* layout
        cdef ndarray array
        cdef int i, j, places = 0
        self.patterns = tuple([pattern_of(item) for item in args])
        self.named = {name: pattern_of(item) for name, item in keywords.items()}
        self.held = held
        self.count = <int> len(given)
        arrays = [(<TensorBase> item).array if is_tensor(item) else item for item in given]
        self.layouts = <Layout*> malloc((self.count + 1) * sizeof(Layout))
        self.shapes = <npy_intp*> malloc((1 + 2 * sum([one.ndim for one in arrays])) * sizeof(npy_intp))
        if self.layouts == NULL or self.shapes == NULL:
            raise MemoryError
        for i in range(self.count):
            array = arrays[i]
            layout = &self.layouts[i]
            layout.type_num, layout.ndim, layout.flags = PyArray_TYPE(array), PyArray_NDIM(array), PyArray_FLAGS(array) & FLAGS
            layout.needs, layout.dims = needs_of(given[i]), self.shapes + places
            for j in range(layout.ndim):
                layout.dims[j], layout.dims[layout.ndim + j] = PyArray_DIMS(array)[j], PyArray_STRIDES(array)[j]
            places += 2 * layout.ndim
            if layout.needs & HOOKED:
                raise TypeError("hooks are looked at the long way")
        self.graded = tuple([i for i in range(self.count) if self.layouts[i].needs & HAS_GRAD])
        self.argument_count = self.count - <int> (len(held) + len(self.graded))

    def __dealloc__(self):
        free(self.layouts)
        free(self.shapes)

    cdef bint match(self, tuple args, dict keywords, list given, list arrays) except -1:
        """Whether a call is of this kind; collects its inputs."""
        cdef Py_ssize_t i
        cdef ndarray array
        cdef object item
        cdef PyObject* found
        if len(args) != len(self.patterns) or PyDict_Size(keywords) != PyDict_Size(self.named):
            return False
        for i in range(len(args)):
            if not (<Pattern> self.patterns[i]).match(args[i], given):
                return False
        for name, pattern in self.named.items():
            found = PyDict_GetItem(keywords, name)
            if found == NULL or not (<Pattern> pattern).match(<object> found, given):
                return False
        if len(given) != self.argument_count:
            return False
        given.extend(self.held)
        for i in self.graded:
            if i >= len(given) or not is_tensor(given[i]):
                return False
            item = (<TensorBase> given[i]).grad_
            if item is None:
                return False
            given.append(item)
        for i in range(self.count):
            item = given[i]
            array = (<TensorBase> item).array if is_tensor(item) else item
            if not fits(&self.layouts[i], item, array):
                return False
            arrays.append(array)
        return True


cdef int needs_of(object item) except -1:
    """The parts of a tensor's autograd state that a recording depends on."""
    cdef TensorBase tensor = item if is_tensor(item) else None
    cdef int needs = GRAD_OFF if thread_state().flags & GRAD_DISABLED else 0
    if tensor is None:
        return needs
    if tensor.flags & INFERENCE_TENSOR:
        needs |= INFERRED
    if tensor.flags & TANGENT:
        levels_of((tensor,))  # no level is open in this thread: the tangent belongs to another thread and is refused
    if tensor.flags & REQUIRES_GRAD:
        needs |= NEEDS_GRAD
        if (tensor.extra is not None or tensor.grad_fn_ is not None) and hooks_of(tensor):
            needs |= HOOKED
    if tensor.extra is not None and tensor.extra.attributes:
        needs |= HOOKED  # `grad_dtype`, or a user's attribute
    if tensor.grad_fn_ is None:
        needs |= LEAF
        if tensor.grad is not None:
            needs |= HAS_GRAD
    return needs


cdef bint fits(Layout* layout, object item, ndarray array) except -1:
    cdef int i
    if PyArray_TYPE(array) != layout.type_num or PyArray_NDIM(array) != layout.ndim or (
            PyArray_FLAGS(array) & FLAGS != layout.flags):
        return False
    if not PyArray_ISNOTSWAPPED(array):
        return False
    for i in range(layout.ndim):
        if PyArray_DIMS(array)[i] != layout.dims[i] or PyArray_STRIDES(array)[i] != layout.dims[layout.ndim + i]:
            return False
    return needs_of(item) == layout.needs


cdef class Result:
    """A leaf of the pytree that a call returns."""

    def __init__(self, int number, bint plain=False, finish=None, int given=-1, ResultView view=None):
        self.number, self.plain, self.finish, self.given, self.view = number, plain, finish, given, view


cdef object nest(object tree, list given, list found):
    """The pytree that a call returns."""
    cdef Result result
    if type(tree) is Result:
        result = tree
        item = found[result.number] if result.given < 0 else given[result.given]
        if result.view is not None:
            return result.view.take(item)
        if result.given >= 0:
            return item if is_tensor(item) else wrap(item)
        if result.finish is not None:
            return result.finish(item)
        return (<TensorBase> item).array if result.plain else item
    if type(tree) is tuple or type(tree) is list:
        return type(tree)([nest(item, given, found) for item in tree])
    if type(tree) is dict:
        return {key: nest(item, given, found) for key, item in (<dict> tree).items()}
    if type(tree) is partial:  # values of registered classes, rebuilt from their contents
        return tree.func(*tree.args[:1], nest(tree.args[1], given, found))
    return tree


cdef bint is_counted(list given, int i, tuple others) except -1:
    """Whether a tensor shares its version counter with one of the others in its memory."""
    for j in others:
        if is_tensor(given[j]) and (<TensorBase> given[j]).shared_counter() is (<TensorBase> given[i]).shared_counter():
            return True
    return False


cdef class Recorded:
    """A recording that is ready to run."""

    cdef object execute(self, list given, list arrays):
        """Run the executable and apply the call's side effects; returns the executable's results."""
        cdef list found
        cdef TensorBase leaf
        cdef int i, place, other, times
        cdef VersionCounter counter
        cdef tuple others
        found = run(self.executable, [arrays[i] for i in self.wanted])
        for i, times, others in self.counted:
            if is_tensor(given[i]) and not (others and is_counted(given, i, others)):
                counter = (<TensorBase> given[i]).shared_counter()
                counter.value += <unsigned int> times
        for i, place in self.gradients:
            leaf = given[i]
            leaf.grad_ = None if place < 0 else found[place]
        for place, i, other, times in self.roots:
            found.append(around(given[i] if i >= 0 else found[other] if other >= 0 else None, found[place], times))
        return found

    def executed(self, list given, list arrays):
        """`execute` for Python."""
        return self.execute(given, arrays)

    def nested(self, list given, list found):
        """The pytree that the call returns."""
        return nest(self.answer, given, found)

    def run(self, list given, list arrays):
        """Run the recording on the inputs of a call.

        Raises
        ------
        GuardFailed
            The recording does not fit the call; nothing has changed.
        """
        cdef object result
        if not same_places(arrays, self.groups, self.written):
            raise GuardFailed
        if not self.simple:
            result = self.run_slowly(given, arrays)
        else:
            result = nest(self.answer, given, self.execute(given, arrays))
        self.calls += 1
        return result

    def is_due(self, list arrays):
        """Whether a call with these arrays should run eagerly and be compared with this recording."""
        return self.calls + 1 == self.next_check and same_places(arrays, self.groups, tuple(range(len(arrays))))

    def defer_recheck(self):
        """Note that an eager call agreed with the recording: the next check is after twice as many calls."""
        self.calls += 1
        self.next_check = max(2 * self.calls, 2)


cdef class GuardedCalls:
    """Finds the recording of a call."""

    def __call__(self, *args, **keywords):
        cdef ThreadState* state = thread_state()
        cdef list given, arrays
        cdef ArgumentGuards kind
        if self.dynamic is not None:
            args, keywords = self.marked(args, keywords)
        if self.shut or state.flags & (LISTENING | INFERENCE | ANOMALY | SAVED_HOOKS) or state.dual_level > 0:
            return self.run_eagerly(args, keywords)
        for guards, kind, recordings in self.recent:
            given, arrays = [], []
            if not kind.match(args, keywords, given, arrays) or not (<Guards> guards).hold():
                continue
            for recording in recordings:
                if (<Recorded> recording).calls + 1 == (<Recorded> recording).next_check and recording.is_due(arrays):
                    break
                try:
                    result = (<Recorded> recording).run(given, arrays)
                except GuardFailed:
                    continue
                except Exception as error:
                    if not recording.restarts(error):
                        raise
                    return self.run_eagerly(args, keywords)
                self.useless = 0
                return result
            break
        return self.slow_path(args, keywords)
