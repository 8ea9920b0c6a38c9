"""Loops over large arrays on several threads.

Manages the threads.  They start with the first loop that is large enough, poll for the next one for 20 microseconds, and then
sleep.  A long loop wakes them, and so do short loops that follow each other closely.  Each thread begins with a fixed share, the
same for all arrays of one size, so that an array stays in the cache of the core that computed it.  A result does not depend on the
number of threads: each chunk is computed independently.  If the threads are busy with a loop of another thread, or wake too late,
the loop runs on the calling thread.  A forked process starts its own.
"""

import os

cdef extern from "gradspec/kernels/loops/threads.h":
    int GRADSPEC_MOST_THREADS
    ctypedef struct gradspec_part:
        unsigned long thread
        int worker
        npy_intp taken
        long long began, ended
    void gradspec_watch(bint, unsigned long long*) noexcept
    bint gradspec_next_part(unsigned long long*, unsigned long long*, gradspec_part*) noexcept
    bint gradspec_begin() noexcept
    void gradspec_parallel(Work, void*, npy_intp, npy_intp, int) noexcept nogil


cdef int threads = 1


cdef void parallel(Work work, void* context, npy_intp size, npy_intp chunk) noexcept nogil:
    """Call `work` on all of `size` elements, in chunks of `chunk`, on at most the permitted number of threads."""
    gradspec_parallel(work, context, size, chunk, threads)


cdef void watch_parts(bint on, uint64_t* place) noexcept:
    """Start or stop recording the work of workers."""
    gradspec_watch(on, <unsigned long long*> place)


cdef bint next_part(uint64_t* place, uint64_t* lost, Part* part) noexcept:
    """The next recorded part of a loop that this thread called; False after the last one."""
    cdef gradspec_part found
    if not gradspec_next_part(<unsigned long long*> place, <unsigned long long*> lost, &found):
        return False
    part.thread, part.worker, part.elements = found.thread, found.worker, found.taken
    part.began, part.ended = found.began, found.ended
    return True


def get_num_threads():
    """The largest number of threads for a loop over a large array."""
    return threads


def set_num_threads(int number):
    """Set the largest number of threads for a loop over a large array.

    Results do not depend on it.  BLAS, which computes large matrix products, has threads and settings of its own.

    Parameters
    ----------
    number : int
        1 to 64.  The initial value is `OMP_NUM_THREADS` if that is set, else the number of cores that the process may use.
    """
    global threads
    if not 1 <= number <= GRADSPEC_MOST_THREADS:
        raise ValueError(f"set_num_threads: number must be from 1 to {GRADSPEC_MOST_THREADS}, got {number}")
    threads = number


def _first_number():
    try:
        number = int(os.environ["OMP_NUM_THREADS"].split(",")[0])
    except (KeyError, ValueError):
        number = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(max(number, 1), GRADSPEC_MOST_THREADS)


def _begin():
    if not gradspec_begin():
        raise MemoryError("no memory for a lock")


_begin()
set_num_threads(_first_number())
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin)
