"""Tables of messages, shared by the connectors of all systems of messages."""
