"""Files: programs are saved, checked and loaded, listed, and exported as Python."""
