"""Java's regular expressions over columns."""
