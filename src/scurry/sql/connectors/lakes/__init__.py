"""The connectors `delta` and `iceberg`: lake tables."""
