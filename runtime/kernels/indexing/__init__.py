"""Read, write and accumulate elements at indices."""
