"""Lake tables: Delta Lake and Apache Iceberg."""
