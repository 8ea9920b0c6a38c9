"""Record: a call runs eagerly once, and its operators and the Python state that it read are written down."""
