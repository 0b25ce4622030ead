"""User-defined functions and functions that return tables."""
