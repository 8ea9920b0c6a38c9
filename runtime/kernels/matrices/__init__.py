"""Matrix products, factorisations, linear systems and triangles."""
