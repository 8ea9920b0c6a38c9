"""Sparsity detection: the patterns of Jacobians and Hessians, their colouring, and the matrices from few products."""
