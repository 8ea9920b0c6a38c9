"""What nodes keep of the arrays that they saw, and what views and writes mean for it."""
