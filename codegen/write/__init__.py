"""Write the generated code: render the text of generated/ from the analysed spec.  Knows Cython, derives nothing."""
