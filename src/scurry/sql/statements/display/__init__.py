"""The display of results: texts of values, and tables."""
