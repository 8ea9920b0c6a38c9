"""Convolutions, pooling and grids."""
