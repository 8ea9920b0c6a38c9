"""Backward passes: ready nodes, the delivery of gradients, and custom Functions with their own backward."""
