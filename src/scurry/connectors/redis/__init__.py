"""Redis: streams as queues of messages, and keys as rows of tables."""
