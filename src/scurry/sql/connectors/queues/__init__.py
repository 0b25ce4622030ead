"""Tables of queues: the connectors of message systems other than Kafka."""
