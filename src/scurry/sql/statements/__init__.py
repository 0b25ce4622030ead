"""Execution of statements: definitions change catalogs, SHOW and DESCRIBE list them, queries run jobs."""
