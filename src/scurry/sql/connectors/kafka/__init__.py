"""The connectors `kafka` and `upsert-kafka`: tables of Kafka's topics."""
