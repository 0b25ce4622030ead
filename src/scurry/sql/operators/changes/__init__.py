"""Operators that change which kinds of changes rows have."""
