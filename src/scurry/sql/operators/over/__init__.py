"""OVER in STREAMING: each row with aggregates over the rows before it."""
