"""Files as sources and sinks: `source` and `sink` drive the formats (`text`, `csv_format`, `parquet`)."""
