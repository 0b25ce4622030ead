"""Stores as sources and sinks: what is built here needs a server only when the job runs."""

from __future__ import annotations

from pymongo import ReplaceOne

from scurry.common import Duration, Types
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors import DeliveryGuarantee
from scurry.datastream.connectors.cassandra import (
    CassandraCommitter,
    CassandraFailureHandler,
    CassandraSink,
    ClusterBuilder,
    ConsistencyLevel,
    MapperOptions,
)
from scurry.datastream.connectors.cdc import (
    JsonDebeziumDeserializationSchema,
    MySqlSource,
    PostgresIncrementalSource,
    StartupOptions,
)
from scurry.datastream.connectors.elasticsearch import (
    Elasticsearch6SinkBuilder,
    Elasticsearch7SinkBuilder,
    ElasticsearchEmitter,
    FlushBackoffType,
)
from scurry.datastream.connectors.mongodb import MongoSink, MongoSource

# Elasticsearch and OpenSearch

people = (
    Elasticsearch7SinkBuilder()
    .set_hosts(["http://localhost:9200", "http://localhost:9201"])
    .set_emitter(ElasticsearchEmitter.static_index("people", "id"))
    .set_delivery_guarantee(DeliveryGuarantee.AT_LEAST_ONCE)
    .set_bulk_flush_max_actions(500)
    .set_bulk_flush_max_size_mb(5)
    .set_bulk_flush_interval(1000)
    .set_bulk_flush_backoff_strategy(FlushBackoffType.EXPONENTIAL, 8, 50)
    .set_connection_username("ann")
    .set_connection_password("secret")
    .set_connection_path_prefix("/search")
    .set_connection_request_timeout(1000)
    .set_connection_timeout(2000)
    .set_socket_timeout(30_000)
    .build()
)
assert people.hosts.hosts == ("http://localhost:9200", "http://localhost:9201")
by_day = ElasticsearchEmitter.dynamic_index("day", "id", "event")
assert Elasticsearch6SinkBuilder().set_hosts("localhost:9200").set_emitter(by_day).build().bulk.max_actions == 1000

# MongoDB

visits = (
    MongoSource.builder()
    .set_uri("mongodb://localhost:27017")
    .set_database("shop")
    .set_collection("visits")
    .set_fetch_size(500)
    .set_no_cursor_timeout(True)
    .set_projected_fields("name", "visits")
    .set_limit(-1)
    .set_partition_strategy("sample")
    .set_partition_size(16 << 20)
    .set_samples_per_partition(20)
    .set_partition_record_size(10_000)
    .set_deserialization_schema(lambda document: document["visits"], Types.LONG())
    .build()
)
assert visits.bounded
totals = (
    MongoSink.builder()
    .set_uri("mongodb://localhost:27017")
    .set_database("shop")
    .set_collection("totals")
    .set_batch_size(500)
    .set_batch_interval_ms(1000)
    .set_max_retries(5)
    .set_ordered_writes(True)
    .set_delivery_guarantee(DeliveryGuarantee.AT_LEAST_ONCE)
    .set_serialization_schema(lambda total: ReplaceOne({"_id": total["name"]}, total, upsert=True))
    .build()
)
assert totals.execution.batch_size == 500

# Cassandra

env = StreamExecutionEnvironment.get_execution_environment()
words = env.from_collection([("to", 2), ("be", 2)], Types.TUPLE([Types.STRING(), Types.INT()]))
nodes = ClusterBuilder(["localhost"], 9042, "ann", "secret", ConsistencyLevel.LOCAL_QUORUM)
mapper = MapperOptions().ttl(60).timestamp(1).tracing(False).save_null_fields(True).if_not_exists(False)
sink = (
    CassandraSink.add_sink(words)
    .set_query("INSERT INTO shop.words (word, n) VALUES (?, ?)")
    .set_cluster_builder(nodes)
    .set_mapper_options(mapper.consistency_level(ConsistencyLevel.ONE))
    .set_failure_handler(CassandraFailureHandler.no_op())
    .set_max_concurrent_requests(64, Duration.of_seconds(10))
    .enable_ignore_null_fields()
    .enable_write_ahead_log(CassandraCommitter.default_checkpoint_committer(nodes))
    .build()
)
sink.name("words").uid("words").set_parallelism(1)
sink.disable_chaining().slot_sharing_group("stores")
CassandraSink.add_sink(words).set_query("INSERT INTO shop.words (word, n) VALUES (?, ?)").set_host("localhost").build()
assert "words" in env.get_execution_plan()

# Changes of databases

json_of_changes = JsonDebeziumDeserializationSchema(custom_converter_configs={"decimal.format": "numeric"})
orders = (
    MySqlSource.builder()
    .hostname("localhost")
    .port(3306)
    .username("ann")
    .password("secret")
    .database_list("shop")
    .table_list("shop.orders", r"shop.items_\d+")
    .server_id("5400-5408")
    .server_time_zone("UTC")
    .startup_options(StartupOptions.initial())
    .split_size(8096)
    .fetch_size(1024)
    .chunk_key_column("id")
    .connect_timeout(Duration.of_seconds(30))
    .connect_max_retries(3)
    .scan_newly_added_table_enabled(True)
    .include_schema_changes(False)
    .debezium_properties({"decimal.handling.mode": "string"})
    .deserializer(json_of_changes)
    .build()
)
assert not orders.bounded
customers = (
    PostgresIncrementalSource.builder()
    .hostname("localhost")
    .port(5432)
    .database("shop")
    .schema_list("public")
    .table_list("public.customers")
    .username("ann")
    .password("secret")
    .slot_name("customers")
    .decoding_plugin_name("pgoutput")
    .include_partitioned_tables(False)
    .lsn_commit_checkpoints_delay(3)
    .startup_options(StartupOptions.snapshot())
    .deserializer(json_of_changes)
    .build()
)
assert customers.bounded
MySqlSource.builder().startup_options(StartupOptions.earliest()).startup_options(StartupOptions.latest())
MySqlSource.builder().startup_options(StartupOptions.specific_offset("binlog.000003", 4))
MySqlSource.builder().startup_options(StartupOptions.timestamp(1_767_225_600_000))
PostgresIncrementalSource.builder().startup_options(StartupOptions.committed())
