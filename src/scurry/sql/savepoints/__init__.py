"""Savepoints as tables: the connector `savepoint`, and the function `savepoint_metadata` of the module `state`."""
