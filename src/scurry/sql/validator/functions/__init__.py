"""Functions of users and functions that return tables."""
