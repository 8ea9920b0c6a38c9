"""Files: save, check, load and list programs, and export them as Python."""
