"""Compiler: a call that ran once runs again without Python, graph and allocation."""
