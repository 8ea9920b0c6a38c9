# cython: boundscheck=False, wraparound=False
"""Convolutions of float32 and float64 without patches: sums of products of an image and its own shifts, in registers.

An image is padded once and split by the stride.  The elements that meet an element of the kernel, at all places of the kernel,
are then the image from some offset on.  Values computed beyond the ends of rows are left out of the result.  Defines that layout;
the inner loops are in `convolution_tiles`.  The tables of the module `convolution` contain the offsets.  Its matrix products
compute all cases that raise a floating-point flag, and every case if the compiler has no vectors.  Results are bitwise
independent of the number of threads.
"""

from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from ...support cimport capi as cnp
from ...support.capi cimport PyArray_BYTES, PyArray_DIMS, PyArray_TYPE, ndarray, npy_intp
from ..loops.flags cimport fp_clear, fp_raised
from ..loops.threads cimport parallel
from .convolution_tiles cimport (
    GRADSPEC_SLACK, GRADSPEC_TOGETHER, gradspec_gathers_double, gradspec_gathers_float, gradspec_tiles_double,
    gradspec_tiles_float, gradspec_vectors,
)

cnp.import_array()

cdef enum:
    WORTH = 1 << 18     # products that make several threads worthwhile

cdef int VECTOR = gradspec_vectors()  # bytes; 0 if the compiler has no vectors
cdef int LEVEL = 2 if VECTOR == 64 else 1 if VECTOR == 32 else 0


cdef void pad(real* x, real* image, Job* job) noexcept nogil:
    """The channels of a group, padded with zeros and split by position modulo the stride."""
    cdef npy_intp c, phase, i, j, k, a, b, first, last, from_k
    cdef npy_intp* phases = job.phases
    cdef npy_intp* dims = job.dims
    cdef real* row
    for c in range(job.channels):
        for phase in range(phases[0] * phases[1] * phases[2]):
            from_k = phase % phases[2] - job.low[2]
            # The places k with 0 <= k * phases + from_k < length.
            first = max(<npy_intp> 0, (-from_k + phases[2] - 1) // phases[2] if from_k < 0 else 0)
            last = (job.lengths[2] - from_k + phases[2] - 1) // phases[2] if from_k < job.lengths[2] else 0
            first, last = min(first, dims[2]), min(last, dims[2])
            for i in range(dims[0]):
                a = i * phases[0] + phase // (phases[1] * phases[2]) - job.low[0]
                for j in range(dims[1]):
                    b = j * phases[1] + phase // phases[2] % phases[1] - job.low[1]
                    if not (0 <= a < job.lengths[0] and 0 <= b < job.lengths[1]) or first >= last:
                        memset(image, 0, dims[2] * sizeof(real))
                    else:
                        row = x + ((c * job.lengths[0] + a) * job.lengths[1] + b) * job.lengths[2] + from_k
                        for k in range(first):
                            image[k] = 0
                        if phases[2] == 1:
                            for k in range(first, last):
                                image[k] = row[k]
                        elif phases[2] == 2:
                            for k in range(first, last):
                                image[k] = row[2 * k]
                        else:
                            for k in range(first, last):
                                image[k] = row[k * phases[2]]
                        for k in range(last, dims[2]):
                            image[k] = 0
                    image = image + dims[2]
    memset(image, 0, GRADSPEC_SLACK)


cdef inline real* padded(real* x, real* image, Job* job) noexcept nogil:
    if job.bare:
        return x
    pad(x, image, job)
    return image


cdef void put(real* found, Job* job, Part* part, real bias, real* y) noexcept nogil:
    """Write one channel of a part to its places in the result."""
    cdef npy_intp i, j, k
    cdef npy_intp step = part.step[2]
    cdef real* source
    cdef real* row
    for i in range(part.grid[0]):
        for j in range(part.grid[1]):
            source = found + (i * job.dims[1] + j) * job.dims[2]
            row = y + ((part.start[0] + i * part.step[0]) * job.sizes[1] + part.start[1] + j * part.step[1]) * job.sizes[2]
            row = row + part.start[2]
            if step == 1:
                for k in range(part.grid[2]):
                    row[k] = source[k] + bias
            else:
                for k in range(part.grid[2]):
                    row[k * step] = source[k] + bias


cdef void add(real* y, real shift, npy_intp n) noexcept nogil:
    cdef npy_intp i
    for i in range(n):
        y[i] += shift


cdef void tile(int rows, real* image, Part* part, real* weights, real* y) noexcept nogil:
    cdef npy_intp lanes = VECTOR // sizeof(real)
    cdef int way = (0 if rows > 1 else 2) + (part.extent < 3 * lanes)
    if real is float:
        gradspec_tiles_float[LEVEL][way](image, part.offsets, part.count, weights, y, part.extent, part.extent)
    else:
        gradspec_tiles_double[LEVEL][way](image, part.offsets, part.count, weights, y, part.extent, part.extent)


cdef inline npy_intp first_of(npy_intp share, Job* job) noexcept nogil:
    """The first channel of a share; shares consist of whole blocks."""
    cdef npy_intp blocks = (job.outer + GRADSPEC_TOGETHER - 1) // GRADSPEC_TOGETHER
    return min(share * blocks // job.shares * GRADSPEC_TOGETHER, job.outer)


cdef void correlate_unit(real* image, real* found, Job* job, npy_intp unit) noexcept nogil:
    """Some channels of one group of one example."""
    cdef npy_intp share = unit % job.shares, which = unit // job.shares, group = which % job.groups
    cdef npy_intp plane = job.sizes[0] * job.sizes[1] * job.sizes[2], o, r, q
    cdef npy_intp first = first_of(share, job), last = first_of(share + 1, job)
    cdef int rows
    cdef bint whole
    cdef real shift
    cdef Part* part
    cdef real* weights
    cdef real* y = <real*> job.y + which * job.outer * plane
    cdef real* bias = <real*> job.other
    image = padded(<real*> job.x + which * job.channels * job.lengths[0] * job.lengths[1] * job.lengths[2], image, job)
    for q in range(job.parts):
        part = job.part + q
        weights = <real*> (part.weights + group * part.weights_size) + first * part.count
        o = first
        while o < last:
            rows = 1 if job.outer - o == 1 else GRADSPEC_TOGETHER
            whole = part.extent == plane and job.outer - o >= rows  # no values beyond the ends of rows
            tile(rows, image, part, weights, y + o * plane if whole else found)
            for r in range(min(<npy_intp> rows, job.outer - o)):
                shift = bias[group * job.outer + o + r] if bias != NULL else 0
                if not whole:
                    put(found + r * part.extent, job, part, shift, y + (o + r) * plane)
                elif bias != NULL:
                    add(y + (o + r) * plane, shift, plane)
            weights, o = weights + rows * part.count, o + rows


cdef void gather(int rows, real* g, npy_intp pitch, real* image, Part* part, real* y) noexcept nogil:
    """Four channels of the cotangent, or one, times the elements of the image for every element of the kernel."""
    cdef npy_intp k = 0, some
    cdef int way
    while k < part.count:
        some = 3 if part.count - k >= 3 else 1
        way = (0 if rows > 1 else 2) + (some == 1)
        if real is float:
            gradspec_gathers_float[LEVEL][way](g, pitch, image, part.offsets + k, part.count, y + k, pitch)
        else:
            gradspec_gathers_double[LEVEL][way](g, pitch, image, part.offsets + k, part.count, y + k, pitch)
        k += some


cdef void gather_unit(real* image, real* spread, Job* job, npy_intp unit) noexcept nogil:
    """Some channels of one group of a block of examples; the sums are added to the block's own result."""
    cdef npy_intp share = unit % job.shares, which = unit // job.shares
    cdef npy_intp group = which % job.groups, block = which // job.groups
    cdef npy_intp lanes = VECTOR // sizeof(real), first = first_of(share, job), last = first_of(share + 1, job), n, o, i, j, k
    cdef npy_intp plane = job.sizes[0] * job.sizes[1] * job.sizes[2]
    cdef Part* part = job.part
    cdef npy_intp pitch = (part.extent + lanes - 1) // lanes * lanes, start
    cdef int rows
    cdef real* g
    cdef real* found
    cdef real* target
    for n in range(block * job.examples // job.blocks, (block + 1) * job.examples // job.blocks):
        start = n * job.groups + group
        image = padded(<real*> job.x + start * job.channels * job.lengths[0] * job.lengths[1] * job.lengths[2], image, job)
        g = <real*> job.other + (start * job.outer + first) * plane
        o = first
        while o < last:
            rows = GRADSPEC_TOGETHER if job.outer - o >= GRADSPEC_TOGETHER else 1
            found = g if plane == pitch else spread
            if plane != pitch:
                memset(spread, 0, rows * pitch * sizeof(real))
            for k in range(0 if plane == pitch else rows):
                for i in range(job.sizes[0]):
                    for j in range(job.sizes[1]):
                        target = spread + k * pitch + (i * job.dims[1] + j) * job.dims[2]
                        copy(g + ((k * job.sizes[0] + i) * job.sizes[1] + j) * job.sizes[2], target, job.sizes[2])
            gather(rows, found, pitch, image, part, <real*> job.y + (which * job.outer + o) * part.count)
            g, o = g + rows * plane, o + rows


cdef inline void copy(real* x, real* y, npy_intp n) noexcept nogil:
    cdef npy_intp i
    for i in range(n):
        y[i] = x[i]


cdef void run(void* context, npy_intp start, npy_intp stop) noexcept nogil:
    """Some units, on any thread."""
    cdef Job* job = <Job*> context
    cdef npy_intp item = 4 if job.single else 8, extent = 0, q, unit
    cdef npy_intp size = 0 if job.bare else job.channels * job.image * item
    cdef char* memory
    cdef char* image
    cdef char* found
    for q in range(job.parts):
        extent = max(extent, job.part[q].extent)
    memory = <char*> malloc(size + GRADSPEC_TOGETHER * (extent * item + GRADSPEC_SLACK) + 3 * GRADSPEC_SLACK)
    if memory == NULL:
        job.failed = True
    else:
        found = memory + GRADSPEC_SLACK - <size_t> memory % GRADSPEC_SLACK  # whole cache lines, for the rows of cotangents
        image = found + GRADSPEC_TOGETHER * ((extent * item + GRADSPEC_SLACK) // GRADSPEC_SLACK * GRADSPEC_SLACK)
        fp_clear()
        for unit in range(start, stop):
            if job.blocks and job.single:
                gather_unit(<float*> image, <float*> found, job, unit)
            elif job.blocks:
                gather_unit(<double*> image, <double*> found, job, unit)
            elif job.single:
                correlate_unit(<float*> image, <float*> found, job, unit)
            else:
                correlate_unit(<double*> image, <double*> found, job, unit)
        if fp_raised():
            job.failed = True
    free(memory)


cdef bint is_known(Job* job, Part* part) noexcept:
    """Whether there are loops for the part, and most of the computed values belong to the result."""
    cdef npy_intp lanes = VECTOR // (4 if job.single else 8), width
    if lanes == 0 or part.extent < lanes:
        return False
    width = lanes if part.extent < 3 * lanes else 3 * lanes
    return 5 * part.grid[0] * part.grid[1] * part.grid[2] >= 2 * ((part.extent + width - 1) // width * width)


cdef void pack(real* weights, real* packed, Job* job, Part* part) noexcept nogil:
    """Arrange the weights (groups, outer, count) as the loops read them."""
    cdef npy_intp _group, o, k, r, rows
    for _group in range(job.groups):
        o = 0
        while o < job.outer:
            rows = 1 if job.outer - o == 1 else GRADSPEC_TOGETHER
            for k in range(part.count):
                for r in range(rows):
                    packed[k * rows + r] = weights[(o + r) * part.count + k] if o + r < job.outer else 0
            packed, o = packed + rows * part.count, o + rows
        weights = weights + job.outer * part.count


cdef bint is_finite(real* y, npy_intp n) noexcept nogil:
    cdef npy_intp i
    cdef bint odd = False
    for i in range(n):
        odd |= y[i] - y[i] != 0
    fp_clear()
    return not odd


cdef void prepare(Job* job, ndarray x, npy_intp groups, npy_intp outer, tuple layout):
    cdef int k
    lengths, low, phases, dims, sizes = layout
    job.single, job.failed, job.blocks, job.part, job.parts = PyArray_TYPE(x) == cnp.NPY_FLOAT32, False, 0, NULL, 0
    job.groups, job.channels, job.outer = groups, PyArray_DIMS(x)[1] // groups, outer
    job.examples, job.x, job.image, job.bare = PyArray_DIMS(x)[0], PyArray_BYTES(x), 1, True
    for k in range(3):
        job.lengths[k], job.low[k], job.phases[k], job.dims[k], job.sizes[k] = lengths[k], low[k], phases[k], dims[k], sizes[k]
        job.image *= job.phases[k] * job.dims[k]
        job.bare = job.bare and job.low[k] == 0 and job.phases[k] == 1 and job.dims[k] == job.lengths[k]


cdef bint find_parts(Job* job, list parts) except -1:
    """The parts of the result; False if the loops do not support one."""
    cdef Part* part
    cdef ndarray offsets
    cdef int k
    job.part = <Part*> calloc(len(parts), sizeof(Part))
    if job.part == NULL:
        raise MemoryError
    for found, start, step, grid in parts:
        part, offsets = job.part + job.parts, found
        job.parts += 1
        part.offsets, part.count = <npy_intp*> PyArray_BYTES(offsets), PyArray_DIMS(offsets)[0]
        for k in range(3):
            part.start[k], part.step[k], part.grid[k] = start[k], step[k], grid[k]
        part.extent = ((part.grid[0] - 1) * job.dims[1] + part.grid[1] - 1) * job.dims[2] + part.grid[2]
        if not is_known(job, part):
            return False
    return True


cdef bint do_all(Job* job, npy_intp examples):
    """All units; False if a floating-point flag was raised, or there is no memory."""
    cdef npy_intp units = examples * job.groups, cost = 0, q
    for q in range(job.parts):
        cost += job.part[q].count * job.part[q].extent
    job.shares = max(<npy_intp> 1, min((job.outer + GRADSPEC_TOGETHER - 1) // GRADSPEC_TOGETHER, 4 // units))
    cost *= units * job.outer
    units *= job.shares
    with nogil:
        parallel(run, job, units, units if cost < WORTH else max(<npy_intp> 1, units // 16))
    return not job.failed


def correlate(ndarray x, list weights, bias, npy_intp groups, npy_intp outer, tuple layout, list parts, ndarray y,
              bint checked):
    """Sums of products of an image and its shifts, for each channel of the result.

    Parameters
    ----------
    x : ndarray
        (examples, channels, ...), contiguous, as are all arrays.
    weights : list of ndarray
        One array (groups, outer, products) for each part.
    bias : ndarray or None
    groups, outer : int
        Number of groups of channels, and number of channels of the result for each.
    layout : tuple
        Lengths of the image, zeros before it, number of phases, their lengths, lengths of the result: three of each.
    parts : list of tuple
        Offsets of the products, and the places in the result: start, step and lengths, three of each.
    y : ndarray
        The result.
    checked : bool
        Whether to leave infinities and NaNs to other code: the loops also multiply padding, which contributes no products.

    Returns
    -------
    bool
        Whether the loops computed it.
    """
    cdef Job job
    cdef Part* part
    cdef ndarray weight
    cdef npy_intp q, rows = (outer if outer % GRADSPEC_TOGETHER == 1 else (outer + 3) // GRADSPEC_TOGETHER * GRADSPEC_TOGETHER)
    cdef npy_intp size = y.size
    if VECTOR == 0:
        return False
    prepare(&job, x, groups, outer, layout)
    job.other, job.y = NULL, PyArray_BYTES(y)
    if bias is not None:
        job.other = PyArray_BYTES(<ndarray> bias)
    try:
        if not find_parts(&job, parts):
            return False
        for q in range(job.parts):
            part, weight = job.part + q, weights[q]
            part.weights_size = rows * part.count * (4 if job.single else 8)
            part.weights = <char*> malloc(groups * part.weights_size)
            if part.weights == NULL:
                return False
            if job.single:
                pack(<float*> PyArray_BYTES(weight), <float*> part.weights, &job, part)
            else:
                pack(<double*> PyArray_BYTES(weight), <double*> part.weights, &job, part)
        if not do_all(&job, job.examples):
            return False
        if checked:
            return is_finite(<float*> job.y, size) if job.single else is_finite(<double*> job.y, size)
        return True
    finally:
        for q in range(job.parts):
            free(job.part[q].weights)
        free(job.part)


def gather_products(ndarray x, ndarray grad, npy_intp groups, npy_intp outer, tuple layout, list parts, ndarray y):
    """The sums over all places, for each channel of a cotangent and each offset of the only part; the adjoint for the weights.

    Parameters
    ----------
    x, groups, outer, layout, parts
        As in correlate.
    grad : ndarray
        Of the shape of the result of correlate.
    y : ndarray
        (blocks, groups, outer, products), initially zero; each block is the sum of some examples.

    Returns
    -------
    bool
        Whether the loops computed it.
    """
    cdef Job job
    cdef npy_intp size = y.size
    if VECTOR == 0:
        return False
    prepare(&job, x, groups, outer, layout)
    job.other, job.y, job.blocks = PyArray_BYTES(grad), PyArray_BYTES(y), PyArray_DIMS(y)[0]
    try:
        if not find_parts(&job, parts):
            return False
        job.bare = job.bare and job.part.extent % (VECTOR // (4 if job.single else 8)) == 0  # the loops read whole vectors
        if not do_all(&job, job.blocks):
            return False
        return is_finite(<float*> job.y, size) if job.single else is_finite(<double*> job.y, size)
    finally:
        free(job.part)
