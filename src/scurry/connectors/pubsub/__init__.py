"""Google Pub/Sub: subscriptions, whose messages are acknowledged, and topics."""
