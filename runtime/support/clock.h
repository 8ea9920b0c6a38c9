/* A monotonic clock, in nanoseconds. */
#ifndef GRADSPEC_CLOCK_H
#define GRADSPEC_CLOCK_H

#include <Python.h>

#if defined(_WIN32)
#include <windows.h>
static inline long long gradspec_now(void) {
    LARGE_INTEGER count, second;
    QueryPerformanceCounter(&count);
    QueryPerformanceFrequency(&second);
    return count.QuadPart / second.QuadPart * 1000000000 + count.QuadPart % second.QuadPart * 1000000000 / second.QuadPart;
}
#else
#include <time.h>
static inline long long gradspec_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long) now.tv_sec * 1000000000 + now.tv_nsec;
}
#endif

#endif
