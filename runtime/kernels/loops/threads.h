/* Threads that process chunks of a loop over a large array. */
#ifndef GRADSPEC_THREADS_H
#define GRADSPEC_THREADS_H

#include <Python.h>
#include <numpy/npy_common.h>
#include <pythread.h>
#include "gradspec/support/clock.h"

#if defined(__GNUC__)
#define GRADSPEC_LOAD(x) __atomic_load_n(x, __ATOMIC_ACQUIRE)
#define GRADSPEC_STORE(x, value) __atomic_store_n(x, value, __ATOMIC_RELEASE)
#define GRADSPEC_SWAP(x, value) __atomic_exchange_n(x, value, __ATOMIC_ACQ_REL)
#define GRADSPEC_ADD(x, value) __atomic_fetch_add(x, value, __ATOMIC_RELAXED)
#define GRADSPEC_LINE __attribute__((aligned(64)))
static inline int gradspec_change(int *x, int from, int to) {
    return __atomic_compare_exchange_n(x, &from, to, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}
#else /* Microsoft's compiler */
#include <windows.h>
#define GRADSPEC_LOAD(x) InterlockedOr((volatile LONG *)(x), 0)
#define GRADSPEC_STORE(x, value) InterlockedExchange((volatile LONG *)(x), value)
#define GRADSPEC_SWAP(x, value) InterlockedExchange((volatile LONG *)(x), value)
#define GRADSPEC_ADD(x, value) InterlockedExchangeAdd64((volatile LONG64 *)(x), value)
#define GRADSPEC_LINE __declspec(align(64))
static inline int gradspec_change(int *x, int from, int to) {
    return InterlockedCompareExchange((volatile LONG *)x, to, from) == from;
}
#endif

/* Linux may put a woken thread on the core that woke it, where it waits for milliseconds while another core is idle.  So a worker
 * is woken with the caller's cores but the one in use, and takes back the others before it sleeps.  A refusal changes nothing. */
#if defined(__linux__)
#include <sched.h>
#endif
#if defined(__linux__) && defined(CPU_SETSIZE)
#include <sys/syscall.h>
#include <unistd.h>
typedef cpu_set_t gradspec_cores;
typedef pid_t gradspec_thread;
#define GRADSPEC_THIS_THREAD() ((pid_t) syscall(SYS_gettid))
static inline void gradspec_set_apart(gradspec_thread thread, gradspec_cores *cores) {
    cpu_set_t others;
    int here = sched_getcpu();
    if (sched_getaffinity(0, sizeof(*cores), cores)) { CPU_ZERO(cores); return; }
    others = *cores;
    if (here >= 0 && here < CPU_SETSIZE) CPU_CLR(here, &others);
    if (CPU_COUNT(&others)) sched_setaffinity(thread, sizeof(others), &others);
}
static inline void gradspec_take_back(const gradspec_cores *cores) {
    if (CPU_COUNT(cores)) sched_setaffinity(0, sizeof(*cores), cores);
}
#else
typedef char gradspec_cores, gradspec_thread;
#define GRADSPEC_THIS_THREAD() 0
#define gradspec_set_apart(thread, cores) ((void) (thread), (void) (cores))
#define gradspec_take_back(cores) ((void) (cores))
#endif

#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
#define GRADSPEC_PAUSE() __builtin_ia32_pause()
#elif defined(__GNUC__) && defined(__aarch64__)
#define GRADSPEC_PAUSE() __asm__ volatile("isb")
#elif defined(_MSC_VER)
#define GRADSPEC_PAUSE() YieldProcessor()
#else
#define GRADSPEC_PAUSE() ((void) 0)
#endif

typedef void (*gradspec_work)(void *, npy_intp, npy_intp);
enum { GRADSPEC_MOST_THREADS = 64, GRADSPEC_WORTH = 4 /* chunks */ };
/* How long to poll for another thread.  Waking one takes longer than a loop over a hundred thousand elements; a thread of BLAS may
 * wait for the core meanwhile. */
enum { GRADSPEC_PATIENCE = 20000 /* nanoseconds */ };
/* Waking a thread takes its caller up to thirty microseconds.  It is worth them for a long loop, or when the loops that did without
 * follow each other closely and were together as long. */
enum { GRADSPEC_WAKING = 8 /* chunks */, GRADSPEC_CLOSELY = 1000000 /* nanoseconds */ };
enum { AWAKE, ASLEEP, CALLED, BUSY, WAITED_FOR };   /* state of a worker: from CALLED on it has work */
/* What a thread needs to begin.  It is in one line of the cache, because each line takes a tenth of a microsecond to arrive. */
typedef struct {
    int state, threads;
    gradspec_work work;
    void *context;
    npy_intp chunk, next, stop;                  /* elements of its share that nobody has taken */
    char apart[128 - 6 * sizeof(npy_intp)];
} gradspec_share;
typedef struct {
    PyThread_type_lock start, done;
    npy_intp taken;                              /* elements of the last loop */
    long long began, ended;                      /* of a loop that is not written down yet, by the clock; else 0 */
    unsigned long ident;
    gradspec_thread thread;
    gradspec_cores cores;                        /* of its last wakening; empty if they are not known */
    char apart[64];
} gradspec_worker;

static GRADSPEC_LINE gradspec_share gradspec_shares[GRADSPEC_MOST_THREADS]; /* the caller's first */
static struct {
    PyThread_type_lock busy;                     /* one loop at a time */
    gradspec_worker workers[GRADSPEC_MOST_THREADS]; /* of each share, so the first is nobody */
    int count;                                   /* number of workers started */
    npy_intp missed;                             /* number of chunks of the last loops that found a worker asleep */
    long long missed_at;                         /* when the last of them began, by the clock */
    int watched;                                 /* number of active profiles */
} gradspec_pool;

/* The recent work of workers, while profiles are active: a ring buffer, written by the callers of loops and read by profiles. */
enum { GRADSPEC_PARTS = 1024 };
typedef struct { unsigned long caller, thread; int worker; npy_intp taken; long long began, ended; } gradspec_part;
static struct { PyThread_type_lock lock; volatile unsigned long long count; gradspec_part parts[GRADSPEC_PARTS]; } gradspec_log;

/* Equal shares, so that the next loop over an array finds it in the cache of the same core; then the rest of other shares. */
static void gradspec_share_out(gradspec_work work, void *context, npy_intp size, npy_intp chunk, int threads) {
    npy_intp chunks = (size + chunk - 1) / chunk, begin = 0;
    int i;
    for (i = 0; i < threads; i++) {
        gradspec_share *share = &gradspec_shares[i];
        share->work = work; share->context = context; share->chunk = chunk; share->threads = threads;
        share->next = begin;
        begin = i + 1 == threads ? size : chunks * (i + 1) / threads * chunk;
        share->stop = begin;
    }
}

static npy_intp gradspec_take_chunks(int own) {
    const gradspec_share mine = gradspec_shares[own];
    npy_intp start, stop, taken = 0;
    int i;
    for (i = 0; i < mine.threads; i++) {
        gradspec_share *share = &gradspec_shares[(own + i) % mine.threads];
        stop = share->stop;
        while ((start = GRADSPEC_ADD(&share->next, mine.chunk)) < stop) {
            npy_intp end = stop - start < mine.chunk ? stop : start + mine.chunk;
            mine.work(mine.context, start, end);
            taken += end - start;
        }
    }
    return taken;
}

/* Poll until a worker has work, or has none; 0 if that takes too long.  The thread keeps its core meanwhile: Linux may move a thread
 * that yields to the core of its caller. */
static int gradspec_poll(int *state, int works) {
    long long began = gradspec_now();
    for (int i = 1; (GRADSPEC_LOAD(state) >= CALLED) != works; i++) {
        GRADSPEC_PAUSE();
        if (i % 16 == 0 && gradspec_now() - began > GRADSPEC_PATIENCE) return 0;
    }
    return 1;
}

static void gradspec_serve(void *argument) {
    gradspec_worker *worker = (gradspec_worker *) argument;
    int own = (int) (worker - gradspec_pool.workers), *state = &gradspec_shares[own].state, watched;
    worker->ident = PyThread_get_thread_ident();
    worker->thread = GRADSPEC_THIS_THREAD(); /* read after the state of this worker was */
    for (;;) {
        gradspec_poll(state, 1);
        if (!gradspec_change(state, CALLED, BUSY)) {
            gradspec_take_back(&worker->cores);
            if (gradspec_change(state, AWAKE, ASLEEP)) PyThread_acquire_lock(worker->start, WAIT_LOCK);
            continue;
        }
        watched = GRADSPEC_LOAD(&gradspec_pool.watched);
        if (watched) worker->began = gradspec_now();
        worker->taken = gradspec_take_chunks(own);
        if (watched) worker->ended = gradspec_now();
        if (GRADSPEC_SWAP(state, AWAKE) == WAITED_FOR) PyThread_release_lock(worker->done);
    }
}

/* Whether to wake a worker for a loop of so many chunks. */
static int gradspec_worth_waking(npy_intp chunks) {
    long long now;
    if (chunks >= GRADSPEC_WAKING) return 1;
    now = gradspec_now();
    if (now - gradspec_pool.missed_at > GRADSPEC_CLOSELY) gradspec_pool.missed = 0;
    gradspec_pool.missed_at = now;
    gradspec_pool.missed += chunks;
    return gradspec_pool.missed >= GRADSPEC_WAKING;
}

/* Give a worker its share, if it is awake or may be woken. */
static void gradspec_call(int number, int wake) {
    gradspec_worker *worker = &gradspec_pool.workers[number];
    int *state = &gradspec_shares[number].state;
    if (gradspec_change(state, AWAKE, CALLED) || !wake) return;
    GRADSPEC_STORE(state, CALLED);
    gradspec_set_apart(worker->thread, &worker->cores);
    PyThread_release_lock(worker->start);
}

/* Wait until a worker has no work; a worker that has not begun is called off. */
static void gradspec_wait_for(int number) {
    int *state = &gradspec_shares[number].state;
    if (GRADSPEC_LOAD(state) < CALLED || gradspec_change(state, CALLED, AWAKE) || gradspec_poll(state, 0)) return;
    if (gradspec_change(state, BUSY, WAITED_FOR)) PyThread_acquire_lock(gradspec_pool.workers[number].done, WAIT_LOCK);
}

/* Reset to no workers and no profiles, with the locks of a new process. */
static int gradspec_begin(void) {
    gradspec_pool.count = gradspec_pool.watched = 0;
    gradspec_pool.busy = PyThread_allocate_lock();
    gradspec_log.lock = PyThread_allocate_lock();
    return gradspec_pool.busy != NULL && gradspec_log.lock != NULL;
}

/* Start or stop recording the work of workers, from `place` on; a forked process does not record. */
static void gradspec_watch(int on, unsigned long long *place) {
    if (on) *place = gradspec_log.count;
    for (int i = 0; on && i < GRADSPEC_MOST_THREADS; i++) gradspec_pool.workers[i].began = 0;
    gradspec_pool.watched += on ? 1 : gradspec_pool.watched > 0 ? -1 : 0;
}

static void gradspec_write_down(int number) {
    gradspec_worker *worker = &gradspec_pool.workers[number];
    gradspec_part *part;
    if (!worker->began || !worker->taken) return;
    PyThread_acquire_lock(gradspec_log.lock, WAIT_LOCK);
    part = &gradspec_log.parts[gradspec_log.count % GRADSPEC_PARTS];
    part->caller = PyThread_get_thread_ident(); part->thread = worker->ident; part->worker = number;
    part->taken = worker->taken; part->began = worker->began; part->ended = worker->ended;
    gradspec_log.count++;
    PyThread_release_lock(gradspec_log.lock);
    worker->began = 0;
}

/* The next part, from `place` on, of a loop that this thread called; 0 after the last part.  `lost` counts overwritten parts. */
static int gradspec_next_part(unsigned long long *place, unsigned long long *lost, gradspec_part *part) {
    unsigned long caller = PyThread_get_thread_ident();
    int found = 0;
    if (*place == gradspec_log.count) return 0; /* only this thread adds its own parts */
    PyThread_acquire_lock(gradspec_log.lock, WAIT_LOCK);
    if (gradspec_log.count - *place > GRADSPEC_PARTS) {
        *lost += gradspec_log.count - GRADSPEC_PARTS - *place;
        *place = gradspec_log.count - GRADSPEC_PARTS;
    }
    while (!found && *place < gradspec_log.count) {
        *part = gradspec_log.parts[(*place)++ % GRADSPEC_PARTS];
        found = part->caller == caller;
    }
    PyThread_release_lock(gradspec_log.lock);
    return found;
}

/* Start one more worker; 0 if the system refuses. */
static int gradspec_hire(void) {
    gradspec_worker *worker = &gradspec_pool.workers[gradspec_pool.count + 1];
    gradspec_shares[gradspec_pool.count + 1].state = AWAKE;
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
    int i, wake = 0, workers = threads - 1;
    /* The data that another core reads first is in this core's cache: a worker has to save more time than fetching it takes. */
    if (workers > size / chunk / GRADSPEC_WORTH) workers = (int) (size / chunk / GRADSPEC_WORTH);
    if (workers <= 0 || !PyThread_acquire_lock(gradspec_pool.busy, NOWAIT_LOCK)) {
        work(context, 0, size);
        return;
    }
    while (gradspec_pool.count < workers && gradspec_hire()) {}
    if (workers > gradspec_pool.count) workers = gradspec_pool.count;
    gradspec_share_out(work, context, size, chunk, workers + 1);
    for (i = 1; i <= workers; i++) wake |= GRADSPEC_LOAD(&gradspec_shares[i].state) == ASLEEP;
    wake = wake && gradspec_worth_waking(size / chunk);
    for (i = 1; i <= workers; i++) gradspec_call(i, wake);
    gradspec_take_chunks(0);
    for (i = 1; i <= workers; i++) gradspec_wait_for(i);
    for (i = 1; i <= workers && GRADSPEC_LOAD(&gradspec_pool.watched); i++) gradspec_write_down(i);
    PyThread_release_lock(gradspec_pool.busy);
}

#endif
