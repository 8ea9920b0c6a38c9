"""Kernels on arrays."""
