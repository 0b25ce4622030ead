"""Materialized tables: their definitions, the statements on them, and their refreshing."""
