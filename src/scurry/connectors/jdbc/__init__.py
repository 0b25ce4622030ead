"""Databases, reached through Python's DB-API drivers under JDBC's URLs."""
