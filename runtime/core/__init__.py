"""Tensors, nodes and thread modes: the data structures that recording builds and reads."""
