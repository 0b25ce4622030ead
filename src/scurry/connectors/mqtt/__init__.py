"""MQTT: topics of a broker, whose messages are acknowledged."""
