"""Joins in STREAMING."""
