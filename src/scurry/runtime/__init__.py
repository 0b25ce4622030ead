"""The operators and what they stand on: keyed state, timers, watermarks. Pure Python; knows nothing of Spark."""
