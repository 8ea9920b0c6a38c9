"""Copies of a loop for each width of vectors, among which the processor chooses.

Owns which compilers and loaders can: GRADSPEC_WIDE stands before the functions in C that are to be copied.
"""

cdef extern from *:
    """
    #ifndef GRADSPEC_WIDE
    #if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__)
    #define GRADSPEC_WIDE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
    #define GRADSPEC_COPIES 3
    #else
    #define GRADSPEC_WIDE
    #define GRADSPEC_COPIES 1
    #endif
    #endif
    """
    int GRADSPEC_COPIES
