"""Read the spec: the grammars, and the model that they produce.  Handles YAML and positions, no mathematics."""
