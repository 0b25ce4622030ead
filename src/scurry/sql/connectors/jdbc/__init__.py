"""The `jdbc` connector: tables of PostgreSQL, MySQL and SQLite databases."""
