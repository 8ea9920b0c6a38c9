"""NumPy's inner loops called directly, one alone or a straight line of them."""
