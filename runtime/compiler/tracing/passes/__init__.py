"""Passes over a trace: each removes or shares instructions."""
