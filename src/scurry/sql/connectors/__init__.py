"""Connectors as tables: what `'connector' = '...'` in WITH means."""
