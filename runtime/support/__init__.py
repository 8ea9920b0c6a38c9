"""Base layer: NumPy's C interface, errors, late binding of operators, the loading of modules."""
