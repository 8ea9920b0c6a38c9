"""Record: run a call eagerly once, and record its operators and the Python state that it read."""
