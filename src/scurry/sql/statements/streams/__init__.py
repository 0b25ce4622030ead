"""Conversion of streams to tables, and of tables to streams."""
