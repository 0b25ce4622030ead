"""Formats of tables: what `'format' = '...'` in WITH means, for files and for messages."""
