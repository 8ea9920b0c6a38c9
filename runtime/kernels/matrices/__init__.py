"""Products, factors, systems and triangles of matrices."""
