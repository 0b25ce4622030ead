"""Cassandra: statements for records, rows by ranges of tokens and by key."""
