"""jet and laplacian: tensors that represent a truncated power series, and the rules for operators and passes on them."""
