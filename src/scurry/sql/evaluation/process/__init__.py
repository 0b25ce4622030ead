"""Process table functions: their calls for rows and timers, and the state of partitions."""
