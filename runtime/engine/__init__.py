"""Backward passes: what is ready, what arrives where, and functions with a backward of their own."""
