"""Databases and readers for tests of change data capture."""
