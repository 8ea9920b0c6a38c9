"""Transforms of functions by a kind of tensor: batches for `vmap`, power series for `jet`."""
