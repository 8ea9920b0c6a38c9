# cython: boundscheck=False, wraparound=False
"""State guards: compare the captured Python state with the state of the recording.

Compares containers, functions, classes and arrays with their contents at the time of the recording.  The usual answer, "nothing
has changed", needs pointer comparisons alone.  Python decides on a difference, because an equal number is not a change.
"""

from cpython.dict cimport PyDict_GetItem, PyDict_Next, PyDict_Size
from cpython.object cimport PyObject, Py_TYPE
from libc.string cimport memcmp
from collections import OrderedDict

import numpy as np

from ...core.node cimport NodeHooks
from ...core.tensor cimport TensorBase
from ...support cimport capi as cnp
from ...support.capi cimport PyArray_BYTES, PyArray_FLAGS, PyArray_NBYTES, ndarray

cnp.import_array()

cdef extern from "Python.h":
    PyObject* PyCell_GET(object)
    PyObject* PyFunction_GetCode(object)
    PyObject* PyFunction_GetDefaults(object)
    PyObject* PyFunction_GetKwDefaults(object)

cdef extern from "gradspec/compiler/guards/state_guards.h":
    bint gradspec_same_destructor(object a, object b)
    unsigned int gradspec_version_of(object cls)

# Kinds of guards, with the value that each compares.
DICTIONARY, ATTRIBUTES = 0, 1   # (keys, values) in order; ATTRIBUTES are the attributes of an object
SEQUENCE = 2                    # tuple of the elements of a list or a deque
MEMBERS = 3                     # elements of a set: see `members_of`
ITEM = 4                        # (key, value) of one entry of a dictionary, MISSING if it is absent
CELL = 5                        # value, EMPTY if it is empty
FUNCTION = 6                    # (code, defaults, keyword defaults)
CLASS = 7                       # [version of the type, {name: value}]
SLOT = 8                        # (name, value)
TYPE = 9                        # class of an object
BYTES = 10                      # contents of an ndarray
TENSOR = 11                     # (names, values) of a tensor's own attributes

NUMBERS = (int, float, complex, bool, str, bytes, type(None))  # classes whose objects are compared by value
INTERNAL = ("grad_dtype", "_waiting_rows")  # attributes that the library sets on tensors


class Mark:
    """A placeholder for an absent value."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return self.name


MISSING, EMPTY, LOOSE, SIZE = Mark("nothing"), Mark("an empty cell"), Mark("anything"), Mark("its size")


class _Python:
    """A class made by a `class` statement."""


def is_made_by_python(cls):
    """Whether a `class` statement made a class: its objects have attributes and no state hidden in C."""
    if not cls.__flags__ & (1 << 9) or not gradspec_same_destructor(cls, _Python):
        return False
    slots = cls.__dict__.get("__slots__", ())
    fields = 2 + (1 if isinstance(slots, str) else len(slots))  # 2: a dictionary and a list of weak references
    return cls.__base__ is not None and cls.__basicsize__ <= cls.__base__.__basicsize__ + fields * sizeof(void*)


cpdef list hooks_of(TensorBase tensor):
    """The hooks of a tensor: a call that runs them is another call."""
    cdef NodeHooks hooks = tensor.grad_fn_.hooks if tensor.grad_fn_ is not None else (
        None if tensor.extra is None else tensor.extra.leaf_hooks)
    cdef list found = []
    if hooks is not None:
        for table in (*hooks.tensor_pre.values(), hooks.pre, hooks.post, hooks.post_accumulate):
            found += list(table.values())
    return found


cdef bint same_number(object a, object b) except -1:
    """Whether two values are equal to the last bit; NaN equals NaN, and -0.0 differs from 0.0."""
    if a is b:
        return True
    if Py_TYPE(a) != Py_TYPE(b):
        return False
    if type(a) is int or type(a) is str:
        return a == b
    return (type(a) in NUMBERS or isinstance(a, np.generic)) and repr(a) == repr(b)


def members_of(elements):
    """The identity of a set: types and digits of numbers, and identities of other elements."""
    return frozenset([(type(item), repr(item)) if type(item) in NUMBERS else id(item) for item in elements])


def attributes_of(TensorBase tensor):
    """The attributes that a user has set on a tensor, as a new dictionary."""
    if tensor.extra is None or tensor.extra.attributes is None:
        return {}
    return {name: value for name, value in tensor.extra.attributes.items() if name not in INTERNAL}


def entries_of(container):
    """The keys and the values of a dictionary, in order, read without methods of its class."""
    pairs = list(OrderedDict.items(container) if isinstance(container, OrderedDict) else dict.items(container))
    return tuple([key for key, _ in pairs]), tuple([value for _, value in pairs])


def names_in(cls):
    """The values, functions and descriptors that a class itself defines, by name."""
    return {name: value for name, value in vars(cls).items()
            if not (name.startswith("__") and name.endswith("__")) or callable(value) and not isinstance(value, type)}


def guard_of_class(way, cls):
    """The guard of one class; its bases have their own guards."""
    hasattr(cls, "__name__")  # assigns the type a version
    return way, cls, CLASS, [gradspec_version_of(cls), names_in(cls)]


def guard_of_function(way, function):
    return way, function, FUNCTION, (function.__code__, function.__defaults__, function.__kwdefaults__)


cdef bint unchanged_entries(PyObject* container, tuple value):
    cdef PyObject* key
    cdef PyObject* item
    cdef Py_ssize_t place = 0, i = 0
    cdef tuple keys = <tuple> value[0], values = <tuple> value[1]
    cdef Py_ssize_t size = len(keys)
    if PyDict_Size(<object> container) != size:
        return False
    while PyDict_Next(<dict> container, &place, &key, &item):
        if i >= size or key != <PyObject*> keys[i] or item != <PyObject*> values[i]:
            return False
        i += 1
    return True


cdef bint unchanged_list(list container, tuple value):
    cdef Py_ssize_t i
    if len(container) != len(value):
        return False
    for i in range(len(value)):
        if <PyObject*> container[i] != <PyObject*> value[i]:
            return False
    return True


cdef bint quickly_same(object container, int kind, object value) except -1:
    """Whether pointers alone show that nothing has changed."""
    cdef PyObject* found
    if kind == ITEM:
        found = PyDict_GetItem(<dict> container, (<tuple> value)[0])
        return found == <PyObject*> (<tuple> value)[1] or found == NULL and (<tuple> value)[1] is MISSING
    if kind == CELL:
        found = PyCell_GET(container)
        return found == <PyObject*> value or found == NULL and value is EMPTY
    if kind == ATTRIBUTES or kind == DICTIONARY:
        return not isinstance(container, OrderedDict) and unchanged_entries(<PyObject*> container, <tuple> value)
    if kind == FUNCTION:
        return (PyFunction_GetCode(container) == <PyObject*> (<tuple> value)[0]
                and is_it(PyFunction_GetDefaults(container), (<tuple> value)[1])
                and is_it(PyFunction_GetKwDefaults(container), (<tuple> value)[2]))
    if kind == CLASS:
        return (<list> value)[0] != 0 and gradspec_version_of(container) == <unsigned int> (<list> value)[0]
    if kind == TYPE:
        return <PyObject*> Py_TYPE(container) == <PyObject*> value
    if kind == SEQUENCE:
        return isinstance(container, list) and unchanged_list(<list> container, <tuple> value)
    if kind == BYTES:
        return is_equal(<ndarray> container, <bytes> value)
    if kind == TENSOR:
        return (<TensorBase> container).extra is None and len((<tuple> value)[0]) == 0
    return False


cdef bint is_it(PyObject* found, object value):
    return found == <PyObject*> value or found == NULL and value is None


cdef bint is_equal(ndarray array, bytes value) except -1:
    if PyArray_FLAGS(array) & 1:  # NumPy's flag for C-contiguous
        return PyArray_NBYTES(array) == len(value) and memcmp(PyArray_BYTES(array), <char*> value, len(value)) == 0
    return bool((<object> array).tobytes() == value)


def is_another(now, before):
    """Whether a value differs from the earlier one; equal numbers do not differ."""
    return now is not before and before is not LOOSE and not same_number(now, before)


def differences(guard):
    """The changes that a guard sees, each as (expression, key, value before, value now).

    The key is SIZE if the number or the order of the elements differs.
    """
    way, container, kind, value = guard
    if kind in (DICTIONARY, ATTRIBUTES, TENSOR):
        keys, values = (attributes_of(container),) * 2 if kind == TENSOR else entries_of(container)
        if kind == TENSOR:
            keys, values = tuple(keys), tuple(values.values())
        before, now = dict(zip(*value)), dict(zip(keys, values))
        if len(now) != len(before):
            yield way, SIZE, len(before), len(now)
        for key, old in before.items():
            if is_another(now.get(key, MISSING), old):
                yield f"{way}[{key!r}]" if kind == DICTIONARY else f"{way}.{key}", key, old, now.get(key, MISSING)
        yield from ((f"{way}[{key!r}]" if kind == DICTIONARY else f"{way}.{key}", key, MISSING, now[key])
                    for key in now if key not in before)
        if kind != TENSOR and len(now) == len(before) and keys != value[0] and set(keys) == set(value[0]):
            yield f"the order of {way}", SIZE, list(value[0]), list(keys)
        return
    if kind == SEQUENCE:
        now = tuple(container)
        if len(now) != len(value):
            yield way, SIZE, len(value), len(now)
        yield from ((f"{way}[{i}]", i, old, new) for i, (old, new) in enumerate(zip(value, now)) if is_another(new, old))
        return
    if kind == CLASS:
        now = names_in(container)
        found = [(f"{way}.{name}", name, value[1].get(name, MISSING), now.get(name, MISSING)) for name in {**value[1], **now}
                 if is_another(now.get(name, MISSING), value[1].get(name, MISSING))]
        if not found:
            value[0] = gradspec_version_of(container)  # a change that no recording depends on
        yield from found
        return
    key, old, now = value_of(guard)
    if is_another(now, old) and not (kind == MEMBERS and now == old):
        yield way, key, old, now


def value_of(guard):
    """The key of a guard with a single value, this value, and the present value."""
    _, container, kind, value = guard
    if kind == ITEM:
        return value[0], value[1], container.get(value[0], MISSING)
    if kind == SLOT:
        return value[0], value[1], getattr(container, value[0], MISSING)
    if kind == CELL:
        try:
            return None, value, container.cell_contents
        except ValueError:
            return None, value, EMPTY
    if kind == FUNCTION:
        now = container.__code__, container.__defaults__, container.__kwdefaults__
        return None, value, value if all([a is b for a, b in zip(now, value)]) else now
    if kind == MEMBERS:
        return None, value, members_of(container)
    if kind == TYPE:
        return None, value, type(container)
    now = container.tobytes()
    return (None, value, value) if now == value else (None, np.frombuffer(value, container.dtype), container)


cdef class Guards:
    """Checks whether the captured state of a function is unchanged.

    Parameters
    ----------
    guards : list of (str, object, int, object)
        The Python expression of a container, the container, the kind of the guard, and its value.
    """

    def __init__(self, list guards):
        self.guards = guards

    cdef bint hold(self) except -1:
        cdef tuple guard
        for guard in self.guards:
            if not quickly_same(guard[1], guard[2], guard[3]) and next(differences(guard), None) is not None:
                return False
        return True

    def changed(self):
        """The first change, as (expression, value before, value now), or None."""
        cdef tuple guard
        for guard in self.guards:
            if not quickly_same(guard[1], guard[2], guard[3]):
                for way, _, before, now in differences(guard):
                    return way, before, now
        return None
