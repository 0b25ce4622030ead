"""Conversion of columns to the Python values that functions of users get, and of their results to columns."""
