"""Lowering: a program of operators becomes low-level instructions on buffers and fused loops."""
