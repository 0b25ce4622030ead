"""The `jdbc` connector: tables of PostgreSQL and SQLite databases."""
