"""Avro: schemas, and conversion of their values."""
