"""Lowering: turn a program of operators into low-level instructions on buffers and fused loops."""
