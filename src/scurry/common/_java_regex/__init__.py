"""Java's regular expressions, as Python's."""
