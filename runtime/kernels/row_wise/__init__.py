"""Functions of whole rows: softmax, normalisation, distances, moments and classification losses."""
