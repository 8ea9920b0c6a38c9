"""Whether it is true: formulas run on NumPy arrays and compared with differences.  Nothing has to be built."""
