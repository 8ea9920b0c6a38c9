"""Truncated power series as single tensors: what `jet` and `laplacian` make of operators and of passes."""
