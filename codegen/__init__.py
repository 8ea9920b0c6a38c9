"""The generator: reads derivatives.yaml and writes generated/."""
