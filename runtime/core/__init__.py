"""Tensors, nodes and the modes of a thread: what a graph is made of while it is recorded."""
