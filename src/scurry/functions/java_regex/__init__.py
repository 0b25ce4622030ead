"""Java's regular expressions, as Python's and as Arrow's."""
