"""The sink to files: buckets, part files, their commit and compaction."""
