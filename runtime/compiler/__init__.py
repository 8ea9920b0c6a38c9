"""Compiler: run a recorded call again without Python, graph and allocation."""
