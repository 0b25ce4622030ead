"""Catalogs: which databases, tables, views and functions there are, and what tables are made of."""
