"""Execute: guards decide whether a program fits a call; the interpreter runs it."""
