"""How much sources read in a micro-batch: by the time that batches take, and by event time."""
