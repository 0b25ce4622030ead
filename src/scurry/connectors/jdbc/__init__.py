"""Databases, accessed through Python's DB-API drivers by JDBC URLs."""
