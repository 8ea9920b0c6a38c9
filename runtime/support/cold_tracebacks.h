/* Generated C is read for its usual way: what leads to a traceback is laid apart from it, and compiled for size. */
#ifndef GRADSPEC_COLD_TRACEBACKS_H
#define GRADSPEC_COLD_TRACEBACKS_H
static void __Pyx_AddTraceback(const char *, int, int, const char *) __attribute__((cold, unused));
#endif
