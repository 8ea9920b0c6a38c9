"""Guards: is the Python state, and the aliasing of the inputs, what it was when a call was recorded?"""
