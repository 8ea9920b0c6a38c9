"""Many elements to one along axes, running reductions and orders."""
