"""Verify the spec: run formulas on NumPy arrays and compare derivatives with finite differences.  Needs no build."""
