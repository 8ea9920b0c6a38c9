"""Call NumPy's inner loops directly: a single loop, or a straight-line program of loops."""
