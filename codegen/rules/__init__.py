"""Derive from the parsed spec: resolved formulas, derivative rules and errors.  Works on the model, not on text."""
