"""Topics of Apache Pulsar, read by message ids and written with sequence numbers."""
