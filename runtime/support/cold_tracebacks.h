/* Place the error paths of generated C, which lead to a traceback, apart from the usual path, compiled for size. */
#ifndef GRADSPEC_COLD_TRACEBACKS_H
#define GRADSPEC_COLD_TRACEBACKS_H
static void __Pyx_AddTraceback(const char *, int, int, const char *) __attribute__((cold, unused));
#endif
