"""What a tensor answers to: PyTorch's names, NumPy's protocols, dual numbers."""
