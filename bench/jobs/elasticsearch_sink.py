"""Documents into Elasticsearch by ids; a PyFlink program that runs unmodified on both (see bench/elasticsearch.py).

elasticsearch_sink.py HOST INDEX DOCUMENTS KIND      KIND: sql, or stream (a function of Python makes each document)
"""

from __future__ import annotations

import os
import sys
import time

from pyflink.common import Configuration, Types, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.elasticsearch import (
    Elasticsearch7SinkBuilder,
    ElasticsearchEmitter,
    FlushBackoffType,
)
from pyflink.datastream.connectors.number_seq import NumberSequenceSource
from pyflink.table import EnvironmentSettings, TableEnvironment

PARALLELISM = 2


def configuration() -> Configuration:
    """The settings of both kinds."""
    found = Configuration()
    found.set_string("execution.checkpointing.interval", "10 s")
    found.set_string("parallelism.default", str(PARALLELISM))
    found.set_string("python.execution-mode", os.environ.get("BENCH_MODE", "process"))
    if "FLINK_JARS" in os.environ:
        found.set_string("pipeline.jars", os.environ["FLINK_JARS"])
    return found


def of_number(number: int) -> dict[str, str]:
    """The document of a number."""
    return {"id": str(number), "name": f"name {number % 1000}", "city": f"city {number % 77}", "amount": str(number)}


def stream(host: str, index: str, documents: int) -> None:
    """Write by the sink of streams."""
    env = StreamExecutionEnvironment.get_execution_environment(configuration())
    sink = (
        Elasticsearch7SinkBuilder()
        .set_hosts([host])
        .set_emitter(ElasticsearchEmitter.static_index(index, "id"))
        .set_bulk_flush_max_actions(1000)
        .set_bulk_flush_backoff_strategy(FlushBackoffType.EXPONENTIAL, 8, 50)
        .build()
    )
    numbers = env.from_source(NumberSequenceSource(0, documents - 1), WatermarkStrategy.no_watermarks(), "numbers")
    numbers.map(of_number, Types.MAP(Types.STRING(), Types.STRING())).sink_to(sink)
    env.execute("documents")


def sql(host: str, index: str, documents: int) -> None:
    """Write by the connector of tables."""
    env = TableEnvironment.create(
        EnvironmentSettings.new_instance().in_streaming_mode().with_configuration(configuration()).build()
    )
    env.execute_sql(
        "CREATE TABLE numbers (n BIGINT) WITH ('connector' = 'datagen', 'fields.n.kind' = 'sequence', "
        f"'fields.n.start' = '0', 'fields.n.end' = '{documents - 1}', 'rows-per-second' = '100000000')"
    )
    env.execute_sql(
        "CREATE TABLE documents (id STRING, name STRING, city STRING, amount STRING, PRIMARY KEY (id) NOT ENFORCED) "
        f"WITH ('connector' = 'elasticsearch-7', 'hosts' = 'http://{host}', 'index' = '{index}', "
        "'sink.bulk-flush.max-actions' = '1000', 'sink.bulk-flush.backoff.strategy' = 'EXPONENTIAL')"
    )
    env.execute_sql(
        "INSERT INTO documents SELECT CAST(n AS STRING), 'name ' || CAST(MOD(n, 1000) AS STRING), "
        "'city ' || CAST(MOD(n, 77) AS STRING), CAST(n AS STRING) FROM numbers"
    ).wait()


if __name__ == "__main__":
    _, address, name, number, kind = sys.argv
    begin = time.monotonic()
    (sql if kind == "sql" else stream)(address, name, int(number))
    print(f"RESULT {time.monotonic() - begin:.2f}", flush=True)
