"""Reductions along axes, running reductions, and sorting."""
