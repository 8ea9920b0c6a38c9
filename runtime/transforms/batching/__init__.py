"""Batches as single tensors: what `vmap` makes of operators, of passes and of functions with derivatives of their own."""
