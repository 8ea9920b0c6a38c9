"""Specializations: a recording that is ready to run, with its backward pass."""
