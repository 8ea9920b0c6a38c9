"""The generator: derivatives.yaml in, generated/ out."""
