"""RabbitMQ: queues that are acknowledged, and streams, which have offsets."""
