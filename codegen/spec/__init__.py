"""What is written: the model of the spec and the grammars that read it.  Knows YAML and positions, no mathematics."""
