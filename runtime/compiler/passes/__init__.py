"""Passes: each rewrites a recorded program; `pipeline` has them in their order."""
