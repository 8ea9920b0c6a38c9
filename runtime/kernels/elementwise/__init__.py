"""Elementwise functions and their slopes."""
