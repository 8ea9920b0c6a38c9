"""Methods and protocols of tensors: PyTorch's names, NumPy's protocols, dual numbers."""
