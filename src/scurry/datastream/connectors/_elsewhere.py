"""The connectors of PyFlink that scurry does not have, and their replacements."""

from __future__ import annotations

_SPARK_DOCS = "docs/connectors/spark.md"
_OWN = "write one of your own (docs/connectors/user-defined.md)"
_INSTEAD = {
    "cassandra": "write with stream.to_spark('org.apache.spark.sql.cassandra', ...) and the Spark Cassandra Connector "
    f"({_SPARK_DOCS}), or {_OWN}",
    "dynamic_kafka": "use a KafkaSource for each cluster and union the streams (docs/connectors/kafka.md)",
    "elasticsearch": f"write with stream.to_spark('es', ...) and elasticsearch-spark ({_SPARK_DOCS}), or {_OWN}",
    "kinesis": "use env.from_spark(...) and stream.to_spark('aws-kinesis', ...) with spark-sql-kinesis-connector "
    f"({_SPARK_DOCS}), or {_OWN}",
    "pulsar": "use env.from_spark(...) and stream.to_spark('pulsar', ...) with pulsar-spark-connector "
    f"({_SPARK_DOCS}), or {_OWN}",
    "rabbitmq": f"{_OWN} around a client such as pika",
}
_CONNECTOR_OF = {
    **dict.fromkeys(("DynamicKafkaSource", "DynamicKafkaSourceBuilder"), "dynamic_kafka"),
    **dict.fromkeys(("PulsarSource", "PulsarSourceBuilder", "StartCursor", "StopCursor"), "pulsar"),
    **dict.fromkeys(("RMQConnectionConfig", "RMQSink", "RMQSource"), "rabbitmq"),
}


def what_to_use_instead(name: str) -> str | None:
    """Return the replacement for a connector or for one of its classes.

    Args:
        name: The module's name below `datastream.connectors`, or the name of a class that PyFlink offers there.

    Returns:
        The advice as a sentence, None if PyFlink has no such connector or scurry has it, too.
    """
    connector = _CONNECTOR_OF.get(name, name)
    instead = _INSTEAD.get(connector)
    return instead and f"scurry has no {connector} connector: {instead}"
