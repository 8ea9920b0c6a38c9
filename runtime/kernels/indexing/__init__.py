"""Elements read, written and added at indices."""
