"""Functions of one element and its slopes."""
