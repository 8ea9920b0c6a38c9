"""Native: a recording as C, for machines without Python."""
