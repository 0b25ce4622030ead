"""Connectors as tables: the meaning of `'connector' = '...'` in WITH."""
