"""Support for loops over arrays: memory, threads, floating-point flags, and strides and axes."""
