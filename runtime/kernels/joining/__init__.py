"""Join, stack, split and pad arrays."""
