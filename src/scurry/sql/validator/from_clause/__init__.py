"""Validation of FROM: items of rows, tables, joins, and tables of windows."""
