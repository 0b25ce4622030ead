"""Statements that define: CREATE, ALTER, DROP and USE."""
