"""Saved values of nodes, and the effect of views and writes on them."""
