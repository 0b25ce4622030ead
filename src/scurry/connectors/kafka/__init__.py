"""Kafka: reads and writes records of topics through librdkafka (the extra `scurry[kafka]`)."""
