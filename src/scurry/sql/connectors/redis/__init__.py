"""Tables of Redis: streams of messages, and keys with rows."""
