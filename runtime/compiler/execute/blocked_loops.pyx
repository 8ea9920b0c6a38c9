# cython: boundscheck=False, wraparound=False
"""Blocked loops: run fused loops block by block, with the sums of their results; blocks of whole rows if sums feed loops.

Decides how a group of loops is cut into blocks for the cache and for threads, and a loop over rows for threads.  A sum adds the
elements of a block as soon as the loops have computed them, in NumPy's order.  Consecutive rows are added one after the other, and
one long row by halves, as the sum of its pieces.  Floating-point flags are reported to NumPy, which warns as `numpy.errstate` says.
"""

from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from ...kernels.loops.flags cimport fp_clear, fp_raised
from ...kernels.loops.scratch cimport LINE, NEAR, room_of, scratch_of
from ...kernels.loops.threads cimport parallel
from ...kernels.fusion_engine.ufunc cimport Ufunc
from ...kernels.reductions.pairwise cimport cut, half, join, most_pieces, pairwise_double, pairwise_float
from ...support cimport capi as cnp
from ...support.capi cimport npy_intp
from .frames cimport Frame
from .executable cimport LOOP, OPERANDS, SCRATCH, SUM, Slot, Step, Executable

cnp.import_array()

cdef extern from "numpy/ufuncobject.h":
    int _import_umath() except -1
    int PyUFunc_GiveFloatingpointErrors(const char*, int) except -1

cdef extern from "gradspec/compiler/execute/blocked_loops.h":
    int gradspec_numpy_flags(int) nogil
    void gradspec_note(int*, int) nogil

cdef extern from "gradspec/compiler/execute/prefetch.h":
    ctypedef struct gradspec_streams:
        int count
        npy_intp bytes
    void gradspec_add_stream(gradspec_streams*, const char*, npy_intp)
    void gradspec_ask_for(const gradspec_streams*, npy_intp, npy_intp) nogil

_import_umath()

cdef enum:
    BLOCK = 512             # elements of a block
    LEAF = 1024             # most elements of a row that are added in one call
    AHEAD = 4               # fewest loops that prefetch blocks: fewer loops are faster than memory anyway
    FEW = 256               # elements of an expensive loop between two prefetches
    FAR = 1 << 20           # least bytes of all blocks for prefetching, more than a cache
    CHUNK = 1 << 15         # elements of one task of a thread
    BLOCK_OF_ROWS = 4096    # elements of a block of short rows, which also has loops over one number a row


cdef int complain(Executable executable, int i, int flags) except -1:
    """Report the floating-point flags of a loop, as `numpy.errstate` says."""
    cdef Ufunc ufunc
    cdef bytes name = b"reduce"
    if executable.steps[i].kind != SUM:
        ufunc = executable.parts[i]
        name = getattr(ufunc.function, "__name__", ufunc.name).encode()
    fp_clear()
    PyUFunc_GiveFloatingpointErrors(name, gradspec_numpy_flags(flags))
    return 0


cdef struct Blocks:
    Step* steps
    Slot* slots
    char** base
    int count
    npy_intp rows, length   # of a group of rows: their number, and the elements of one
    npy_intp room           # bytes of scratch memory for each element
    gradspec_streams streams  # other memory that the loops read and write, to be prefetched
    bint costly             # whether only expensive loops prefetch; without one, all do
    int asking              # number of loops that prefetch
    int* flags              # floating-point flags of each loop, and of the sum behind them
    bint lacks              # whether an allocation has failed


cdef inline char* scratch_for(Blocks* blocks, npy_intp room, char* near, void** owned) noexcept nogil:
    """Scratch memory for `room` elements, as `scratch_of`."""
    cdef char* scratch = scratch_of(blocks.room * room, near, owned)
    if scratch == NULL:
        blocks.lacks = True
    return scratch


cdef inline char* place_of(Blocks* blocks, int place, npy_intp start, npy_intp stride, char* scratch,
                           npy_intp room) noexcept nogil:
    """The address of a block's elements in a slot."""
    if blocks.slots[place].place == SCRATCH:
        return scratch + blocks.slots[place].offset * room
    return blocks.base[place] + start * stride


cdef void run_block(Blocks* blocks, npy_intp start, npy_intp size, npy_intp ahead, char* scratch, npy_intp room) noexcept nogil:
    """Run all loops on one block and prefetch the next `ahead` elements, a few at a time: more would stall."""
    cdef char* args[OPERANDS]
    cdef Step* step
    cdef int i, j
    cdef npy_intp next = start + size, end = next, share = 0, few = FEW if blocks.costly else size, left, part
    if blocks.streams.count > 0:
        end += ahead
        share = (ahead // (blocks.asking * ((size + few - 1) // few)) + 15) & ~<npy_intp> 15
    for i in range(blocks.count):
        step = &blocks.steps[i]
        for j in range(step.count):
            args[j] = place_of(blocks, step.slots[j], start, step.strides[j], scratch, room)
        left = size
        while left > 0:
            part = left
            if next < end and step.costly == blocks.costly:
                gradspec_ask_for(&blocks.streams, next, min(share, end - next))
                next += share
                part = min(left, few)
            step.function(args, &part, step.strides, step.data)
            if fp_raised():
                gradspec_note(&blocks.flags[i], fp_raised())
                fp_clear()
            for j in range(step.count):
                args[j] += part * step.strides[j]
            left -= part


cdef void run_part(void* context, npy_intp start, npy_intp stop) noexcept nogil:
    """Run the loops on a part of their elements, block by block."""
    cdef Blocks* blocks = <Blocks*> context
    cdef char[NEAR + LINE] near
    cdef void* owned
    cdef npy_intp room = room_of(min(stop - start, <npy_intp> BLOCK)), size
    cdef char* scratch = scratch_for(blocks, room, near, &owned)
    if scratch == NULL:
        return
    fp_clear()
    while start < stop:
        size = min(stop - start, <npy_intp> BLOCK)
        run_block(blocks, start, size, min(stop - start - size, size), scratch, room)
        start += size
    free(owned)


cdef int run_blocks(Executable executable, Frame frame, int first) except -1:
    """Run the loops behind a step, block by block."""
    cdef Step* step = &executable.steps[first]
    cdef Blocks blocks
    if step.rows == 0 and step[step.count].kind == SUM:
        return run_sum(executable, frame, first + 1, step.count - 1, step.room)
    begin(&blocks, executable, frame, first + 1, step.count, step.room)
    try:
        with nogil:
            if step.rows > 0:
                blocks.rows, blocks.length = step.rows, step.size // step.rows
                if step.size < 2 * CHUNK // step.count:
                    run_whole_rows(&blocks, 0, step.rows)
                else:
                    parallel(run_whole_rows, &blocks, step.rows, max(rows_at_once(&blocks), CHUNK // step.count // blocks.length))
            elif step.size < 2 * CHUNK // step.count:
                run_part(&blocks, 0, step.size)
            else:
                parallel(run_part, &blocks, step.size, max(<npy_intp> 4 * BLOCK, CHUNK // step.count & ~<npy_intp> (BLOCK - 1)))
        finish(&blocks, executable, first + 1, step.count)
    finally:
        free(blocks.flags)
    return 0


# Groups of rows.

cdef inline npy_intp rows_at_once(Blocks* blocks) noexcept nogil:
    return max(<npy_intp> 1, BLOCK_OF_ROWS // blocks.length)


cdef void run_whole_rows(void* context, npy_intp start, npy_intp stop) noexcept nogil:
    """Run the steps of a group of rows on some of the rows, block by block."""
    cdef Blocks* blocks = <Blocks*> context
    cdef char[NEAR + LINE] near
    cdef void* owned
    cdef npy_intp most = min(stop - start, rows_at_once(blocks)), room = room_of(most * blocks.length), count
    cdef char* scratch = scratch_for(blocks, room, near, &owned)
    cdef int i
    if scratch == NULL:
        return
    fp_clear()
    while start < stop:
        count = min(stop - start, most)
        for i in range(blocks.count):
            run_on_rows(blocks, &blocks.steps[i], start, count, scratch, room)
            if fp_raised():
                gradspec_note(&blocks.flags[i], fp_raised())
                fp_clear()
        start += count
    free(owned)


cdef void run_on_rows(Blocks* blocks, Step* step, npy_intp start, npy_intp count, char* scratch, npy_intp room) noexcept nogil:
    """Run one step on `count` rows."""
    cdef char* args[OPERANDS]
    cdef npy_intp row, size = count
    cdef int j
    cdef Sum sum
    if step.kind == SUM:
        sum.step, sum.item = step, sizeof(float) if blocks.slots[step.slots[0]].type_num == cnp.NPY_FLOAT32 else sizeof(double)
        sum.y = blocks.base[step.slots[1]] + start * sum.item
        args[0] = place_of(blocks, step.slots[0], start * blocks.length, sum.item, scratch, room)
        for row in range(count):
            put(&sum, sum.y, row, added(&sum, args[0] + row * blocks.length * sum.item, blocks.length))
        if step.mean:
            divide(&sum, count)
    elif step.kind == LOOP:
        if step.size != blocks.rows:  # all elements of the rows
            start, size = start * blocks.length, count * blocks.length
        for j in range(step.count):
            args[j] = place_of(blocks, step.slots[j], start, step.strides[j], scratch, room)
        step.function(args, &size, step.strides, step.data)
    else:
        size = blocks.length
        for row in range(count):
            for j in range(step.count):
                args[j] = place_of(blocks, step.slots[j], start, step.jumps[j], scratch, room) + row * step.jumps[j]
            step.function(args, &size, step.strides, step.data)


cdef int begin(Blocks* blocks, Executable executable, Frame frame, int first, int count, npy_intp room) except -1:
    cdef int i, j
    blocks.steps, blocks.slots, blocks.base, blocks.count = &executable.steps[first], executable.slots, frame.base, count
    blocks.room, blocks.lacks, blocks.streams.count, blocks.streams.bytes = room, False, 0, 0
    blocks.flags = <int*> calloc(count + 1, sizeof(int))
    if blocks.flags == NULL:
        raise MemoryError
    blocks.costly, blocks.asking = False, 0
    for i in range(count):
        blocks.costly = blocks.costly or blocks.steps[i].costly
    for i in range(count if count >= AHEAD else 0):
        blocks.asking += blocks.steps[i].costly == blocks.costly
        for j in range(blocks.steps[i].count):
            if blocks.slots[blocks.steps[i].slots[j]].place != SCRATCH:
                gradspec_add_stream(&blocks.streams, blocks.base[blocks.steps[i].slots[j]], blocks.steps[i].strides[j])
    if blocks.streams.bytes * blocks.steps.size < FAR:
        blocks.streams.count = 0
    return 0


cdef int finish(Blocks* blocks, Executable executable, int first, int count) except -1:
    """Report errors and floating-point flags."""
    cdef int i
    if blocks.lacks:
        raise MemoryError
    for i in range(count):
        if blocks.flags[i]:
            complain(executable, first + i, blocks.flags[i])
    return 0


# Rows.

cdef struct Rows:
    Step* step
    char** base
    int flags               # floating-point flags of all threads


cdef void run_some_rows(void* context, npy_intp start, npy_intp stop) noexcept nogil:
    cdef Rows* rows = <Rows*> context
    cdef Step* step = rows.step
    cdef char* args[OPERANDS]
    cdef npy_intp row, size
    cdef int j
    fp_clear()
    for row in range(start, stop):
        for j in range(step.count):
            args[j] = rows.base[step.slots[j]] + row * step.jumps[j]
        size = step.size
        step.function(args, &size, step.strides, step.data)
    if fp_raised():
        gradspec_note(&rows.flags, fp_raised())
        fp_clear()


cdef int run_rows(Executable executable, Frame frame, int i) except -1:
    """Run a loop on each row of its operands; threads share the rows of a large one."""
    cdef Step* step = &executable.steps[i]
    cdef Rows rows = Rows(step, frame.base, 0)
    if step.rows * step.size < 2 * CHUNK:
        run_some_rows(&rows, 0, step.rows)
    else:
        with nogil:
            parallel(run_some_rows, &rows, step.rows, max(<npy_intp> 1, CHUNK // step.size))
    if rows.flags:
        complain(executable, i, rows.flags)
    return 0


# Sums.

cdef struct Sum:
    Blocks* blocks
    Step* step
    char* y
    npy_intp item           # bytes of a number
    npy_intp wide           # columns of `step.inner` that are added at a time
    npy_intp at_once        # rows that are computed at a time
    npy_intp pieces         # number of pieces of a long row
    npy_intp* starts        # starts of the pieces
    char* partial           # sums of the pieces


cdef inline void note(Sum* sum) noexcept nogil:
    if fp_raised():
        gradspec_note(&sum.blocks.flags[sum.blocks.count], fp_raised())
        fp_clear()


cdef inline char* made(Sum* sum, npy_intp start, npy_intp size, npy_intp ahead, char* scratch, npy_intp room) noexcept nogil:
    """Run the loops on some elements; returns the address of the summands."""
    note(sum)  # flags of the previous sum
    run_block(sum.blocks, start, size, ahead, scratch, room)
    return place_of(sum.blocks, sum.step.slots[0], start, sum.item, scratch, room)


cdef inline double added(Sum* sum, char* x, npy_intp size) noexcept nogil:
    if sum.item == sizeof(float):
        return pairwise_float(<float*> x, size)
    return pairwise_double(<double*> x, size)


cdef inline double both(Sum* sum, double a, double b) noexcept nogil:
    return <float> a + <float> b if sum.item == sizeof(float) else a + b


cdef inline void put(Sum* sum, char* y, npy_intp row, double value) noexcept nogil:
    if sum.item == sizeof(float):
        (<float*> y)[row] = 0 + <float> value
    else:
        (<double*> y)[row] = 0 + value


cdef void add_rows(void* context, npy_intp start, npy_intp stop) noexcept nogil:
    """Sum some short rows."""
    cdef Sum* sum = <Sum*> context
    cdef char[NEAR + LINE] near
    cdef void* owned
    cdef npy_intp length = sum.step.size, room = room_of(length * sum.at_once), count, i
    cdef char* scratch = scratch_for(sum.blocks, room, near, &owned)
    cdef char* x
    if scratch == NULL:
        return
    fp_clear()
    while start < stop:
        count = min(stop - start, sum.at_once)
        x = made(sum, start * length, count * length, min(stop - start - count, count) * length, scratch, room)
        for i in range(count):
            put(sum, sum.y, start + i, added(sum, x + i * length * sum.item, length))
        note(sum)
        start += count
    free(owned)


cdef double tree(Sum* sum, npy_intp start, npy_intp size, npy_intp ahead, char* scratch) noexcept nogil:
    """The sum of a part of a long row; `ahead` elements behind it are prefetched."""
    cdef npy_intp first
    cdef double value
    if size <= LEAF:
        return added(sum, made(sum, start, size, min(ahead, size), scratch, room_of(LEAF)), size)
    first = half(size)
    value = tree(sum, start, first, size - first, scratch)
    return both(sum, value, tree(sum, start + first, size - first, ahead, scratch))


cdef void add_pieces(void* context, npy_intp start, npy_intp stop) noexcept nogil:
    """Sum some pieces of long rows."""
    cdef Sum* sum = <Sum*> context
    cdef char[NEAR + LINE] near
    cdef void* owned
    cdef char* scratch = scratch_for(sum.blocks, room_of(LEAF), near, &owned)
    cdef npy_intp i, row, piece
    if scratch == NULL:
        return
    fp_clear()
    for i in range(start, stop):
        row, piece = i // sum.pieces, i % sum.pieces
        put(sum, sum.partial, i,
            tree(sum, row * sum.step.size + sum.starts[piece], sum.starts[piece + 1] - sum.starts[piece], 0, scratch))
        note(sum)
    free(owned)


cdef void add_upon(void* context, npy_intp start, npy_intp stop) noexcept nogil:
    """Add rows upon rows, some columns at a time."""
    cdef Sum* sum = <Sum*> context
    cdef char[NEAR + LINE] near
    cdef void* owned
    cdef npy_intp inner = sum.step.inner, parts = (inner + sum.wide - 1) // sum.wide, room = room_of(sum.wide * sum.at_once)
    cdef char* scratch = scratch_for(sum.blocks, room, near, &owned)
    cdef npy_intp[3] upon = [sum.item, sum.item, sum.item]
    cdef char* args[3]
    cdef char* x
    cdef npy_intp i, j, k, outer, column, wide, count, ahead
    if scratch == NULL:
        return
    fp_clear()
    for i in range(start, stop):
        outer, column = i // parts, i % parts * sum.wide
        wide = min(sum.wide, inner - column)
        args[0] = args[2] = sum.y + (outer * inner + column) * sum.item
        memset(args[0], 0, wide * sum.item)
        j = 0
        while j < sum.step.size:
            count = min(sum.step.size - j, sum.at_once)
            ahead = min(sum.step.size - j - count, count) * wide if wide == inner else 0
            x = made(sum, (outer * sum.step.size + j) * inner + column, count * wide, ahead, scratch, room)
            for k in range(count):
                args[1] = x + k * wide * sum.item
                sum.step.function(args, &wide, upon, sum.step.data)
            j += count
        note(sum)
    free(owned)


cdef int run_sum(Executable executable, Frame frame, int first, int loops, npy_intp room) except -1:
    """Run a sum together with the loops before it."""
    cdef Step* step = &executable.steps[first + loops]
    cdef npy_intp units, elements = step.rows * step.size * step.inner
    cdef void (*work)(void*, npy_intp, npy_intp) noexcept nogil
    cdef Blocks blocks
    cdef Sum sum
    begin(&blocks, executable, frame, first, loops, room)
    sum.blocks, sum.step, sum.y = &blocks, step, frame.base[step.slots[1]]
    sum.item = sizeof(float) if executable.slots[step.slots[0]].type_num == cnp.NPY_FLOAT32 else sizeof(double)
    sum.starts, sum.partial = NULL, NULL
    sum.wide, sum.at_once, sum.pieces = min(step.inner, <npy_intp> BLOCK), 1, 1
    try:
        if step.inner > 1:
            work, units = add_upon, step.rows * ((step.inner + sum.wide - 1) // sum.wide)
            if sum.wide == step.inner:
                sum.at_once = min(step.size, BLOCK // step.inner)
        elif step.size <= LEAF:
            work, units = add_rows, step.rows
            sum.at_once = min(step.rows, max(<npy_intp> 1, BLOCK // step.size))
        else:
            sum.starts = <npy_intp*> malloc((most_pieces(step.size) + 1) * sizeof(npy_intp))
            if sum.starts == NULL:
                raise MemoryError
            sum.pieces = cut(0, step.size, sum.starts)
            work, units = add_pieces, step.rows * sum.pieces
            sum.partial = <char*> malloc(units * sum.item)
            if sum.partial == NULL:
                raise MemoryError
        if elements * (loops + 1) < 2 * CHUNK:
            work(&sum, 0, units)
        else:
            with nogil:
                parallel(work, &sum, units, max(sum.at_once, CHUNK * units // elements // (loops + 1)))
        if sum.partial != NULL:
            join[sum.item == sizeof(double)](sum.partial, sum.y, step.rows, step.size, sum.pieces, 1)
            note(&sum)
        if step.mean:
            divide(&sum, step.rows * step.inner)
        finish(&blocks, executable, first, loops + 1)
    finally:
        free(blocks.flags)
        free(sum.starts)
        free(sum.partial)
    return 0


cdef void divide(Sum* sum, npy_intp count) noexcept nogil:
    """Turn sums into means."""
    cdef npy_intp i
    for i in range(count):
        if sum.item == sizeof(float):
            (<float*> sum.y)[i] = <float> ((<float*> sum.y)[i] / <double> sum.step.size)
        else:
            (<double*> sum.y)[i] /= <double> sum.step.size
