"""Execute: check guards to decide whether a program fits a call, and run the program."""
