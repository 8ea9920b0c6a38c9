"""What is made of it: the text of generated/.  Knows Cython, derives nothing."""
