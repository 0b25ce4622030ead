"""Statements that list: SHOW and DESCRIBE."""
