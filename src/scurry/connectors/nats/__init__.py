"""NATS JetStream: streams of messages, which have sequence numbers."""
