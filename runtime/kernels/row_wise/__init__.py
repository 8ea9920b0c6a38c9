"""Functions of whole rows: softmax, normalisers, losses of classes."""
