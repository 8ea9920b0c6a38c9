"""Passes: rewrite a recorded program; `pipeline` runs the passes in order."""
