"""Avro: schemas, and values of them."""
