"""File formats: lines of text, one message per line, CSV, Parquet and ORC."""
