"""Change data capture: the rows of tables in databases, then their changes, read from the database's own log."""
