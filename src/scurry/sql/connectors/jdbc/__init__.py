"""The `jdbc` connector: tables of PostgreSQL, MySQL, SQLite and DuckDB databases."""
