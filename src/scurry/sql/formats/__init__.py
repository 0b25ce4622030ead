"""Formats of tables: the formats of `'format' = '...'` in WITH, for files and for messages."""
