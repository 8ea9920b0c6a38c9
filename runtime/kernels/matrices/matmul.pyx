"""Matrix products directly by BLAS: for small matrices the call overhead of `np.matmul` dominates.

Decides which products are a single BLAS call on two matrices or vectors, plain or transposed, of one inexact dtype.  A stack of
matrices times one matrix is one product of all rows.  A matrix times a stack of columns is one product of all columns as rows.
Outer products, of stacks as well, are rows of products.  A small product with a transposed `b` is computed from a copy:
OpenBLAS's loop for it in AVX-512 takes up to twice the time of the loop for plain matrices.  Small products of two stacks, and the
tiles of a product of medium size, are shared out to threads of ours; NumPy's inner loop computes each.  All others, and products
that raised a floating-point flag, are left to `np.matmul`, so that NumPy warns as `numpy.errstate` says.

OpenBLAS 0.3.31 gives wrong numbers if two threads multiply small transposed matrices of floats at one time: its loop for them in
AVX-512 keeps the places of the last columns in a variable of all threads.  So one of the two matrices is copied here.

Does not depend on autograd.
"""

from cpython.ref cimport PyObject
from cython cimport floating

import numpy as np

from ...support cimport capi as cnp
from ...support.capi cimport (
    PyArray_BYTES, PyArray_CheckExact, PyArray_DIMS, PyArray_ITEMSIZE, PyArray_NDIM, PyArray_SIZE, PyArray_STRIDES, PyArray_TYPE, ndarray,
    npy_intp,
)
from ..loops.copying cimport copy_of
from ..loops.flags cimport fp_clear, fp_raised
from ..loops.memory cimport empty
from ..loops.plain cimport is_plain, slot_of
from ..loops.threads cimport parallel
from ..fusion_engine.assignment cimport offer_into
from ..fusion_engine.ufunc cimport PyUFuncGenericFunction, Ufunc
from .triangles cimport write_adjoint, write_adjoint_of

__all__ = ["matmul", "outer"]

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    ctypedef struct PyArray_Dims:
        npy_intp* ptr
        int len
    int NPY_CORDER
    bint PyArray_ISBEHAVED_RO(ndarray)
    object PyArray_MatrixProduct2(object, object, ndarray)
    object PyArray_Newshape(ndarray, PyArray_Dims*, int)
    object PyArray_Transpose(ndarray, PyArray_Dims*)

cdef extern from "gradspec/kernels/loops/copies.h":
    int gradspec_vectors() noexcept

cdef bint small_loops = gradspec_vectors() == 64  # with AVX-512, OpenBLAS computes small products without copies of its own

cdef enum:
    DIMENSIONS = 64
    SMALL = 1000000     # multiplications of the largest product that OpenBLAS computes without copies of its own
    INNER = 64          # terms of the longest sum that its loop adds slowly
    FEW = 8             # rows that are not worth a copy
    WHOLE = 4           # columns of a vector: OpenBLAS's loop for two transposed matrices writes the others by places
    COPY = 32           # multiplications that are worth a copied element
    ALONE = 1 << 18     # multiplications of the largest product that OpenBLAS computes on one thread
    TASK = 1 << 16      # multiplications that make a task for a thread worthwhile
    CALL = 1 << 11      # multiplications in the time of a call
    LOCKED = 1 << 13    # multiplications of a product that OpenBLAS's lock on its memory does not delay
    TILE = 1 << 17      # multiplications of a tile
    WIDE = 64           # columns of a tile
    DEEP = 256          # terms that are added by one call for a tile
    MOST = 1 << 23      # multiplications of the largest product of floats in tiles; half as many for doubles
    SCRATCH = 1 << 14   # bytes of the largest matrix that a thread copies


def matmul(a, b):
    """Matrix product of the last two axes, as ``np.matmul``.

    Parameters
    ----------
    a, b : ndarray
        A 1-d operand is a row on the left and a column on the right.

    Returns
    -------
    ndarray
    """
    if not PyArray_CheckExact(a) or not PyArray_CheckExact(b):
        return np.matmul(a, b)
    return product_of(a, b, None)


cdef int matmul_into(PyObject** operands, ndarray out) except -1:
    product_of(<ndarray> operands[0], <ndarray> operands[1], out)
    return 0


cdef object product_of(ndarray a, ndarray b, ndarray out):
    cdef ndarray y
    if share_places(a, b):
        a, b = (plain(a), b) if PyArray_SIZE(a) < PyArray_SIZE(b) else (a, plain(b))
    y = by_blas(a, b, out)
    return np.matmul(a, b, out=out) if y is None else y


cdef bint share_places(ndarray a, ndarray b) noexcept:
    """Whether OpenBLAS's loop for two small transposed matrices of floats would write to a variable of all threads."""
    cdef int ndim = PyArray_NDIM(a), ends = PyArray_NDIM(b)
    if not small_loops or ndim < 2 or ends < 2 or not is_transposed(a, ndim) or not is_transposed(b, ends):
        return False
    return PyArray_DIMS(b)[ends - 1] % WHOLE != 0 and PyArray_TYPE(a) == PyArray_TYPE(b) and slot_of(PyArray_TYPE(a)) == 0 and (
        PyArray_DIMS(a)[ndim - 2] * PyArray_DIMS(a)[ndim - 1] * PyArray_DIMS(b)[ends - 1] <= SMALL)


cdef inline bint is_transposed(ndarray x, int ndim) noexcept:
    return PyArray_STRIDES(x)[ndim - 2] == PyArray_ITEMSIZE(x) != PyArray_STRIDES(x)[ndim - 1]


cdef ndarray plain(ndarray x):
    """A copy of matrices with contiguous rows; those that broadcasting repeats are copied once."""
    if PyArray_NDIM(x) == 2:
        return copy_of(x)
    once = (<object> x)[tuple([slice(None) if stride else slice(1) for stride in (<object> x).strides])]
    return np.broadcast_to(copy_of(once), (<object> x).shape)


cdef ndarray adjoint(ndarray x):
    """The adjoint of a matrix, in new memory."""
    cdef npy_intp[2] dims = [PyArray_DIMS(x)[1], PyArray_DIMS(x)[0]]
    cdef ndarray y = empty(2, dims, PyArray_TYPE(x))
    write_adjoint(x, y)
    return y


offer_into("matmul", 2, matmul_into)
cdef Ufunc _multiply = Ufunc(np.multiply, "multiply")
cdef Ufunc _matmul = Ufunc(np.matmul, "matmul")


def outer(a, b):
    """The products of each element of `a` by each of `b`, as ``np.outer``."""
    return _multiply.binary(np.ravel(a)[:, None], np.ravel(b)[None])


cdef ndarray by_blas(ndarray a, ndarray b, ndarray y):
    """The product, in `y` if that is an array; None if `np.matmul` has to compute it, or to raise an error."""
    cdef npy_intp[DIMENSIONS] dims
    cdef npy_intp[2] rows
    cdef PyArray_Dims matrix
    cdef int i, ndim = PyArray_NDIM(a), ends = PyArray_NDIM(b)
    cdef npy_intp inner
    cdef ndarray left = a, product
    if 2 <= ndim <= DIMENSIONS and 2 < ends <= DIMENSIONS:
        if ndim == 2:
            product = of_columns(a, b, y) if PyArray_DIMS(b)[ends - 1] == 1 else None
        else:
            product = of_stacks(a, b, y)
        return of_many(a, b, y) if product is None else product
    if not 1 <= ndim <= DIMENSIONS or not 1 <= ends <= 2 or PyArray_TYPE(a) != PyArray_TYPE(b) or slot_of(PyArray_TYPE(a)) < 0:
        return None
    if not PyArray_ISBEHAVED_RO(a) or not PyArray_ISBEHAVED_RO(b):
        return None
    inner = PyArray_DIMS(a)[ndim - 1]
    if inner != PyArray_DIMS(b)[0]:
        return None
    rows[0], rows[1] = 1, inner
    for i in range(ndim - 1):
        dims[i] = PyArray_DIMS(a)[i]
        rows[0] *= dims[i]
    if ends == 2:
        dims[ndim - 1] = PyArray_DIMS(b)[1]
    if rows[0] * inner == 0 or (ends == 2 and dims[ndim - 1] == 0):
        return None
    if y is None:
        y = empty(ndim - 2 + ends, dims, PyArray_TYPE(a))
    product = y
    if ndim > 2:
        if not is_plain(a):
            return None
        matrix.ptr, matrix.len = rows, 2
        left = PyArray_Newshape(a, &matrix, NPY_CORDER)
        rows[1], matrix.len = dims[ndim - 1], ends
        product = PyArray_Newshape(y, &matrix, NPY_CORDER)
    fp_clear()
    if ndim == 1 or ends == 1 or not (is_tiled(left, b, product) or is_turned(left, b, product)):
        PyArray_MatrixProduct2(left, b, product)
    return None if fp_raised() else y


cdef bint is_turned(ndarray a, ndarray b, ndarray y) except -1:
    """Write the product of two matrices if copies make it faster; `b` is a transposed matrix."""
    cdef npy_intp rows = PyArray_DIMS(a)[0], inner = PyArray_DIMS(a)[1], columns = PyArray_DIMS(b)[1], item = PyArray_ITEMSIZE(b)
    cdef npy_intp work = rows * inner * columns, of_b = inner * columns, of_others = rows * (inner + columns)
    cdef npy_intp[2] dims
    cdef ndarray product
    if not small_loops or rows <= FEW or inner > min(<npy_intp> INNER, columns) or work > SMALL:
        return False
    if COPY * min(of_b, of_others) > work or slot_of(PyArray_TYPE(b)) > 1 or PyArray_BYTES(a) == PyArray_BYTES(b):
        return False  # NumPy makes the product of a matrix and its transpose symmetric
    if PyArray_STRIDES(b)[0] != item or PyArray_STRIDES(b)[1] < inner * item or not is_plain(a) or not is_plain(y):
        return False
    b = PyArray_Transpose(b, NULL)
    if of_b <= of_others:
        PyArray_MatrixProduct2(a, adjoint(b), y)
        return True
    dims[0], dims[1] = columns, rows
    product = empty(2, dims, PyArray_TYPE(b))
    PyArray_MatrixProduct2(b, adjoint(a), product)
    write_adjoint(product, y)
    return True


cdef ndarray of_stacks(ndarray a, ndarray b, ndarray y):
    """`by_blas` for stacks of columns times rows, or one matrix times a stack of columns."""
    cdef int ndim = PyArray_NDIM(a), ends = PyArray_NDIM(b)
    if PyArray_TYPE(a) != PyArray_TYPE(b) or slot_of(PyArray_TYPE(a)) < 0:
        return None
    if PyArray_DIMS(a)[ndim - 1] == 1 and PyArray_DIMS(b)[ends - 2] == 1:
        return _multiply.binary(a, b) if y is None else np.multiply(a, b, out=y)
    if ndim != ends or PyArray_DIMS(b)[ends - 1] != 1 or any((<object> a).strides[:-2]):
        return None
    if (<object> a).shape[:-2] != (<object> b).shape[:-2] or 0 in (<object> b).shape:
        return None
    return of_columns((<object> a)[(0,) * (ndim - 2)], b, y)


cdef ndarray of_columns(ndarray a, ndarray b, ndarray y):
    """`by_blas` for a matrix and a stack of columns: the columns, as rows, times the transposed matrix."""
    cdef npy_intp[DIMENSIONS] dims
    cdef npy_intp[2] rows
    cdef PyArray_Dims matrix
    cdef int i, ndim = PyArray_NDIM(b)
    cdef ndarray product
    if PyArray_TYPE(a) != PyArray_TYPE(b) or slot_of(PyArray_TYPE(a)) < 0 or not is_plain(b) or not PyArray_ISBEHAVED_RO(a):
        return None
    rows[0], rows[1] = 1, PyArray_DIMS(a)[1]
    for i in range(ndim - 2):
        dims[i] = PyArray_DIMS(b)[i]
        rows[0] *= dims[i]
    dims[ndim - 2], dims[ndim - 1] = PyArray_DIMS(a)[0], 1
    if rows[1] != PyArray_DIMS(b)[ndim - 2] or rows[0] * rows[1] * dims[ndim - 2] == 0:
        return None
    if y is None:
        y = empty(ndim, dims, PyArray_TYPE(a))
    elif not is_plain(y):
        return None
    matrix.ptr, matrix.len = rows, 2
    b = PyArray_Newshape(b, &matrix, NPY_CORDER)
    rows[1] = dims[ndim - 2]
    product = PyArray_Newshape(y, &matrix, NPY_CORDER)
    fp_clear()
    PyArray_MatrixProduct2(b, PyArray_Transpose(a, NULL), product)
    return None if fp_raised() else y


cdef struct Stacks:
    PyUFuncGenericFunction function
    void* data
    npy_intp[4] sizes           # the number of products in a call; rows, terms and columns of each
    npy_intp[9] steps           # of the operands and the result: from product to product, and between rows, terms and columns
    npy_intp turned             # elements between the rows of the transposed second operand, if copies of it are faster, or 0
    npy_intp[3] ends            # rows, terms and columns of the whole product if these are its tiles, or 0
    int slot
    int ndim                    # axes of the stack
    npy_intp[DIMENSIONS] dims
    npy_intp[DIMENSIONS][3] strides
    char* first[3]
    bint raised                 # a floating-point flag was raised


cdef void run_products(void* context, npy_intp start, npy_intp stop) noexcept nogil:
    """Compute some of the products of two stacks: those along the last axis together, unless these are tiles or copied."""
    cdef Stacks* stacks = <Stacks*> context
    cdef char[SCRATCH] scratch
    cdef char* args[3]
    cdef npy_intp[4] sizes = stacks.sizes
    cdef npy_intp rest
    cdef int axis, i
    fp_clear()
    while start < stop:
        rest = start
        for i in range(3):
            args[i] = stacks.first[i]
        for axis in range(stacks.ndim - 1, -1, -1):
            for i in range(3):
                args[i] += rest % stacks.dims[axis] * stacks.strides[axis][i]
            rest //= stacks.dims[axis]
        if stacks.ends[0]:
            sizes[1] = min(stacks.sizes[1], stacks.ends[0] - start // stacks.dims[1] * stacks.sizes[1])
            sizes[3] = min(stacks.sizes[3], stacks.ends[2] - start % stacks.dims[1] * stacks.sizes[3])
            run_tile(stacks, args, sizes, scratch)
        else:
            if stacks.turned:
                write_adjoint_of(stacks.slot, args[1], stacks.turned, scratch, sizes[3], sizes[3], sizes[2])
                args[1] = scratch
            else:
                sizes[0] = min(stop - start, stacks.dims[stacks.ndim - 1] - start % stacks.dims[stacks.ndim - 1])
            stacks.function(args, sizes, stacks.steps, stacks.data)
        start += sizes[0]
    if fp_raised():
        stacks.raised = True


cdef void run_tile(Stacks* stacks, char** args, npy_intp* sizes, char* scratch) noexcept nogil:
    """Compute a tile: the terms that one call adds, and to these the next ones."""
    cdef char* a = args[0]
    cdef char* b = args[1]
    cdef char* y = args[2]
    cdef npy_intp[9] steps = stacks.steps
    cdef npy_intp row, begin = 0, item = steps[8]
    while begin < stacks.ends[1]:
        sizes[2] = min(stacks.sizes[2], stacks.ends[1] - begin)
        args[0], args[1] = a + begin * steps[4], b + begin * steps[5]  # a call moves its arguments
        if begin:
            args[2], steps[7] = scratch, sizes[3] * item
        stacks.function(args, sizes, steps, stacks.data)
        for row in range(sizes[1] if begin else 0):
            if stacks.slot:
                add_row(<double*> scratch + row * sizes[3], <double*> (y + row * stacks.steps[7]), sizes[3])
            else:
                add_row(<float*> scratch + row * sizes[3], <float*> (y + row * stacks.steps[7]), sizes[3])
        begin += sizes[2]


cdef inline void add_row(floating* x, floating* y, npy_intp n) noexcept nogil:
    cdef npy_intp i
    for i in range(n):
        y[i] += x[i]


cdef ndarray of_many(ndarray a, ndarray b, ndarray y):
    """`by_blas` for two stacks of small matrices, if they are worth several threads."""
    cdef Stacks stacks
    cdef int axis, ends = PyArray_NDIM(b), ndim = max(PyArray_NDIM(a), ends), slot = slot_of(PyArray_TYPE(a))
    cdef npy_intp rows = PyArray_DIMS(a)[PyArray_NDIM(a) - 2], inner = PyArray_DIMS(b)[ends - 2], columns = PyArray_DIMS(b)[ends - 1]
    cdef npy_intp work = rows * inner * columns, item = PyArray_ITEMSIZE(a), count = 1
    if PyArray_TYPE(a) != PyArray_TYPE(b) or slot < 0 or not 0 < work <= ALONE or inner != PyArray_DIMS(a)[PyArray_NDIM(a) - 1]:
        return None
    if not PyArray_ISBEHAVED_RO(a) or not PyArray_ISBEHAVED_RO(b) or (y is not None and not is_plain(y)):
        return None
    stacks.ndim = ndim - 2
    for axis in range(ndim - 2):
        stacks.dims[axis] = 1
        if not add_axis(&stacks, 0, a, axis) or not add_axis(&stacks, 1, b, axis):
            return None
        count *= stacks.dims[axis]
    if count * (work + CALL) < 8 * TASK or (work < LOCKED and not small_loops):
        return None
    stacks.dims[ndim - 2], stacks.dims[ndim - 1] = rows, columns
    if y is None:
        y = empty(ndim, stacks.dims, PyArray_TYPE(a))
    for axis in range(ndim - 2):
        stacks.strides[axis][2] = PyArray_STRIDES(y)[axis]
    add_matrix(&stacks, 0, a, 3)
    add_matrix(&stacks, 1, b, 5)
    add_matrix(&stacks, 2, y, 7)
    stacks.function, stacks.data, stacks.slot, stacks.raised = _matmul.loops[slot], _matmul.loop_data[slot], slot, False
    stacks.sizes, stacks.ends, stacks.turned = [1, rows, inner, columns], [0, 0, 0], 0
    if small_loops and slot < 2 and rows >= COPY and inner <= min(<npy_intp> INNER, columns) and inner * columns * item <= SCRATCH and (
            stacks.steps[5] == item and stacks.steps[6] >= inner * item and PyArray_BYTES(a) != PyArray_BYTES(b)):
        stacks.turned, stacks.steps[5], stacks.steps[6] = stacks.steps[6] // item, columns * item, item
    with nogil:
        parallel(run_products, &stacks, count, max(<npy_intp> 1, TASK // (work + CALL)))
    return None if stacks.raised else y


cdef bint is_tiled(ndarray a, ndarray b, ndarray y) except -1:
    """Write the product of two matrices by tiles, each a product that OpenBLAS computes on one thread, if that is faster."""
    cdef Stacks stacks
    cdef npy_intp rows = PyArray_DIMS(a)[0], inner = PyArray_DIMS(a)[1], columns = PyArray_DIMS(b)[1], item = PyArray_ITEMSIZE(a)
    cdef npy_intp height, width = min(columns, <npy_intp> WIDE), depth = min(inner, <npy_intp> DEEP >> slot_of(PyArray_TYPE(a)))
    cdef int slot = slot_of(PyArray_TYPE(a))
    if not small_loops or slot > 1 or not 4 * TILE <= rows * inner * columns <= MOST >> slot or PyArray_BYTES(a) == PyArray_BYTES(b):
        return False
    if not is_plain(y) or not has_lines(a) or not has_lines(b):
        return False
    if PyArray_STRIDES(b)[1] != item and (inner <= INNER or PyArray_STRIDES(a)[1] != item):
        b = adjoint(PyArray_Transpose(b, NULL))
    height = max(<npy_intp> 8, TILE // (width * depth) & ~<npy_intp> 7)
    stacks.ndim, stacks.dims[0], stacks.dims[1] = 2, (rows + height - 1) // height, (columns + width - 1) // width
    stacks.strides[0] = [height * PyArray_STRIDES(a)[0], 0, height * PyArray_STRIDES(y)[0]]
    stacks.strides[1] = [0, width * PyArray_STRIDES(b)[1], width * item]
    add_matrix(&stacks, 0, a, 3)
    add_matrix(&stacks, 1, b, 5)
    add_matrix(&stacks, 2, y, 7)
    stacks.function, stacks.data, stacks.slot, stacks.raised = _matmul.loops[slot], _matmul.loop_data[slot], slot, False
    stacks.sizes, stacks.ends, stacks.turned = [1, height, depth, width], [rows, inner, columns], 0
    with nogil:
        parallel(run_products, &stacks, stacks.dims[0] * stacks.dims[1], 1)
    return not stacks.raised


cdef inline bint has_lines(ndarray x) noexcept:
    """Whether BLAS can read a matrix: its rows or its columns are contiguous, and lie one behind the other."""
    cdef npy_intp item = PyArray_ITEMSIZE(x), rows = PyArray_STRIDES(x)[0], columns = PyArray_STRIDES(x)[1]
    return (columns == item and rows >= PyArray_DIMS(x)[1] * item and rows % item == 0) or (
        rows == item and columns >= PyArray_DIMS(x)[0] * item and columns % item == 0)


cdef bint add_axis(Stacks* stacks, int operand, ndarray x, int axis) noexcept:
    """Add an axis of an operand to the stacks; False if it does not broadcast."""
    cdef int own = axis + PyArray_NDIM(x) - 2 - stacks.ndim
    cdef npy_intp length = PyArray_DIMS(x)[own] if own >= 0 else 1
    stacks.strides[axis][operand] = PyArray_STRIDES(x)[own] if length != 1 else 0
    if stacks.dims[axis] == 1:
        stacks.dims[axis] = length
    return length == 1 or length == stacks.dims[axis]


cdef void add_matrix(Stacks* stacks, int operand, ndarray x, int place) noexcept:
    cdef int ndim = PyArray_NDIM(x)
    stacks.first[operand], stacks.steps[operand] = PyArray_BYTES(x), stacks.strides[stacks.ndim - 1][operand]
    stacks.steps[place], stacks.steps[place + 1] = PyArray_STRIDES(x)[ndim - 2], PyArray_STRIDES(x)[ndim - 1]
