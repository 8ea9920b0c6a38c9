"""Softmax and related functions, and their adjoints, on rows or columns that stay in the cache.

Each row is read once from memory and stays in cache during all loops.  The loops are NumPy's own, except for passes that are slow
on short rows: the maximum, the sum, and the passes of `softmax_passes`.  Some of our passes clear the floating-point flags, so
the flags are read before each.  About half of the time is NumPy's loop for exp, the lower limit.
"""

from libc.math cimport INFINITY
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

import numpy as np

from ...support cimport capi as cnp
from ...support.capi cimport (
    PyArray_BYTES, PyArray_CheckExact, PyArray_ISNOTSWAPPED, PyArray_SIZE, PyArray_TYPE, ndarray, npy_intp,
)
from ..loops.flags cimport fp_clear, fp_raised
from ..loops.plain cimport is_plain
from ..loops.threads cimport GRAIN, parallel
from ..fusion_engine.ufunc cimport PyUFuncGenericFunction, Ufunc
from ..fusion_engine.vectors cimport exp_less, has_exp_less
from ..loops.wide cimport dot, highest, real, total
from .softmax_passes cimport (
    ADD, ADD_PRODUCT, COPY, DIVIDE, LESS, MULTIPLY, RAISE, TAKE_OFF, columns, less_both, over, weighed,
)

cnp.import_array()

cdef enum:
    CHUNK = 4096    # elements that make a task for a thread worthwhile
    BLOCK = 2048    # elements per call of exp
    SHORT = 16      # below this length our own loop costs less than a call of NumPy's

cdef struct Loop:
    PyUFuncGenericFunction function
    void* data

cdef struct Loops:
    Loop add
    Loop subtract
    Loop multiply
    Loop divide
    Loop exp
    Loop log

cdef struct Operands:
    char* other         # the second factor of the adjoints
    char* y             # reduced, or of the shape of x
    char* grad          # outer x inner
    char* losses        # outer x inner
    npy_intp* classes   # outer x inner
    npy_intp ignored    # the ignored class

cdef Loops[2] tables            # for float32 and float64
cdef bint _straight = has_exp_less()
cdef list _ufuncs = []          # the owners of the loops


cdef int fill_tables() except -1:
    cdef Ufunc ufunc
    cdef Loop* entry
    cdef int slot, i
    for i, name in enumerate(("add", "subtract", "multiply", "divide", "exp", "log")):
        ufunc = Ufunc(getattr(np, name), name)
        _ufuncs.append(ufunc)
        for slot in range(2):
            entry = <Loop*> &tables[slot] + i
            entry.function, entry.data = ufunc.loops[slot], ufunc.loop_data[slot]
    return 0


fill_tables()


cdef inline void unary(Loop* loop, real* x, real* y, npy_intp n) noexcept nogil:
    cdef char** args = [<char*> x, <char*> y]
    cdef npy_intp* steps = [sizeof(real), sizeof(real)]
    loop.function(args, &n, steps, loop.data)


cdef inline void binary(Loop* loop, real* a, real* b, real* y, npy_intp n) noexcept nogil:
    cdef char** args = [<char*> a, <char*> b, <char*> y]
    cdef npy_intp* steps = [sizeof(real), sizeof(real), sizeof(real)]
    loop.function(args, &n, steps, loop.data)


cdef inline void with_number(Loop* loop, real* a, real b, real* y, npy_intp n) noexcept nogil:
    cdef char** args = [<char*> a, <char*> &b, <char*> y]
    cdef npy_intp* steps = [sizeof(real), 0, sizeof(real)]
    loop.function(args, &n, steps, loop.data)


cdef inline void less(Loops* loops, real* x, real by, real* y, npy_intp n) noexcept nogil:
    cdef npy_intp i
    if n >= SHORT:
        with_number(&loops.subtract, x, by, y, n)
    else:
        for i in range(n):
            y[i] = x[i] - by


cdef inline void times(Loops* loops, real* y, real by, npy_intp n) noexcept nogil:
    cdef npy_intp i
    if n >= SHORT:
        with_number(&loops.multiply, y, by, y, n)
    else:
        for i in range(n):
            y[i] = y[i] * by


cdef inline npy_intp place(npy_intp number, npy_intp length) noexcept nogil:
    """The index of a class, which may be counted from the end."""
    return number + length if number < 0 else number


cdef inline npy_intp at_once(npy_intp count, npy_intp n) noexcept nogil:
    """The number of rows, or other groups of n elements, in a block, at most `count`."""
    cdef npy_intp some = BLOCK // n
    return 1 if some < 1 else count if count < some else some


cdef bint by_rows(Loops* loops, Task task, Span span, real* x, Operands at, real* scratch) noexcept nogil:
    """Tasks with exponentials, along contiguous rows; the scratch holds a block, and three numbers for each of its rows.

    True if a floating-point flag was raised.
    """
    cdef bint raised = False, straight = real is float and _straight and span.length >= SHORT
    cdef npy_intp n = span.length, step = at_once(span.outer, n), some, i, row = 0
    cdef real* most = scratch + step * n
    cdef real* sums = most + step
    cdef real* logs = sums + step
    cdef real* y = <real*> at.y
    cdef real* grad = <real*> at.grad
    cdef real* losses = <real*> at.losses
    cdef real* exps
    while row < span.outer:
        some = min(step, span.outer - row)
        exps = scratch if task == LOGSUMEXP or task == LOG_SOFTMAX else y + row * n
        for i in range(some):
            most[i] = highest(x + (row + i) * n, n)
            if task == SOFTMAX_OR_ZERO and most[i] == -INFINITY:
                most[i] = 0
            if straight:
                exp_less(<float*> x + (row + i) * n, <float> most[i], <float*> exps + i * n, n)
            else:
                less(loops, x + (row + i) * n, most[i], exps + i * n, n)
            raised |= fp_raised() != 0
        if not straight:
            unary(&loops.exp, exps, exps, some * n)
        for i in range(some):
            sums[i] = total(exps + i * n, n)
            if task == SOFTMAX_OR_ZERO and sums[i] == 0:
                sums[i] = 1
        if task == CROSS_ENTROPY:
            unary(&loops.log, sums, logs, some)
        elif task == LOG_SOFTMAX or task == LOGSUMEXP:
            unary(&loops.log, sums, sums, some)
        for i in range(some):
            if task == SOFTMAX or task == SOFTMAX_OR_ZERO:
                over(exps + i * n, sums[i], n)
            elif task == CROSS_ENTROPY:
                times(loops, exps + i * n, 1 / sums[i], n)
                losses[row + i] = 0
                if at.classes[row + i] != at.ignored:
                    losses[row + i] = logs[i] - (x[(row + i) * n + place(at.classes[row + i], n)] - most[i])
            elif task == LOG_SOFTMAX:
                less_both(x + (row + i) * n, most[i], sums[i], y + (row + i) * n, n)
            elif task == LOGSUMEXP:
                y[row + i] = sums[i] + most[i]
            else:
                times(loops, exps + i * n, grad[row + i] / sums[i], n)
        raised |= fp_raised() != 0
        row += some
    return raised


cdef bint by_columns(Loops* loops, Task task, Span span, real* x, Operands at, real* scratch, npy_intp wide) noexcept nogil:
    """The same for `wide` columns of one outer index; the scratch holds two rows of this width and a block."""
    cdef bint raised = False
    cdef npy_intp inner = span.inner, step = at_once(span.length, wide), some, i = 0, j
    cdef real* most = scratch
    cdef real* sums = scratch + wide
    cdef real* block = scratch + 2 * wide
    cdef real* y = <real*> at.y
    cdef real* grad = <real*> at.grad
    cdef real* losses = <real*> at.losses
    memcpy(most, x, wide * sizeof(real))
    memset(sums, 0, wide * sizeof(real))
    columns(RAISE, x, inner, x, 0, most, 0, span.length, wide)
    if task == SOFTMAX_OR_ZERO:
        for j in range(wide):
            most[j] = 0 if most[j] == -INFINITY else most[j]
    while i < span.length:
        some = min(step, span.length - i)
        columns(LESS, x + i * inner, inner, most, 0, block, wide, some, wide)
        if task == LOG_SOFTMAX:
            columns(COPY, block, wide, block, 0, y + i * inner, inner, some, wide)
        raised |= fp_raised() != 0
        unary(&loops.exp, block, block, some * wide)
        columns(ADD, block, wide, block, 0, sums, 0, some, wide)
        if task != LOG_SOFTMAX and task != LOGSUMEXP:
            columns(COPY, block, wide, block, 0, y + i * inner, inner, some, wide)
        i += some
    if task == SOFTMAX_OR_ZERO:
        for j in range(wide):
            sums[j] = 1 if sums[j] == 0 else sums[j]
    if task == CROSS_ENTROPY:
        unary(&loops.log, sums, losses, wide)
        for j in range(wide):
            losses[j] = 0 if at.classes[j] == at.ignored else (
                losses[j] - (x[place(at.classes[j], span.length) * inner + j] - most[j]))
    elif task == LOG_SOFTMAX or task == LOGSUMEXP:
        unary(&loops.log, sums, sums, wide)
    if task == LOGSUMEXP:
        binary(&loops.add, sums, most, y, wide)
    elif task == LOGSUMEXP_BACKWARD:
        binary(&loops.divide, grad, sums, sums, wide)
        columns(MULTIPLY, sums, 0, sums, 0, y, inner, span.length, wide)
    else:
        columns(TAKE_OFF if task == LOG_SOFTMAX else DIVIDE, sums, 0, sums, 0, y, inner, span.length, wide)
    return raised or fp_raised()


cdef bint adjoint_by_rows(Loops* loops, Task task, Span span, real* x, Operands at) noexcept nogil:
    """The adjoint of softmax or log_softmax at its result `other`, or of the losses at `grad` if x is softmax."""
    cdef bint raised = False
    cdef npy_intp n = span.length, row
    cdef real* result = <real*> at.other
    cdef real* grad = <real*> at.grad
    cdef real* y = <real*> at.y
    for row in range(span.outer):
        if task == CROSS_ENTROPY_BACKWARD:
            if at.classes[row] == at.ignored:
                memset(y, 0, n * sizeof(real))
            else:
                with_number(&loops.multiply, x, grad[row], y, n)
                y[place(at.classes[row], n)] = y[place(at.classes[row], n)] - grad[row]
        elif task == SOFTMAX_BACKWARD:
            weighed(result, x, dot(result, x, n), y, n)
        else:
            unary(&loops.exp, result, y, n)
            times(loops, y, total(x, n), n)
            binary(&loops.subtract, x, y, y, n)
        raised |= fp_raised() != 0
        x, result, y = x + n, result + n, y + n
    return raised


cdef bint adjoint_by_columns(
    Loops* loops, Task task, Span span, real* x, Operands at, real* scratch, npy_intp wide
) noexcept nogil:
    """The same for `wide` columns of one outer index; the scratch holds two rows of this width."""
    cdef bint raised = False
    cdef npy_intp inner = span.inner, i, j, here
    cdef real* sums = scratch
    cdef real* spare = scratch + wide
    cdef real* result = <real*> at.other
    cdef real* grad = <real*> at.grad
    cdef real* y = <real*> at.y
    if task == CROSS_ENTROPY_BACKWARD:
        for i in range(span.length):
            binary(&loops.multiply, x + i * inner, grad, y + i * inner, wide)
        for j in range(wide):
            if at.classes[j] == at.ignored:
                for i in range(span.length):
                    y[i * inner + j] = 0
            else:
                here = place(at.classes[j], span.length) * inner + j
                y[here] = y[here] - grad[j]
        return fp_raised()
    memset(sums, 0, wide * sizeof(real))
    if task == SOFTMAX_BACKWARD:
        columns(ADD_PRODUCT, result, inner, x, inner, sums, 0, span.length, wide)
        columns(LESS, x, inner, sums, 0, y, inner, span.length, wide)
        columns(MULTIPLY, result, inner, result, inner, y, inner, span.length, wide)
        return fp_raised()
    columns(ADD, x, inner, x, 0, sums, 0, span.length, wide)
    for i in range(span.length):
        raised |= fp_raised() != 0
        unary(&loops.exp, result + i * inner, spare, wide)
        binary(&loops.multiply, spare, sums, spare, wide)
        binary(&loops.subtract, x + i * inner, spare, y + i * inner, wide)
    return raised or fp_raised()


cdef bint softmax_in_place(real* x, npy_intp rows, npy_intp n, real* scratch) noexcept nogil:
    """SOFTMAX_OR_ZERO of contiguous rows, in place; True if a floating-point flag was raised.

    The scratch has room for BLOCK numbers or a row, and three for each of the rows.
    """
    cdef Span span
    cdef Operands at
    span.outer, span.length, span.inner, at.y = rows, n, 1, <char*> x
    return by_rows(&tables[sizeof(real) // 8], SOFTMAX_OR_ZERO, span, x, at, scratch)


cdef bint adjoint_in_place(real* x, real* y, npy_intp rows, npy_intp n) noexcept nogil:
    """SOFTMAX_BACKWARD of contiguous rows at the result `y`, in the place of the cotangent `x`."""
    cdef Span span
    cdef Operands at
    span.outer, span.length, span.inner, at.y, at.other = rows, n, 1, <char*> x, <char*> y
    return adjoint_by_rows(&tables[sizeof(real) // 8], SOFTMAX_BACKWARD, span, x, at)


cdef inline bint is_adjoint(Task task) noexcept nogil:
    """Whether a task does not begin with a maximum."""
    return task == SOFTMAX_BACKWARD or task == LOG_SOFTMAX_BACKWARD or task == CROSS_ENTROPY_BACKWARD


cdef struct Job:
    Task task
    Span span
    Operands at
    char* x
    npy_intp wide   # columns of a tile
    npy_intp tiles  # of an outer index
    bint single     # float32
    bint odd        # NumPy has to recompute some part and raise its warnings


cdef bint some_rows(Job* job, real* x, npy_intp start, npy_intp stop) noexcept nogil:
    """Process the rows from `start` to `stop`; False if there is no memory or a floating-point flag was raised."""
    cdef Loops* loops = &tables[sizeof(real) // 8]
    cdef Span span = job.span
    cdef Operands at = job.at
    cdef npy_intp n = span.length, rows
    cdef real* scratch
    cdef bint raised
    span.outer = stop - start
    x += start * n
    at.other = <char*> (<real*> at.other + start * n)
    at.y = <char*> (<real*> at.y + start * (1 if job.task == LOGSUMEXP else n))
    at.grad = <char*> (<real*> at.grad + start)
    at.losses = <char*> (<real*> at.losses + start)
    at.classes += start
    if is_adjoint(job.task):
        return not adjoint_by_rows(loops, job.task, span, x, at)
    rows = at_once(span.outer, n)
    scratch = <real*> malloc(rows * (n + 3) * sizeof(real))
    if scratch == NULL:
        return False
    raised = by_rows(loops, job.task, span, x, at, scratch)
    free(scratch)
    return not raised


cdef bint some_tiles(Job* job, real* x, npy_intp start, npy_intp stop) noexcept nogil:
    """The same for tiles of a few columns, so that all of their rows stay in the cache."""
    cdef Loops* loops = &tables[sizeof(real) // 8]
    cdef Span span = job.span
    cdef Operands at
    cdef npy_intp tile, outer, first, some, offset
    cdef bint raised = False
    cdef real* scratch = <real*> malloc((2 * job.wide + max(<npy_intp> BLOCK, job.wide)) * sizeof(real))
    if scratch == NULL:
        return False
    at.ignored = job.at.ignored
    for tile in range(start, stop):
        outer, first = tile // job.tiles, tile % job.tiles * job.wide
        some = min(job.wide, span.inner - first)
        offset = outer * span.length * span.inner + first
        at.other = <char*> (<real*> job.at.other + offset)
        at.y = <char*> (<real*> job.at.y + outer * (1 if job.task == LOGSUMEXP else span.length) * span.inner + first)
        at.grad = <char*> (<real*> job.at.grad + outer * span.inner + first)
        at.losses = <char*> (<real*> job.at.losses + outer * span.inner + first)
        at.classes = job.at.classes + outer * span.inner + first
        if is_adjoint(job.task):
            raised |= adjoint_by_columns(loops, job.task, span, x + offset, at, scratch, some)
        else:
            raised |= by_columns(loops, job.task, span, x + offset, at, scratch, some)
    free(scratch)
    return not raised


cdef void part(void* context, npy_intp start, npy_intp stop) noexcept nogil:
    """Process some rows or tiles, on any thread."""
    cdef Job* job = <Job*> context
    cdef bint done
    fp_clear()
    if job.span.inner == 1:
        done = some_rows(job, <float*> job.x, start, stop) if job.single else some_rows(job, <double*> job.x, start, stop)
    else:
        done = some_tiles(job, <float*> job.x, start, stop) if job.single else some_tiles(job, <double*> job.x, start, stop)
    if not done:
        job.odd = True


cdef bint compute(
    Task task, Span* span, ndarray x, ndarray y, ndarray other=None, ndarray grad=None, ndarray losses=None,
    ndarray classes=None, npy_intp ignored=0,
):
    """Fill `y` and `losses`; False if NumPy has to warn.  All arrays are plain, and of the type of `x` except the classes."""
    cdef Job job
    cdef npy_intp units = span.outer, length = span.length
    job.task, job.span, job.x, job.single, job.odd = task, span[0], PyArray_BYTES(x), PyArray_TYPE(x) == cnp.NPY_FLOAT32, False
    job.at.y = PyArray_BYTES(y)
    job.at.other = NULL if other is None else PyArray_BYTES(other)
    job.at.grad = NULL if grad is None else PyArray_BYTES(grad)
    job.at.losses = NULL if losses is None else PyArray_BYTES(losses)
    job.at.classes = NULL if classes is None else <npy_intp*> PyArray_BYTES(classes)
    job.at.ignored = ignored
    if span.inner > 1:  # tiles of equal width
        job.wide = min(max(<npy_intp> 16 * BLOCK // length, <npy_intp> 64), min(span.inner, <npy_intp> BLOCK))
        job.tiles = (span.inner + job.wide - 1) // job.wide
        job.wide = min(span.inner, ((span.inner + job.tiles - 1) // job.tiles + 15) // 16 * 16)
        job.tiles = (span.inner + job.wide - 1) // job.wide
        units, length = span.outer * job.tiles, span.length * job.wide
    if PyArray_SIZE(x) < GRAIN:
        part(&job, 0, units)
    else:
        with nogil:
            parallel(part, &job, units, max(<npy_intp> 1, CHUNK // length))
    return not job.odd


cdef ndarray plain(object x, int type_num=-1):
    """`x` as a contiguous array of the given type, or without one of float32 or float64; None if its type differs."""
    if not PyArray_CheckExact(x) or not PyArray_ISNOTSWAPPED(x):
        return None
    if PyArray_TYPE(x) != type_num if type_num >= 0 else PyArray_TYPE(x) not in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64):
        return None
    return x if is_plain(x) else np.array(x, order="C")
