"""Kafka: records from and to topics, through librdkafka (the extra `scurry[kafka]`)."""
