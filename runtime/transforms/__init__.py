"""Function transforms by kinds of tensors: batches for `vmap`, power series for `jet`."""
