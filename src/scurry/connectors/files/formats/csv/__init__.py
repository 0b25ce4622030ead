"""CSV files, read and written like Flink (Jackson)."""
