"""Rows that an operator keeps in columns, found by the hash of their key."""
