"""What every loop over arrays needs: memory, threads, flags, and where the axes of an array lie."""
