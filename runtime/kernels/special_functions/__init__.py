"""Special functions and their derivatives in every argument."""
