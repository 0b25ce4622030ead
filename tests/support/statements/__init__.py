"""Transcripts of statements: their files, and how answers are compared with those that Flink gave."""
