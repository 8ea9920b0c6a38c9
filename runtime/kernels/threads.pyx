"""Loops over large arrays on several threads.

Owns the threads, which are started when a loop is first worth it and sleep between loops.  What a loop computes does not
depend on their number: each chunk is computed as it would be alone.  A loop that finds them at work for another thread of
the program runs where it is.  A process that was forked starts threads of its own.
"""

import os

cdef extern from *:
    """
    #include <pythread.h>

    typedef void (*gradspec_work)(void *, npy_intp, npy_intp);
    enum { GRADSPEC_MOST_THREADS = 64 };
    typedef struct { PyThread_type_lock start, done; } gradspec_worker;

    static struct {
        PyThread_type_lock busy, counter;  /* one loop at a time; who takes which chunk */
        gradspec_worker workers[GRADSPEC_MOST_THREADS];
        int count;                         /* of workers that were started */
        gradspec_work work;
        void *context;
        npy_intp size, chunk, next;
    } gradspec_pool;

    static void gradspec_take_chunks(void) {
        for (;;) {
            npy_intp start, stop;
            PyThread_acquire_lock(gradspec_pool.counter, WAIT_LOCK);
            start = gradspec_pool.next;
            gradspec_pool.next = stop = start + gradspec_pool.chunk;
            PyThread_release_lock(gradspec_pool.counter);
            if (start >= gradspec_pool.size) return;
            gradspec_pool.work(gradspec_pool.context, start, stop < gradspec_pool.size ? stop : gradspec_pool.size);
        }
    }

    static void gradspec_serve(void *worker) {
        for (;;) {
            PyThread_acquire_lock(((gradspec_worker *) worker)->start, WAIT_LOCK);
            gradspec_take_chunks();
            PyThread_release_lock(((gradspec_worker *) worker)->done);
        }
    }

    /* No workers; with the locks of a new process. */
    static int gradspec_begin(void) {
        gradspec_pool.count = 0;
        gradspec_pool.busy = PyThread_allocate_lock();
        gradspec_pool.counter = PyThread_allocate_lock();
        return gradspec_pool.busy != NULL && gradspec_pool.counter != NULL;
    }

    /* One more worker; 0 where the system has none to give. */
    static int gradspec_hire(void) {
        gradspec_worker *worker = &gradspec_pool.workers[gradspec_pool.count];
        worker->start = PyThread_allocate_lock();
        worker->done = PyThread_allocate_lock();
        if (!worker->start || !worker->done) return 0;
        PyThread_acquire_lock(worker->start, WAIT_LOCK);
        PyThread_acquire_lock(worker->done, WAIT_LOCK);
        if (PyThread_start_new_thread(gradspec_serve, worker) == PYTHREAD_INVALID_THREAD_ID) return 0;
        gradspec_pool.count++;
        return 1;
    }

    static void gradspec_parallel(gradspec_work work, void *context, npy_intp size, npy_intp chunk, int threads) {
        int i, workers = threads - 1;
        if (workers > (size - 1) / chunk) workers = (int) ((size - 1) / chunk);
        if (workers <= 0 || !PyThread_acquire_lock(gradspec_pool.busy, NOWAIT_LOCK)) {
            work(context, 0, size);
            return;
        }
        while (gradspec_pool.count < workers && gradspec_hire()) {}
        if (workers > gradspec_pool.count) workers = gradspec_pool.count;
        gradspec_pool.work = work; gradspec_pool.context = context;
        gradspec_pool.size = size; gradspec_pool.chunk = chunk; gradspec_pool.next = 0;
        for (i = 0; i < workers; i++) PyThread_release_lock(gradspec_pool.workers[i].start);
        gradspec_take_chunks();
        for (i = 0; i < workers; i++) PyThread_acquire_lock(gradspec_pool.workers[i].done, WAIT_LOCK);
        PyThread_release_lock(gradspec_pool.busy);
    }
    """
    int GRADSPEC_MOST_THREADS
    bint gradspec_begin() noexcept
    void gradspec_parallel(Work, void*, npy_intp, npy_intp, int) noexcept nogil


cdef int threads = 1


cdef void parallel(Work work, void* context, npy_intp size, npy_intp chunk) noexcept nogil:
    """Call `work` on all of `size` elements, `chunk` at a time, on as many threads as there may be."""
    gradspec_parallel(work, context, size, chunk, threads)


def get_num_threads():
    """On how many threads a loop over a large array may run."""
    return threads


def set_num_threads(int number):
    """Say on how many threads a loop over a large array may run.

    Results do not depend on it.  BLAS, which computes matrix products, has threads and settings of its own.

    Parameters
    ----------
    number : int
        1 to 64.  At first it is `OMP_NUM_THREADS` where that is set, else the number of cores that the process may use.
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
