"""A log of messages in a directory: topics with partitions and offsets, as Kafka has, without a broker."""
