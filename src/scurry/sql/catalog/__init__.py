"""Catalogs: databases, tables, views and functions, and the schemas and options of tables."""
