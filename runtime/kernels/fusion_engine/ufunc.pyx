"""NumPy ufuncs without their call overhead on plain operands.

Plain operands (contiguous, aligned, of one inexact dtype) go directly to the inner loop that NumPy itself would choose, so
results equal NumPy's to the bit.  Only elementary functions may use loops of `vectors`.  All other operands, and every call that
raised a floating-point flag, go through the ufunc.  It broadcasts, promotes, and warns as `numpy.errstate` says, with the same
loops. Does not depend on autograd.
"""

from cpython.ref cimport PyObject
from libc.string cimport memmove

import numpy as np

from ...support cimport capi as cnp
from ...support.capi cimport PyArray_BYTES, PyArray_CheckExact, PyArray_DIMS, PyArray_ITEMSIZE
from ...support.capi cimport PyArray_NDIM, PyArray_SIZE, PyArray_TYPE
from .broadcast cimport Rows, broadcast_dims, cut_rows, find_rows
from .deferred cimport Deferred, deferred_among
from ..loops.flags cimport fp_clear, fp_raised
from .by_name cimport as_array
from ..loops.copying cimport filled
from ..loops.memory cimport empty, give_back
from .numbers cimport Number, is_number, store_number, weak
from ..loops.plain cimport SLOTS, is_plain, is_spread, item_size, same_shape, slot_of, slot_or_bool
from ..loops.threads cimport GRAIN, parallel
from .vectors cimport exchange, vectorised
from ...support.errors import explain

cnp.import_array()
cdef extern from "numpy/arrayobject.h" nogil:
    bint PyArray_ISBEHAVED_RO(ndarray)

cdef extern from "numpy/ufuncobject.h":
    int _import_umath() except -1
    int PyUFunc_GiveFloatingpointErrors(const char*, int) except -1
    ctypedef struct PyUFuncObject:
        int nin
        int nout
        int nargs
        PyUFuncGenericFunction* functions
        void** data
        int ntypes
        const char* types

cdef extern from "gradspec/kernels/fusion_engine/casts.h":
    PyUFuncGenericFunction[5][4] gradspec_casts

_import_umath()

cdef npy_intp CHUNK = 3 << 13  # additions per task of a thread
cdef enum:
    COSTLY = 8      # cost of a function that is not in _QUICK, in additions
    DIMENSIONS = 64

# Vector loops compute these about as fast as memory delivers the operands.
_QUICK = frozenset({
    "absolute", "add", "bitwise_and", "bitwise_or", "bitwise_xor", "ceil", "conjugate", "copysign", "divide", "equal", "fabs",
    "floor", "greater", "greater_equal", "isfinite", "isinf", "isnan", "less", "less_equal", "logical_and", "logical_not",
    "logical_or", "maximum", "minimum", "multiply", "negative", "not_equal", "positive", "reciprocal", "rint", "sign", "signbit",
    "sqrt", "square", "subtract", "trunc",
})


cdef inline bint is_real(object x) noexcept:
    if PyArray_CheckExact(x):
        return not cnp.PyTypeNum_ISCOMPLEX(PyArray_TYPE(x))
    return type(x) is float or type(x) is int


cdef struct Loop:
    PyUFuncGenericFunction function
    void* data
    int count               # operands and results
    char* args[4]
    npy_intp steps[4]
    bint raised             # a floating-point flag was raised in some part


cdef void run_part(void* context, npy_intp start, npy_intp stop) noexcept nogil:
    """Run a loop over some of its elements."""
    cdef Loop* loop = <Loop*> context
    cdef char* args[4]
    cdef npy_intp size = stop - start
    cdef int i
    for i in range(loop.count):
        args[i] = loop.args[i] + start * loop.steps[i]
    fp_clear()
    loop.function(args, &size, loop.steps, loop.data)
    if fp_raised():
        loop.raised = True


cdef struct RowLoop:
    Loop loop
    npy_intp length         # of a row
    npy_intp[3] repeats     # number of consecutive rows of an operand that are equal,
    npy_intp[3] strides     # bytes between distinct rows,
    npy_intp[3] periods     # number of distinct rows, after which the operand repeats


cdef void run_rows(void* context, npy_intp start, npy_intp stop) noexcept nogil:
    """Run a loop over some of the rows of its operands."""
    cdef RowLoop* rows = <RowLoop*> context
    cdef char* args[3]
    cdef npy_intp[3] places, again
    cdef npy_intp _row, length = rows.length
    cdef int i
    for i in range(3):
        places[i], again[i] = start // rows.repeats[i] % rows.periods[i], start % rows.repeats[i]
    fp_clear()
    for _row in range(start, stop):
        for i in range(3):
            args[i] = rows.loop.args[i] + places[i] * rows.strides[i]
            again[i] += 1
            if again[i] == rows.repeats[i]:
                again[i] = 0
                places[i] = 0 if places[i] + 1 == rows.periods[i] else places[i] + 1
        rows.loop.function(args, &length, rows.loop.steps, rows.loop.data)
    if fp_raised():
        rows.loop.raised = True


cdef class Ufunc:
    """One NumPy ufunc under an operator's name.

    Parameters
    ----------
    function : numpy.ufunc
        With one output.
    name : str
        The operator's name, for messages.
    claim : int
        The kinds of numbers that the operator takes; the caller checks them.
    operands : tuple of str, optional
        The names of its operands: x, or a and b.
    """

    def __init__(self, function, str name, int claim=EVERY, tuple operands=None):
        cdef Ufunc other
        cdef int i
        self.name, self.claim, self.masks = name, claim, False
        self.cost = 1 if getattr(function, "__name__", "") in _QUICK else COSTLY
        for i in range(SLOTS):
            self.loops[i] = NULL
        if isinstance(function, np.ufunc):
            self.function = vectorised(function)
            self.keeps_reals = function is np.conjugate
            self.writes_over = self.cost == 1
            self.find_loops()
            exchange(function, self.loops, self.loop_data)
        elif isinstance(function, Ufunc):
            other = function
            self.function, self.nargs, self.masks = other.function, other.nargs, other.masks
            self.cost, self.writes_over = other.cost, other.writes_over
            self.loops, self.loop_data, self.out_types = other.loops, other.loop_data, other.out_types
            operands = operands or other.operands
        self.operands = operands or (("x",) if self.nargs == 2 else ("a", "b"))

    cdef int find_loops(self) except -1:
        """Find the loops of the NumPy ufunc for operands of one dtype."""
        cdef PyUFuncObject* ufunc = <PyUFuncObject*> (<void*> self.function)
        cdef int i, j, slot
        cdef bint uniform
        self.nargs = ufunc.nargs
        for i in range(ufunc.ntypes):
            slot = slot_or_bool(ufunc.types[i * ufunc.nargs])
            uniform = slot >= 0
            for j in range(1, ufunc.nin):
                uniform = uniform and ufunc.types[i * ufunc.nargs + j] == ufunc.types[i * ufunc.nargs]
            if uniform and self.loops[slot] == NULL:
                self.loops[slot] = ufunc.functions[i]
                self.loop_data[slot] = ufunc.data[i]
                self.out_types[slot] = ufunc.types[i * ufunc.nargs + ufunc.nin]
        return 0

    def __call__(self, *operands):
        return self.apply(operands)

    cdef object apply(self, tuple operands):
        """Apply the function to any number of operands."""
        cdef Deferred waiting
        if self.nargs == 2:
            return self.unary(operands[0])
        if self.nargs == 3:
            return self.binary(operands[0], operands[1])
        waiting = deferred_among(operands)
        if waiting is not None:
            return waiting.call(self, operands, 1)
        try:
            return as_array(self.function(*operands))
        except Exception as error:
            raise explain(error, self.name, **dict(zip(self.operands, operands))) from None

    cdef object unary(self, object x):
        cdef char* args[2]
        cdef npy_intp steps[2]
        cdef npy_intp size
        cdef int slot
        cdef Number number
        cdef ndarray out
        if self.keeps_reals and is_real(x):
            return x
        if PyArray_CheckExact(x) and is_plain(x):
            slot = slot_of(PyArray_TYPE(x))
            if slot >= 0 and self.loops[slot] != NULL:
                out = empty(PyArray_NDIM(x), PyArray_DIMS(x), self.out_types[slot])
                size = PyArray_SIZE(x)
                args[0], args[1] = PyArray_BYTES(x), PyArray_BYTES(out)
                steps[0], steps[1] = item_size(slot), PyArray_ITEMSIZE(out)
                if self.run(slot, args, size, steps):
                    return out
        elif isinstance(x, Deferred):
            return (<Deferred> x).call(self, (x,), 1)
        elif PyArray_CheckExact(x) and is_spread(x):
            slot = slot_of(PyArray_TYPE(x))
            if slot >= 0 and self.loops[slot] != NULL:
                out = empty(PyArray_NDIM(x), PyArray_DIMS(x), self.out_types[slot])
                args[0], args[1] = PyArray_BYTES(x), <char*> &number
                steps[0], steps[1] = item_size(slot), PyArray_ITEMSIZE(out)
                if self.run(slot, args, 1, steps):
                    return filled(out, args[1])
        try:
            return weak(self.function(x)) if is_number(x) else as_array(self.function(x))
        except Exception as error:
            raise explain(error, self.name, **{self.operands[0]: x}) from None

    cdef object binary(self, object a, object b):
        cdef char* args[3]
        cdef npy_intp steps[3]
        cdef npy_intp size
        cdef int slot
        cdef Number number
        cdef ndarray out
        cdef ndarray lead = None
        if PyArray_CheckExact(a) and is_plain(a):
            slot = slot_of(PyArray_TYPE(a))
            if slot >= 0 and self.loops[slot] != NULL:
                steps[0] = steps[1] = item_size(slot)
                args[0] = PyArray_BYTES(a)
                if PyArray_CheckExact(b):
                    if PyArray_TYPE(b) == PyArray_TYPE(a) and is_plain(b):
                        args[1] = PyArray_BYTES(b)
                        if same_shape(a, b):
                            lead = <ndarray> a
                        elif PyArray_NDIM(b) == 0:
                            lead, steps[1] = <ndarray> a, 0
                        elif PyArray_NDIM(a) == 0:
                            lead, steps[0] = <ndarray> b, 0
                elif store_number(b, slot, &number):
                    lead, args[1], steps[1] = <ndarray> a, <char*> &number, 0
        elif PyArray_CheckExact(b) and is_plain(b):
            slot = slot_of(PyArray_TYPE(b))
            if slot >= 0 and self.loops[slot] != NULL and store_number(a, slot, &number):
                lead = <ndarray> b
                args[0], args[1] = <char*> &number, PyArray_BYTES(b)
                steps[0], steps[1] = 0, item_size(slot)
        if lead is not None:
            out = empty(PyArray_NDIM(lead), PyArray_DIMS(lead), self.out_types[slot])
            size = PyArray_SIZE(lead)
            args[2], steps[2] = PyArray_BYTES(out), PyArray_ITEMSIZE(out)
            if self.run(slot, args, size, steps):
                return out
        elif PyArray_CheckExact(a) and PyArray_CheckExact(b) and PyArray_TYPE(a) == PyArray_TYPE(b):
            out = self.by_rows(a, b)
            if out is not None:
                return out
        elif isinstance(a, Deferred) or isinstance(b, Deferred):
            return (<Deferred> (a if isinstance(a, Deferred) else b)).call(self, (a, b), 1)
        try:
            return weak(self.function(a, b)) if is_number(a) and is_number(b) else as_array(self.function(a, b))
        except Exception as error:
            raise explain(error, self.name, **dict(zip(self.operands, (a, b)))) from None

    cdef ndarray by_rows(self, ndarray a, ndarray b):
        """Apply the function row by row to broadcast operands or parts of larger arrays; None if NumPy has to do it."""
        cdef RowLoop job
        cdef Rows[2] rows
        cdef npy_intp[DIMENSIONS] dims
        cdef int slot = slot_of(PyArray_TYPE(a)), ndim, i
        cdef npy_intp item, own, length, size
        cdef ndarray out
        if slot < 0 or self.loops[slot] == NULL or PyArray_SIZE(a) == 0 or PyArray_SIZE(b) == 0:
            return None
        if not PyArray_ISBEHAVED_RO(a) or not PyArray_ISBEHAVED_RO(b):
            return None
        item, ndim = item_size(slot), max(PyArray_NDIM(a), PyArray_NDIM(b))
        size = broadcast_dims(a, b, ndim, dims)
        if size < 0 or not find_rows(a, ndim, dims, item, &rows[0]) or not find_rows(b, ndim, dims, item, &rows[1]):
            return None
        length = min(rows[0].length, rows[1].length)
        if not cut_rows(&rows[0], length) or not cut_rows(&rows[1], length):
            return None
        out = empty(ndim, dims, self.out_types[slot])
        own = PyArray_ITEMSIZE(out)
        job.loop.function, job.loop.data, job.loop.raised = self.loops[slot], self.loop_data[slot], False
        job.loop.args[0], job.loop.args[1], job.loop.args[2] = PyArray_BYTES(a), PyArray_BYTES(b), PyArray_BYTES(out)
        for i in range(2):
            job.repeats[i], job.strides[i], job.periods[i] = rows[i].repeat, rows[i].stride, rows[i].period
            job.loop.steps[i] = rows[i].step
        job.repeats[2], job.strides[2], job.periods[2], job.length = 1, length * own, size // length, length
        job.loop.steps[2] = own
        if size == length:
            return out if self.run(slot, job.loop.args, length, job.loop.steps) else None
        if size < GRAIN:
            run_rows(&job, 0, size // length)
        else:
            with nogil:
                parallel(run_rows, &job, size // length, max(<npy_intp> 1, CHUNK // self.cost // length))
        return None if job.loop.raised else out

    cdef bint run(self, int slot, char** args, npy_intp size, npy_intp* steps) noexcept:
        """Run the loop; False if it raised a floating-point flag, so that the ufunc can warn the user."""
        cdef Loop loop
        cdef int i
        loop.function, loop.data, loop.raised = self.loops[slot], self.loop_data[slot], False
        if size < GRAIN:
            fp_clear()
            loop.function(args, &size, steps, loop.data)
            return not fp_raised()
        loop.count = self.nargs
        for i in range(loop.count):
            loop.args[i], loop.steps[i] = args[i], steps[i]
        with nogil:
            if size < 2 * (CHUNK // self.cost):
                run_part(&loop, 0, size)
            else:
                parallel(run_part, &loop, size, CHUNK // self.cost)
        return not loop.raised

    cdef object into(self, tuple operands, ndarray out, str name):
        """Compute into `out` with NumPy's rules for `out=`; `name` is the operator's name in errors."""
        cdef ndarray result
        if fits(self, operands, out):  # copying few numbers costs less than the call
            result = self.unary(operands[0]) if len(operands) == 1 else self.binary(operands[0], operands[1])
            memmove(PyArray_BYTES(out), PyArray_BYTES(result), PyArray_SIZE(out) * PyArray_ITEMSIZE(out))
            give_back(<PyObject*> result)
            return out
        try:
            return self.function(*operands, out=out)
        except Exception as error:
            raise explain(error, name, operands=operands, out=out) from None


cdef Ufunc pointwise(object function, tuple operands, PyUFuncGenericFunction* loops, bint masks=False, bint costly=True):
    """A function with our own inner loops, called on plain arrays of the four inexact dtypes; NULL if a dtype has no loop.

    `function` handles all other operands, and computes the same numbers.  Results have the dtype of the operands; with `masks`
    the first is bool and the others determine it.  `costly`: computing an element takes longer than loading it.  Steps may be 0.
    """
    cdef Ufunc ufunc = Ufunc(function, function.__name__.lstrip("_"), EVERY, operands)
    cdef int slot
    ufunc.function, ufunc.nargs, ufunc.masks, ufunc.writes_over = function, len(operands) + 1, masks, masks
    ufunc.cost = COSTLY if costly else 1
    for slot in range(4):
        ufunc.loops[slot], ufunc.loop_data[slot] = loops[slot], NULL
        ufunc.out_types[slot] = [cnp.NPY_FLOAT32, cnp.NPY_FLOAT64, cnp.NPY_COMPLEX64, cnp.NPY_COMPLEX128][slot]
    return ufunc


cdef int tell_flags(Ufunc ufunc, int flags) except -1:
    """Let NumPy warn or raise for the flags of a call, as `numpy.errstate` says; they are numbered as NumPy numbers them."""
    return PyUFunc_GiveFloatingpointErrors(ufunc.function.__name__.encode(), flags)


cdef PyUFuncGenericFunction cast_loop(int slot, int wider) noexcept:
    """The inner loop that casts from one dtype to a wider one; NULL for other pairs."""
    return gradspec_casts[slot][wider]


cdef dict _offered = {}

cdef Ufunc offer(Ufunc ufunc):
    """Register an operator's ufunc for programs that name it."""
    _offered[ufunc.name] = ufunc
    return ufunc


cdef Ufunc offered(str name):
    return _offered[name]


cdef bint fits(Ufunc ufunc, tuple operands, ndarray out):
    """Whether the result is small, and of exactly the dtype, shape and layout of `out`."""
    cdef int slot = slot_of(PyArray_TYPE(out))
    cdef int arrays = 0
    if slot < 0 or ufunc.loops[slot] == NULL or ufunc.out_types[slot] != PyArray_TYPE(out) or PyArray_SIZE(out) >= GRAIN:
        return False
    if not is_plain(out):
        return False
    for operand in operands:
        if PyArray_CheckExact(operand):
            if PyArray_TYPE(operand) != PyArray_TYPE(out) or not is_plain(operand) or not same_shape(operand, out):
                return False
            arrays += 1
        elif type(operand) is not float and type(operand) is not int:
            return False
    return arrays > 0


cdef Ufunc _add = Ufunc(np.add, "add")


cdef bint add_plain(ndarray total, ndarray term) noexcept:
    """Add `term` to `total` in place by one inner loop, holding the GIL; False unless both are plain, of one shape and dtype."""
    cdef char* args[3]
    cdef npy_intp steps[3]
    cdef npy_intp size
    cdef int slot = slot_of(PyArray_TYPE(total))
    if slot < 0 or PyArray_TYPE(term) != PyArray_TYPE(total) or not is_plain(total) or not is_plain(term):
        return False
    if not same_shape(total, term):
        return False
    args[0] = args[2] = PyArray_BYTES(total)
    args[1] = PyArray_BYTES(term)
    steps[0] = steps[1] = steps[2] = item_size(slot)
    size = PyArray_SIZE(total)
    _add.loops[slot](args, &size, steps, _add.loop_data[slot])
    return True


cdef ndarray add_into(ndarray total, ndarray term):
    """Add `term` to `total` in place; the caller must own `total`."""
    if not add_plain(total, term):
        np.add(total, term, out=total)
    return total
