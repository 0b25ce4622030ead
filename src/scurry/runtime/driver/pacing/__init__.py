"""Size of a micro-batch: limits by the duration of batches, and by event time."""
