"""Tables of messages: what the connectors of all systems of messages share."""
