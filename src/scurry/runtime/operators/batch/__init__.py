"""Operators of BATCH jobs whose time ends, where they are others than in STREAMING."""
