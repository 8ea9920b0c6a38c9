"""What everything else stands on: NumPy's C interface, errors, late binding of operators, how modules are found."""
