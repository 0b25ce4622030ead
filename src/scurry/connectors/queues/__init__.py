"""The shared part of the connectors of queues."""
