"""Every declared option of every connector and format of tables changes what is made, or is declared without effect.

An option that is accepted and forgotten makes the same sources, sinks, lookups, decoders and encoders whatever its
value is: that is what these tests look for, so they cover options that are added later, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import deltalake
import pyarrow as pa
import pytest
from pyiceberg.catalog import load_catalog

from scurry.common.typeinfo import Types
from scurry.connectors.lakes.enumerator import OpenedTable
from scurry.datastream.state import ValueStateDescriptor
from scurry.errors import ScurryError, ValidationError
from scurry.sql.catalog.entries import CatalogTable
from scurry.sql.catalog.identifier import ObjectIdentifier
from scurry.sql.catalog.schema import Column, MetadataColumn, PhysicalColumn, ResolvedSchema, UniqueConstraint
from scurry.sql.catalog.table_options import Options, TableOption
from scurry.sql.connectors.contract import SinkTarget, TableContext, TableFactory
from scurry.sql.connectors.factories import CONNECTORS, create_source, find_factory
from scurry.sql.formats.contract import FormatColumn, FormatFactory
from scurry.sql.formats.registry import FORMATS, checked_options, find_format
from scurry.sql.savepoints.factory import OF_JAVA
from scurry.sql.types import BigIntType, DataType, IntType, TimestampType, VarCharType
from scurry.state import OperatorTransformation, SavepointWriter

COLUMNS: dict[str, DataType] = {"k": IntType(False), "v": VarCharType(10), "p": VarCharType(5)}
KAFKA = {"topic": "t", "properties.bootstrap.servers": "b:9092", "scan.startup.mode": "earliest-offset"}
JSON = {"format": "json"}
#: What tables need besides the option under test.
NEEDED: dict[str, dict[str, str]] = {
    "blackhole": {},
    "cassandra": {"hosts": "h", "keyspace": "s", "table-name": "t"},
    "clickhouse": {"url": "http://h", "table-name": "t"},
    "datagen": {},
    "delta": {},
    "dynamic-kafka": {
        "metadata-service": "single-cluster", "metadata-service.cluster-id": "a", "stream-ids": "t",
        "properties.bootstrap.servers": "b:9092", "scan.startup.mode": "earliest-offset", "value.format": "json",
    },
    "iceberg": {},
    "spark": {"format": "text", "path": "/tmp/files"},
    "elasticsearch-6": {"hosts": "http://h:9200", "index": "i", "document-type": "d"},
    "elasticsearch-7": {"hosts": "http://h:9200", "index": "i"},
    "elasticsearch-8": {"hosts": "http://h:9200", "index": "i"},
    "filesystem": {"path": "/tmp/files", "format": "csv"},
    "jdbc": {"url": "jdbc:sqlite:/tmp/a.db", "table-name": "t"},
    "kafka": KAFKA | JSON,
    "log": {"topic": "t", "scan.startup.mode": "earliest-offset"} | JSON,
    "http": {"url": "http://h", "format": "json"},
    "http-async-sink": {"url": "http://h", "format": "json"},
    "mongodb": {"uri": "mongodb://h", "database": "d", "collection": "c"},
    "mongodb-cdc": {"hosts": "h:27017"},
    "mysql-cdc": {"hostname": "h", "username": "u", "password": "p", "database-name": "d", "table-name": "t"},
    "opensearch": {"hosts": "http://h:9200", "index": "i"},
    "print": {},
    "pulsar": {"topics": "t", "service-url": "pulsar://h:6650", "format": "json"},
    "rabbitmq": {"queue": "q", "format": "json"},
    "postgres-cdc": {
        "hostname": "h", "username": "u", "password": "p", "database-name": "d", "schema-name": "s", "table-name": "t",
        "slot.name": "a",
    },
    "pubsub": {"project": "p", "subscription": "s", "topic": "t", "emulator-host": "h:1", "format": "json"},
    "mqtt": {"host": "h", "topic": "t", "client-id": "c", "format": "json"},
    "firehose": {"delivery-stream": "s", "aws.region": "r", "format": "json"},
    "prometheus": {
        "metric.name": "v", "metric.label.keys": "p", "metric.sample.key": "k", "metric.sample.timestamp": "k",
        "metric.endpoint-url": "http://h",
    },
    "kinesis": {"stream.arn": "s", "aws.region": "r", "format": "json"},
    "nats": {"servers": "nats://h", "stream": "s", "subject": "t", "format": "json"},
    "redis": {"url": "redis://h"},
    "redis-stream": {"url": "redis://h", "stream": "s", "format": "json"},
    "savepoint": {"operator.uid": "visits"},
    "upsert-kafka": {
        "topic": "t", "properties.bootstrap.servers": "b:9092", "key.format": "json", "value.format": "json",
    },
    "upsert-log": {"topic": "t", "key.format": "json", "value.format": "json"},
}  # fmt: skip

#: Connectors whose tables have a primary key here.
BY_KEY = {
    "cassandra", "clickhouse",
    "elasticsearch-6", "elasticsearch-7", "elasticsearch-8", "mongodb", "mongodb-cdc", "opensearch",
    "redis", "savepoint", "upsert-kafka", "upsert-log",
}  # fmt: skip
PARTITIONED = {"scan.partition.column": "k", "scan.partition.num": "2"} | {
    "scan.partition.lower-bound": "0", "scan.partition.upper-bound": "9",
}  # fmt: skip
PARTIAL = {"lookup.cache": "PARTIAL", "lookup.partial-cache.max-rows": "5"}
FORMER = {"lookup.cache.max-rows": "5", "lookup.cache.ttl": "5 s"}
EXPONENTIAL = {"http.source.lookup.retry-strategy.type": "exponential-delay"}
LOGIN = {"username": "ann", "password": "a"}
KEYED = {"key.format": "json", "key.fields": "k"}
MARKED = {"sink.partition-commit.policy.kind": "success-file"}
BUFFERED = {"sink.buffer-flush.max-rows": "5", "sink.buffer-flush.interval": "1 s"}
STAGED = {"pulsar.sink.deliveryGuarantee": "exactly-once", "sink.staging-dir": "/tmp/staged"}
EXACTLY_ONCE = {"sink.delivery-guarantee": "exactly-once", "sink.transactional-id-prefix": "a"}

ROLE = {"aws.credentials.provider": "ASSUME_ROLE", "aws.credentials.role.arn": "a"}
WEB = {"aws.credentials.provider": "WEB_IDENTITY_TOKEN"}
PROFILE = {"aws.credentials.provider": "PROFILE"}
KEYS = {"aws.credentials.basic.accesskeyid": "a", "aws.credentials.basic.secretkey": "b"}
AT_TIME = {"source.init.position": "AT_TIMESTAMP", "source.init.timestamp": "1"}
AT_DAY = {"source.init.position": "AT_TIMESTAMP", "source.init.timestamp": "2020-01-01"}
AWS_CASES: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "aws.region": ({}, {"aws.region": "other"}),
    "aws.endpoint": ({}, {"aws.endpoint": "http://h"}),
    "aws.trust.all.certificates": ({}, {"aws.trust.all.certificates": "true"}),
    "aws.credentials.provider": ({}, {"aws.credentials.provider": "ENV_VAR"}),
    "aws.credentials.basic.accesskeyid": (KEYS, KEYS | {"aws.credentials.basic.accesskeyid": "c"}),
    "aws.credentials.basic.secretkey": (KEYS, KEYS | {"aws.credentials.basic.secretkey": "c"}),
    "aws.credentials.profile.path": (PROFILE, PROFILE | {"aws.credentials.profile.path": "/tmp/p"}),
    "aws.credentials.profile.name": (PROFILE, PROFILE | {"aws.credentials.profile.name": "p"}),
    "aws.credentials.role.arn": (ROLE, ROLE | {"aws.credentials.role.arn": "b"}),
    "aws.credentials.role.sessionName": (ROLE, ROLE | {"aws.credentials.role.sessionName": "b"}),
    "aws.credentials.role.externalId": (ROLE, ROLE | {"aws.credentials.role.externalId": "b"}),
    "aws.credentials.role.stsEndpoint": (ROLE, ROLE | {"aws.credentials.role.stsEndpoint": "http://h"}),
    "aws.credentials.role.provider": (ROLE, ROLE | {"aws.credentials.role.provider": "ENV_VAR"}),
    "aws.credentials.webIdentityToken.file": (WEB, WEB | {"aws.credentials.webIdentityToken.file": "/tmp/t"}),
    "aws.credentials.custom.class": ({}, {"aws.credentials.custom.class": "C"}),
    "format": ({}, {"format": "csv"}),
    "sink.batch.max-size": ({}, {"sink.batch.max-size": "7"}),
    "sink.flush-buffer.size": ({}, {"sink.flush-buffer.size": "7000000"}),
    "sink.flush-buffer.timeout": ({}, {"sink.flush-buffer.timeout": "7"}),
    "sink.fail-on-error": ({}, {"sink.fail-on-error": "true"}),
    "sink.requests.max-inflight": ({}, {"sink.requests.max-inflight": "7"}),
    "sink.requests.max-buffered": ({}, {"sink.requests.max-buffered": "7"}),
    "sink.http-client.max-concurrency": ({}, {"sink.http-client.max-concurrency": "7"}),
    "sink.http-client.read-timeout": ({}, {"sink.http-client.read-timeout": "7"}),
    "sink.http-client.protocol.version": ({}, {"sink.http-client.protocol.version": "HTTP1_1"}),
    "sink.parallelism": ({}, {"sink.parallelism": "3"}),
}

SNAPSHOTS = {"first": "1", "second": "2"}
#: The states of the operators of a savepoint.
STATES = [ValueStateDescriptor(name, Types.STRING()) for name in ("v", "w", "p")]

#: Two settings of each option that mean different things, with what they need; the first may be none.
KAFKA_CASES: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "properties.bootstrap.servers": ({}, {"properties.bootstrap.servers": "c:9092"}),
    "properties.group.id": ({}, {"properties.group.id": "g"}),
    "topic": ({}, {"topic": "other"}),
    "key.format": (KEYED, KEYED | {"key.format": "csv"}),
    "key.fields": (KEYED, KEYED | {"key.fields": "v"}),
    "key.fields-prefix": (
        KEYED | {"value.fields-include": "EXCEPT_KEY"},
        KEYED | {"value.fields-include": "EXCEPT_KEY", "key.fields-prefix": "k", "key.fields": "k"},
    ),
    "value.fields-include": (KEYED, KEYED | {"value.fields-include": "EXCEPT_KEY"}),
    "scan.startup.mode": ({}, {"scan.startup.mode": "latest-offset"}),
    "scan.startup.specific-offsets": (
        {"scan.startup.mode": "specific-offsets", "scan.startup.specific-offsets": "partition:0,offset:1"},
        {"scan.startup.mode": "specific-offsets", "scan.startup.specific-offsets": "partition:0,offset:2"},
    ),
    "scan.startup.timestamp-millis": (
        {"scan.startup.mode": "timestamp", "scan.startup.timestamp-millis": "1"},
        {"scan.startup.mode": "timestamp", "scan.startup.timestamp-millis": "2"},
    ),
    "scan.bounded.mode": ({}, {"scan.bounded.mode": "latest-offset"}),
    "scan.bounded.specific-offsets": (
        {"scan.bounded.mode": "specific-offsets", "scan.bounded.specific-offsets": "partition:0,offset:1"},
        {"scan.bounded.mode": "specific-offsets", "scan.bounded.specific-offsets": "partition:0,offset:2"},
    ),
    "scan.bounded.timestamp-millis": (
        {"scan.bounded.mode": "timestamp", "scan.bounded.timestamp-millis": "1"},
        {"scan.bounded.mode": "timestamp", "scan.bounded.timestamp-millis": "2"},
    ),
    "scan.topic-partition-discovery.interval": ({}, {"scan.topic-partition-discovery.interval": "7 s"}),
    "scan.parallelism": ({}, {"scan.parallelism": "3"}),
    "sink.partitioner": ({}, {"sink.partitioner": "fixed"}),
    "sink.delivery-guarantee": (EXACTLY_ONCE, EXACTLY_ONCE | {"sink.delivery-guarantee": "at-least-once"}),
    "sink.semantic": (
        {"sink.transactional-id-prefix": "a"}, {"sink.transactional-id-prefix": "a", "sink.semantic": "exactly-once"},
    ),
    "sink.transactional-id-prefix": (EXACTLY_ONCE, EXACTLY_ONCE | {"sink.transactional-id-prefix": "b"}),
    "sink.transaction-naming-strategy": ({}, {"sink.transaction-naming-strategy": "POOLING"}),
    "sink.parallelism": ({}, {"sink.parallelism": "3"}),
}  # fmt: skip
LOG_CASES: dict[str, tuple[dict[str, str], dict[str, str]]] = KAFKA_CASES | {
    "path": ({}, {"path": "/tmp/other"}),
    "sink.delivery-guarantee": ({}, {"sink.delivery-guarantee": "exactly-once"}),
    "sink.semantic": ({}, {"sink.semantic": "exactly-once"}),
    "num.partitions": ({}, {"num.partitions": "2"}),
    "retention.ms": ({}, {"retention.ms": "2"}),
    "retention.bytes": ({}, {"retention.bytes": "2"}),
    "segment.bytes": ({}, {"segment.bytes": "2"}),
}
VALUE_CASES: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "format": ({}, {"format": "csv"}),
    "topic-pattern": ({}, {"topic-pattern": "t.*"}),
    "value.format": ({"value.format": "json"}, {"value.format": "csv"}),
}
UPSERT_CASES: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "key.format": ({}, {"key.format": "csv"}),
    "value.format": ({}, {"value.format": "csv"}),
    "key.fields-prefix": (
        {"value.fields-include": "EXCEPT_KEY"}, {"value.fields-include": "EXCEPT_KEY", "key.fields-prefix": "k"},
    ),
    "value.fields-include": ({}, {"value.fields-include": "EXCEPT_KEY"}),
    "sink.buffer-flush.max-rows": (BUFFERED, BUFFERED | {"sink.buffer-flush.max-rows": "6"}),
    "sink.buffer-flush.interval": (BUFFERED, BUFFERED | {"sink.buffer-flush.interval": "2 s"}),
}  # fmt: skip
#: Of every connector of messages.
MESSAGE_CASES = {key: KAFKA_CASES[key] for key in (
    "key.format", "key.fields", "key.fields-prefix", "value.fields-include", "sink.parallelism",
)} | {
    "format": ({}, {"format": "csv"}),
    "value.format": ({"value.format": "json"}, {"value.format": "csv"}),
}  # fmt: skip
STREAM = {"queue.type": "stream"}
ONCE = {"sink.delivery-guarantee": "exactly-once", "sink.staging-dir": "/tmp/staged"}
IN_FILE = {"metadata-service": "file", "metadata-service.path": "/tmp/streams.json"}
LOGIN_CASES: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "username": ({}, {"username": "ann"}),
    "password": ({}, {"password": "a"}),
}
REDIS_CASES: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "url": ({}, {"url": "redis://other"}),
    "username": ({}, {"username": "ann"}),
    "password": ({}, {"password": "a"}),
}
JAVA_TYPE_CASES: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    f"fields.{name}.{option}": ({}, {f"fields.{name}.{option}": "java.lang.String"})
    for name in COLUMNS
    for option in OF_JAVA
}
#: The cache of lookups, of every connector that has them.
LOOKUP_CASES: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "lookup.cache": (PARTIAL | {"lookup.cache": "NONE"}, PARTIAL),
    "lookup.partial-cache.max-rows": (PARTIAL, PARTIAL | {"lookup.partial-cache.max-rows": "6"}),
    "lookup.partial-cache.expire-after-write": (
        PARTIAL, PARTIAL | {"lookup.partial-cache.expire-after-write": "1 s"},
    ),
    "lookup.partial-cache.expire-after-access": (
        PARTIAL, PARTIAL | {"lookup.partial-cache.expire-after-access": "1 s"},
    ),
    "lookup.partial-cache.cache-missing-key": (PARTIAL, PARTIAL | {"lookup.partial-cache.cache-missing-key": "false"}),
}  # fmt: skip
ELASTICSEARCH_CASES: dict[str, tuple[dict[str, str], dict[str, str]]] = LOOKUP_CASES | {
    "hosts": ({}, {"hosts": "http://g:9200"}),
    "index": ({}, {"index": "j"}),
    "document-id.key-delimiter": ({}, {"document-id.key-delimiter": "$"}),
    "username": (LOGIN, LOGIN | {"username": "bob"}),
    "password": (LOGIN, LOGIN | {"password": "b"}),
    "failure-handler": ({}, {"failure-handler": "ignore"}),
    "sink.delivery-guarantee": ({}, {"sink.delivery-guarantee": "exactly-once"}),
    "sink.flush-on-checkpoint": ({}, {"sink.flush-on-checkpoint": "false"}),
    "sink.bulk-flush.max-actions": ({}, {"sink.bulk-flush.max-actions": "7"}),
    "sink.bulk-flush.max-size": ({}, {"sink.bulk-flush.max-size": "7 mb"}),
    "sink.bulk-flush.interval": ({}, {"sink.bulk-flush.interval": "7 s"}),
    "sink.bulk-flush.backoff.strategy": ({}, {"sink.bulk-flush.backoff.strategy": "DISABLED"}),
    "sink.bulk-flush.backoff.max-retries": ({}, {"sink.bulk-flush.backoff.max-retries": "7"}),
    "sink.bulk-flush.backoff.delay": ({}, {"sink.bulk-flush.backoff.delay": "7 s"}),
    "connection.path-prefix": ({}, {"connection.path-prefix": "/v1"}),
    "connection.request-timeout": ({}, {"connection.request-timeout": "7 s"}),
    "connection.timeout": ({}, {"connection.timeout": "7 s"}),
    "socket.timeout": ({}, {"socket.timeout": "7 s"}),
    "format": ({}, {"format": "csv"}),
    "sink.version.column": ({}, {"sink.version.column": "k"}),
    "scan.fetch-size": ({}, {"scan.fetch-size": "7"}),
    "scan.partition.num": ({}, {"scan.partition.num": "7"}),
    "scan.parallelism": ({}, {"scan.parallelism": "3"}),
    "sink.parallelism": ({}, {"sink.parallelism": "3"}),
}
AT_POSITION = {
    "scan.startup.mode": "specific-offset", "scan.startup.specific-offset.file": "binlog.000001",
    "scan.startup.specific-offset.pos": "4",
}  # fmt: skip
#: Those of all connectors of change data capture.
CDC_CASES: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    **{key: ({}, {key: "other"}) for key in ("hostname", "username", "password", "database-name", "table-name")},
    **{key: ({}, {key: "5"}) for key in (
        "port", "scan.incremental.snapshot.chunk.size", "scan.snapshot.fetch.size", "connect.max-retries",
        "chunk-meta.group.size", "chunk-key.even-distribution.factor.lower-bound",
        "chunk-key.even-distribution.factor.upper-bound", "scan.parallelism",
    )},
    **{key: ({}, {key: "true"}) for key in (
        "scan.newly-added-table.enabled", "scan.read-changelog-as-append-only.enabled",
        "scan.incremental.snapshot.backfill.skip", "scan.incremental.close-idle-reader.enabled",
    )},
    "scan.incremental.snapshot.chunk.key-column": ({}, {"scan.incremental.snapshot.chunk.key-column": "v"}),
    "scan.startup.mode": ({}, {"scan.startup.mode": "latest-offset"}),
    "connect.timeout": ({}, {"connect.timeout": "9 s"}),
}  # fmt: skip
CASES: dict[str, dict[str, tuple[dict[str, str], dict[str, str]]]] = {
    "cassandra": LOOKUP_CASES | {
        "hosts": ({}, {"hosts": "g"}),
        "port": ({}, {"port": "9043"}),
        "keyspace": ({}, {"keyspace": "r"}),
        "table-name": ({}, {"table-name": "u"}),
        "username": (LOGIN, LOGIN | {"username": "bob"}),
        "password": (LOGIN, LOGIN | {"password": "b"}),
        "consistency-level": ({}, {"consistency-level": "QUORUM"}),
        "scan.partition.num": ({}, {"scan.partition.num": "7"}),
        "scan.fetch-size": ({}, {"scan.fetch-size": "7"}),
        "scan.parallelism": ({}, {"scan.parallelism": "3"}),
        "sink.max-concurrent-requests": ({}, {"sink.max-concurrent-requests": "7"}),
        "sink.buffer-flush.max-rows": ({}, {"sink.buffer-flush.max-rows": "7"}),
        "sink.buffer-flush.interval": ({}, {"sink.buffer-flush.interval": "7 s"}),
        "sink.parallelism": ({}, {"sink.parallelism": "3"}),
    },
    "clickhouse": LOOKUP_CASES | {
        "url": ({}, {"url": "http://g"}),
        "database-name": ({}, {"database-name": "r"}),
        "table-name": ({}, {"table-name": "u"}),
        "username": (LOGIN, LOGIN | {"username": "bob"}),
        "password": (LOGIN, LOGIN | {"password": "b"}),
        "sink.batch-size": ({}, {"sink.batch-size": "7"}),
        "sink.flush-interval": ({}, {"sink.flush-interval": "7 s"}),
        "sink.max-retries": ({}, {"sink.max-retries": "7"}),
        "sink.ignore-delete": ({}, {"sink.ignore-delete": "true"}),
        "sink.delivery-guarantee": ({}, ONCE),
        "sink.staging-dir": ({"sink.delivery-guarantee": "exactly-once"}, ONCE),
        "sink.parallelism": ({}, {"sink.parallelism": "3"}),
        "scan.partition.column": (PARTITIONED, PARTITIONED | {"scan.partition.column": "v"}),
        "scan.partition.num": (PARTITIONED, PARTITIONED | {"scan.partition.num": "3"}),
        "scan.partition.lower-bound": (PARTITIONED, PARTITIONED | {"scan.partition.lower-bound": "1"}),
        "scan.partition.upper-bound": (PARTITIONED, PARTITIONED | {"scan.partition.upper-bound": "8"}),
        "scan.parallelism": ({}, {"scan.parallelism": "3"}),
    },
    "datagen": {
        "rows-per-second": ({}, {"rows-per-second": "5"}),
        "number-of-rows": ({}, {"number-of-rows": "5"}),
        "scan.parallelism": ({}, {"scan.parallelism": "3"}),
        "fields.k.kind": ({}, {"fields.k.kind": "sequence", "fields.k.start": "1", "fields.k.end": "2"}),
        "fields.k.min": ({}, {"fields.k.min": "1"}),
        "fields.k.max": ({}, {"fields.k.max": "1"}),
        "fields.k.null-rate": ({}, {"fields.k.null-rate": "0.5"}),
        "fields.v.length": ({}, {"fields.v.length": "3"}),
    },
    "delta": {
        "table-path": ({}, {"table-path": "/tmp/others"}),
        "mode": ({}, {"mode": "streaming"}),
        "versionAsOf": ({}, {"versionAsOf": "0"}),
        "timestampAsOf": ({}, {"timestampAsOf": "2100-01-01 00:00:00"}),
        "startingVersion": ({"mode": "streaming"}, {"mode": "streaming", "startingVersion": "1"}),
        "startingTimestamp": ({"mode": "streaming"}, {"mode": "streaming", "startingTimestamp": "2000-01-01 00:00:00"}),
        "updateCheckIntervalMillis": ({"mode": "streaming"}, {"mode": "streaming", "updateCheckIntervalMillis": "1"}),
        "ignoreDeletes": ({"mode": "streaming"}, {"mode": "streaming", "ignoreDeletes": "true"}),
        "ignoreChanges": ({"mode": "streaming"}, {"mode": "streaming", "ignoreChanges": "true"}),
        "mergeSchema": ({}, {"mergeSchema": "true"}),
        "write.upsert.enabled": ({}, {"write.upsert.enabled": "true"}),
    },
    "dynamic-kafka": {key: KAFKA_CASES[key] for key in (
        "properties.bootstrap.servers", "properties.group.id", "key.format", "key.fields", "key.fields-prefix",
        "value.fields-include", "scan.startup.mode", "scan.startup.timestamp-millis", "scan.bounded.mode",
        "scan.bounded.timestamp-millis", "scan.topic-partition-discovery.interval", "scan.parallelism",
    )} | {
        "format": ({}, {"format": "csv"}),
        "value.format": ({}, {"value.format": "csv"}),
        "metadata-service": ({}, IN_FILE),
        "metadata-service.cluster-id": ({}, {"metadata-service.cluster-id": "b"}),
        "metadata-service.path": (IN_FILE, IN_FILE | {"metadata-service.path": "/tmp/other.json"}),
        "stream-ids": ({}, {"stream-ids": "u"}),
        "stream-pattern": ({}, {"stream-pattern": "t.*"}),
        "stream-metadata-discovery-interval-ms": ({}, {"stream-metadata-discovery-interval-ms": "7"}),
        "stream-metadata-discovery-failure-threshold": ({}, {"stream-metadata-discovery-failure-threshold": "7"}),
    },
    "iceberg": {
        "catalog-name": ({}, {"catalog-name": "d"}),
        "catalog-type": ({}, {"catalog-type": "rest"}),
        "uri": ({}, {"uri": "sqlite:////tmp/none.db"}),
        "warehouse": ({}, {"warehouse": "file:///tmp/none"}),
        "catalog-database": ({}, {"catalog-database": "other"}),
        "catalog-table": ({}, {"catalog-table": "other"}),
        "streaming": ({}, {"streaming": "true"}),
        "monitor-interval": ({"streaming": "true"}, {"streaming": "true", "monitor-interval": "7 s"}),
        "snapshot-id": ({"snapshot-id": "first"}, {"snapshot-id": "second"}),
        "start-snapshot-id": ({"streaming": "true"}, {"streaming": "true", "start-snapshot-id": "first"}),
    },
    "filesystem": {
        "path": ({}, {"path": "/tmp/others"}),
        "format": ({}, {"format": "json"}),
        "partition.default-name": ({}, {"partition.default-name": "none"}),
        "source.monitor-interval": ({}, {"source.monitor-interval": "1 s"}),
        "source.path.regex-pattern": ({}, {"source.path.regex-pattern": ".*"}),
        "source.report-statistics": ({}, {"source.report-statistics": "NONE"}),
        "sink.partition-commit.policy.kind": ({}, MARKED),
        "sink.partition-commit.policy.class": ({}, {"sink.partition-commit.policy.class": "C"}),
        "sink.partition-commit.policy.class.parameters": ({}, {"sink.partition-commit.policy.class.parameters": "a"}),
        "sink.partition-commit.success-file.name": (MARKED, MARKED | {"sink.partition-commit.success-file.name": "OK"}),
        "sink.partition-commit.delay": (MARKED, MARKED | {"sink.partition-commit.delay": "1 h"}),
        "sink.partition-commit.trigger": (MARKED, MARKED | {"sink.partition-commit.trigger": "partition-time"}),
        "sink.partition-commit.watermark-time-zone": (
            MARKED, MARKED | {"sink.partition-commit.watermark-time-zone": "CET"},
        ),
        "partition.time-extractor.class": (MARKED, MARKED | {"partition.time-extractor.class": "C"}),
        "partition.time-extractor.kind": (MARKED, MARKED | {"partition.time-extractor.kind": "custom"}),
        "partition.time-extractor.timestamp-pattern": (
            MARKED, MARKED | {"partition.time-extractor.timestamp-pattern": "$p"},
        ),
        "partition.time-extractor.timestamp-formatter": (
            MARKED, MARKED | {"partition.time-extractor.timestamp-formatter": "yyyy"},
        ),
        "auto-compaction": ({}, {"auto-compaction": "true"}),
        "compaction.file-size": ({}, {"compaction.file-size": "1 mb"}),
        "sink.shuffle-by-partition.enable": ({}, {"sink.shuffle-by-partition.enable": "true"}),
        "sink.rolling-policy.file-size": ({}, {"sink.rolling-policy.file-size": "1 mb"}),
        "sink.rolling-policy.rollover-interval": ({}, {"sink.rolling-policy.rollover-interval": "1 s"}),
        "sink.rolling-policy.inactivity-interval": ({}, {"sink.rolling-policy.inactivity-interval": "1 s"}),
        "sink.rolling-policy.check-interval": ({}, {"sink.rolling-policy.check-interval": "1 s"}),
        "sink.parallelism": ({}, {"sink.parallelism": "3"}),
    },
    "jdbc": LOOKUP_CASES | {
        "url": ({}, {"url": "jdbc:sqlite:/tmp/b.db"}),
        "table-name": ({}, {"table-name": "u"}),
        "username": (LOGIN, LOGIN | {"username": "bob"}),
        "password": (LOGIN, LOGIN | {"password": "b"}),
        "driver": ({}, {"driver": "org.sqlite.JDBC"}),
        "connection.max-retry-timeout": ({}, {"connection.max-retry-timeout": "5 s"}),
        "scan.partition.column": (PARTITIONED, PARTITIONED | {"scan.partition.column": "v"}),
        "scan.partition.num": (PARTITIONED, PARTITIONED | {"scan.partition.num": "3"}),
        "scan.partition.lower-bound": (PARTITIONED, PARTITIONED | {"scan.partition.lower-bound": "1"}),
        "scan.partition.upper-bound": (PARTITIONED, PARTITIONED | {"scan.partition.upper-bound": "8"}),
        "scan.fetch-size": ({}, {"scan.fetch-size": "7"}),
        "scan.auto-commit": ({}, {"scan.auto-commit": "false"}),
        "lookup.max-retries": ({}, {"lookup.max-retries": "9"}),
        "lookup.cache.max-rows": (FORMER, FORMER | {"lookup.cache.max-rows": "6"}),
        "lookup.cache.ttl": (FORMER, FORMER | {"lookup.cache.ttl": "6 s"}),
        "lookup.cache.caching-missing-key": (FORMER, FORMER | {"lookup.cache.caching-missing-key": "false"}),
        "sink.buffer-flush.max-rows": ({}, {"sink.buffer-flush.max-rows": "7"}),
        "sink.buffer-flush.interval": ({}, {"sink.buffer-flush.interval": "7 s"}),
        "sink.max-retries": ({}, {"sink.max-retries": "7"}),
        "compatible-mode": ({}, {"compatible-mode": "oracle"}),
        "filter.handling.policy": ({}, {"filter.handling.policy": "never"}),
        "sink.parallelism": ({}, {"sink.parallelism": "3"}),
    },
    "elasticsearch-6": ELASTICSEARCH_CASES | {"document-type": ({}, {"document-type": "e"})},
    "elasticsearch-7": ELASTICSEARCH_CASES,
    "elasticsearch-8": ELASTICSEARCH_CASES,
    "kafka": KAFKA_CASES | VALUE_CASES,
    "log": LOG_CASES | VALUE_CASES,
    "http": LOOKUP_CASES | {
        "url": ({}, {"url": "http://g"}),
        "format": ({}, {"format": "csv"}),
        "lookup-method": ({}, {"lookup-method": "PUT"}),
        "lookup.max-retries": ({}, {"lookup.max-retries": "7"}),
        "asyncPolling": ({}, {"asyncPolling": "true"}),
        "http.source.lookup.request.timeout": ({}, {"http.source.lookup.request.timeout": "7"}),
        "http.source.lookup.success-codes": ({}, {"http.source.lookup.success-codes": "201"}),
        "http.source.lookup.retry-codes": ({}, {"http.source.lookup.retry-codes": "429"}),
        "http.source.lookup.ignored-response-codes": ({}, {"http.source.lookup.ignored-response-codes": "404"}),
        "http.source.lookup.continue-on-error": ({}, {"http.source.lookup.continue-on-error": "true"}),
        "http.source.lookup.retry-strategy.type": ({}, EXPONENTIAL),
        "http.source.lookup.retry-strategy.fixed-delay.delay": (
            {}, {"http.source.lookup.retry-strategy.fixed-delay.delay": "7 s"},
        ),
        "http.source.lookup.retry-strategy.exponential-delay.initial-backoff": (
            EXPONENTIAL, EXPONENTIAL | {"http.source.lookup.retry-strategy.exponential-delay.initial-backoff": "7 s"},
        ),
        "http.source.lookup.retry-strategy.exponential-delay.max-backoff": (
            EXPONENTIAL, EXPONENTIAL | {"http.source.lookup.retry-strategy.exponential-delay.max-backoff": "7 s"},
        ),
        "http.source.lookup.retry-strategy.exponential-delay.backoff-multiplier": (
            EXPONENTIAL, EXPONENTIAL | {"http.source.lookup.retry-strategy.exponential-delay.backoff-multiplier": "3"},
        ),
    },
    "http-async-sink": {
        "url": ({}, {"url": "http://g"}),
        "format": ({}, {"format": "csv"}),
        "insert-method": ({}, {"insert-method": "PUT"}),
        "sink.batch.max-size": ({}, {"sink.batch.max-size": "7"}),
        "sink.flush-buffer.size": ({}, {"sink.flush-buffer.size": "7 kb"}),
        "sink.flush-buffer.timeout": ({}, {"sink.flush-buffer.timeout": "7"}),
        "sink.requests.max-inflight": ({}, {"sink.requests.max-inflight": "7"}),
        "sink.requests.max-buffered": ({}, {"sink.requests.max-buffered": "7"}),
        "http.sink.request.timeout": ({}, {"http.sink.request.timeout": "7"}),
        "http.sink.writer.request.mode": ({}, {"http.sink.writer.request.mode": "single"}),
        "http.sink.error.code": ({}, {"http.sink.error.code": "5XX"}),
        "http.sink.error.code.exclude": ({}, {"http.sink.error.code.exclude": "404"}),
        "sink.max-retries": ({}, {"sink.max-retries": "7"}),
        "http.sink.retry-codes": ({}, {"http.sink.retry-codes": "429"}),
        "http.sink.idempotency-key": ({}, {"http.sink.idempotency-key": "false"}),
        "sink.parallelism": ({}, {"sink.parallelism": "3"}),
    },
    "mongodb": LOOKUP_CASES | {
        "uri": ({}, {"uri": "mongodb://g"}),
        "database": ({}, {"database": "e"}),
        "collection": ({}, {"collection": "e"}),
        "scan.fetch-size": ({}, {"scan.fetch-size": "7"}),
        "scan.cursor.no-timeout": ({}, {"scan.cursor.no-timeout": "false"}),
        "scan.partition.strategy": ({}, {"scan.partition.strategy": "single"}),
        "scan.partition.size": ({}, {"scan.partition.size": "7 mb"}),
        "scan.partition.samples": ({}, {"scan.partition.samples": "7"}),
        "scan.partition.record-size": ({}, {"scan.partition.record-size": "7"}),
        "scan.parallelism": ({}, {"scan.parallelism": "3"}),
        "lookup.max-retries": ({}, {"lookup.max-retries": "7"}),
        "lookup.retry.interval": ({}, {"lookup.retry.interval": "7 s"}),
        "filter.handling.policy": ({}, {"filter.handling.policy": "never"}),
        "sink.buffer-flush.max-rows": ({}, {"sink.buffer-flush.max-rows": "7"}),
        "sink.buffer-flush.interval": ({}, {"sink.buffer-flush.interval": "7 s"}),
        "sink.max-retries": ({}, {"sink.max-retries": "7"}),
        "sink.retry.interval": ({}, {"sink.retry.interval": "7 s"}),
        "sink.delivery-guarantee": ({}, {"sink.delivery-guarantee": "exactly-once"}),
        "sink.ordered-writes": ({}, {"sink.ordered-writes": "false"}),
        "sink.parallelism": ({}, {"sink.parallelism": "3"}),
    },
    "opensearch": ELASTICSEARCH_CASES | {"allow-insecure": ({}, {"allow-insecure": "true"})},
    "print": {
        "print-identifier": ({}, {"print-identifier": "a"}),
        "standard-error": ({}, {"standard-error": "true"}),
        "sink.parallelism": ({}, {"sink.parallelism": "3"}),
    },
    "mongodb-cdc": {
        **{key: ({}, {key: "other"}) for key in ("hosts", "database", "collection", "connection.options")},
        "scheme": ({}, {"scheme": "mongodb+srv"}),
        "username": (LOGIN, LOGIN | {"username": "bob"}),
        "password": (LOGIN, LOGIN | {"password": "b"}),
        "scan.startup.mode": ({}, {"scan.startup.mode": "latest-offset"}),
        "scan.startup.timestamp-millis": (
            {"scan.startup.mode": "timestamp", "scan.startup.timestamp-millis": "1"},
            {"scan.startup.mode": "timestamp", "scan.startup.timestamp-millis": "2"},
        ),
        **{key: ({}, {key: "5"}) for key in (
            "batch.size", "poll.await.time.ms", "heartbeat.interval.ms", "poll.max.batch.size", "chunk-meta.group.size",
            "scan.incremental.snapshot.chunk.size.mb", "scan.incremental.snapshot.chunk.samples",
            "initial.snapshotting.queue.size", "initial.snapshotting.max.threads",
        )},
        "scan.cursor.no-timeout": ({}, {"scan.cursor.no-timeout": "false"}),
        **{key: ({}, {key: "true"}) for key in (
            "scan.full-changelog", "scan.newly-added-table.enabled", "scan.read-changelog-as-append-only.enabled",
            "scan.incremental.snapshot.enabled", "scan.incremental.snapshot.backfill.skip",
            "scan.incremental.close-idle-reader.enabled",
        )},
    },
    "mysql-cdc": CDC_CASES | {
        "server-id": ({}, {"server-id": "7-9"}),
        "scan.startup.specific-offset.file": (
            {}, {"scan.startup.mode": "specific-offset", "scan.startup.specific-offset.file": "binlog.000001"},
        ),
        "scan.startup.specific-offset.pos": (
            AT_POSITION, AT_POSITION | {"scan.startup.specific-offset.pos": "5"},
        ),
        "scan.startup.specific-offset.gtid-set": (
            AT_POSITION, AT_POSITION | {"scan.startup.specific-offset.gtid-set": "0-1-5"},
        ),
        "scan.startup.timestamp-millis": (
            {"scan.startup.mode": "timestamp", "scan.startup.timestamp-millis": "1"},
            {"scan.startup.mode": "timestamp", "scan.startup.timestamp-millis": "2"},
        ),
        "server-time-zone": ({}, {"server-time-zone": "Asia/Tokyo"}),
        "scan.incremental.snapshot.enabled": ({}, {"scan.incremental.snapshot.enabled": "false"}),
        "scan.incremental.snapshot.unbounded-chunk-first.enabled": (
            {}, {"scan.incremental.snapshot.unbounded-chunk-first.enabled": "true"},
        ),
        "heartbeat.interval": ({}, {"heartbeat.interval": "1 s"}),
        "connection.pool.size": ({}, {"connection.pool.size": "5"}),
    },
    "postgres-cdc": CDC_CASES | {
        "schema-name": ({}, {"schema-name": "b"}),
        "slot.name": ({}, {"slot.name": "b"}),
        "decoding.plugin.name": ({}, {"decoding.plugin.name": "pgoutput"}),
        "changelog-mode": ({}, {"changelog-mode": "upsert"}),
        "scan.lsn-commit.checkpoints-num-delay": ({}, {"scan.lsn-commit.checkpoints-num-delay": "5"}),
        "scan.include-partitioned-tables.enabled": ({}, {"scan.include-partitioned-tables.enabled": "true"}),
        "scan.incremental.snapshot.enabled": ({}, {"scan.incremental.snapshot.enabled": "true"}),
        "scan.incremental.snapshot.unbounded-chunk-first.enabled": (
            {}, {"scan.incremental.snapshot.unbounded-chunk-first.enabled": "false"},
        ),
        "heartbeat.interval.ms": ({}, {"heartbeat.interval.ms": "1 s"}),
        "connection.pool.size": ({}, {"connection.pool.size": "5"}),
        "table-id.include-database": ({}, {"table-id.include-database": "true"}),
    },
    "savepoint": JAVA_TYPE_CASES | {
        "state.path": ({}, {"state.path": "/tmp/none"}),
        "operator.uid": ({}, {"operator.uid": "others"}),
        "operator.uid.hash": ({}, {"operator.uid.hash": "00"}),
        "state.backend.type": ({}, {"state.backend.type": "rocksdb"}),
        "scurry.savepoint.allow-untrusted": ({}, {"scurry.savepoint.allow-untrusted": "true"}),
        "fields.v.state-name": ({}, {"fields.v.state-name": "w"}),
        "fields.p.state-name": ({}, {"fields.p.state-name": "w"}),
        "fields.v.state-type": ({}, {"fields.v.state-type": "list"}),
        "fields.p.state-type": ({}, {"fields.p.state-type": "map"}),
    },
    "spark": {"format": ({}, {"format": "csv"}), "path": ({}, {"path": "/tmp/others"})},
    "pubsub": MESSAGE_CASES | {
        "project": ({}, {"project": "other"}),
        "subscription": ({}, {"subscription": "other"}),
        "topic": ({}, {"topic": "other"}),
        "emulator-host": ({}, {"emulator-host": "other:1"}),
        "credentials-file": ({}, {"credentials-file": __file__}),
    },
    "mqtt": MESSAGE_CASES | LOGIN_CASES | {
        "host": ({}, {"host": "other"}),
        "port": ({}, {"port": "1"}),
        "ssl.enabled": ({}, {"ssl.enabled": "true"}),
        "topic": ({}, {"topic": "other"}),
        "client-id": ({}, {"client-id": "other"}),
        "qos": ({}, {"qos": "0"}),
        "sink.retain": ({}, {"sink.retain": "true"}),
    },
    "prometheus": {
        "metric.name": ({}, {"metric.name": "p"}),
        "metric.label.keys": ({}, {"metric.label.keys": "p;v"}),
        "metric.sample.key": ({}, {"metric.sample.key": "v"}),
        "metric.sample.timestamp": ({}, {"metric.sample.timestamp": "v"}),
        "metric.endpoint-url": ({}, {"metric.endpoint-url": "http://g"}),
        "metric.request-signer": ({}, {"metric.request-signer": "a"}),
        "sink.batch.max-size": ({}, {"sink.batch.max-size": "7"}),
        "sink.flush-buffer.timeout": ({}, {"sink.flush-buffer.timeout": "7"}),
        "sink.on-refused": ({}, {"sink.on-refused": "FAIL"}),
        "sink.parallelism": ({}, {"sink.parallelism": "3"}),
    },
    "kinesis": AWS_CASES | {
        "stream.arn": ({}, {"stream.arn": "other"}),
        "source.init.position": ({}, {"source.init.position": "TRIM_HORIZON"}),
        "source.init.timestamp": (AT_TIME, AT_TIME | {"source.init.timestamp": "2"}),
        "source.init.timestamp.format": (
            AT_DAY, AT_DAY | {"source.init.timestamp.format": "yyyy"},
        ),
        "source.shard.discovery.interval": ({}, {"source.shard.discovery.interval": "7 s"}),
        "source.reader.type": ({}, {"source.reader.type": "EFO"}),
        "source.reader.empty-records-fetch-interval": ({}, {"source.reader.empty-records-fetch-interval": "7 s"}),
        "source.reader.nonempty-records-fetch-interval": ({}, {"source.reader.nonempty-records-fetch-interval": "7 s"}),
        "source.shard.get-records.max-record-count": ({}, {"source.shard.get-records.max-record-count": "7"}),
        **{f"source.efo.{name}": ({}, {f"source.efo.{name}": "7"}) for name in (
            "consumer.name", "lifecycle", "subscription.timeout", "deregister.timeout",
            "describe.retry-strategy.attempts.max", "describe.retry-strategy.delay.min",
            "describe.retry-strategy.delay.max",
        )},
        "scan.bounded.mode": ({}, {"scan.bounded.mode": "latest-offset"}),
        "scan.parallelism": ({}, {"scan.parallelism": "3"}),
        "sink.partitioner": ({}, {"sink.partitioner": "fixed"}),
        "sink.partitioner-field-delimiter": (
            {"PARTITIONED BY": "k"}, {"PARTITIONED BY": "k", "sink.partitioner-field-delimiter": "/"},
        ),
    },
    "firehose": AWS_CASES | {"delivery-stream": ({}, {"delivery-stream": "other"})},
    "nats": MESSAGE_CASES | LOGIN_CASES | {
        "servers": ({}, {"servers": "nats://other"}),
        "token": ({}, {"token": "a"}),
        "stream": ({}, {"stream": "other"}),
        "subject": ({}, {"subject": "other"}),
        "scan.startup.mode": ({}, {"scan.startup.mode": "latest-offset"}),
        "scan.startup.timestamp-millis": KAFKA_CASES["scan.startup.timestamp-millis"],
        "scan.startup.specific-offset": (
            {"scan.startup.mode": "specific-offset", "scan.startup.specific-offset": "1"},
            {"scan.startup.mode": "specific-offset", "scan.startup.specific-offset": "2"},
        ),
        "scan.bounded.mode": ({}, {"scan.bounded.mode": "latest-offset"}),
        "sink.delivery-guarantee": ({}, ONCE),
        "sink.staging-dir": (ONCE, ONCE | {"sink.staging-dir": "/tmp/other"}),
    },
    "redis": LOOKUP_CASES | REDIS_CASES | {
        "data-type": ({}, {"data-type": "string"}),
        "key.prefix": ({}, {"key.prefix": "a"}),
        "key.delimiter": ({}, {"key.delimiter": "/"}),
        "ttl": ({}, {"ttl": "1 s"}),
        "sink.parallelism": ({}, {"sink.parallelism": "3"}),
        "sink.buffer-flush.max-rows": ({}, {"sink.buffer-flush.max-rows": "7"}),
        "sink.buffer-flush.interval": ({}, {"sink.buffer-flush.interval": "7 s"}),
    },
    "redis-stream": MESSAGE_CASES | REDIS_CASES | {
        "stream": ({}, {"stream": "other"}),
        "scan.parallelism": ({}, {"scan.parallelism": "3"}),
        "scan.startup.mode": ({}, {"scan.startup.mode": "latest-offset"}),
        "scan.startup.timestamp-millis": KAFKA_CASES["scan.startup.timestamp-millis"],
        "scan.startup.specific-offset": (
            {"scan.startup.mode": "specific-offset", "scan.startup.specific-offset": "1-0"},
            {"scan.startup.mode": "specific-offset", "scan.startup.specific-offset": "2-0"},
        ),
        "scan.bounded.mode": ({}, {"scan.bounded.mode": "latest-offset"}),
        "value.field": ({}, {"value.field": "f"}),
        "key.field": ({}, {"key.field": "f"}),
        "sink.delivery-guarantee": ({}, {"sink.delivery-guarantee": "exactly-once"}),
        "sink.max-length": ({}, {"sink.max-length": "5"}),
    },
    "pulsar": MESSAGE_CASES | {
        "topics": ({}, {"topics": "u"}),
        "service-url": ({}, {"service-url": "pulsar://i:6650"}),
        "admin-url": ({}, {"admin-url": "http://h:8080"}),
        "explicit": ({}, {"explicit": "false"}),
        "source.subscription-name": ({}, {"source.subscription-name": "other"}),
        "source.subscription-type": ({}, {"source.subscription-type": "Shared"}),
        "source.start.message-id": ({}, {"source.start.message-id": "latest"}),
        "source.start.publish-time": ({}, {"source.start.publish-time": "7"}),
        "source.stop.at-message-id": ({}, {"source.stop.at-message-id": "1:2:-1"}),
        "source.stop.after-message-id": ({}, {"source.stop.after-message-id": "1:2:-1"}),
        "source.stop.at-publish-time": ({}, {"source.stop.at-publish-time": "7"}),
        "scan.parallelism": ({}, {"scan.parallelism": "3"}),
        "sink.topic-routing-mode": ({}, {"sink.topic-routing-mode": "message-key-hash"}),
        "sink.message-delay-interval": ({}, {"sink.message-delay-interval": "7"}),
        "pulsar.sink.deliveryGuarantee": (STAGED, STAGED | {"pulsar.sink.deliveryGuarantee": "at-least-once"}),
        "sink.staging-dir": (STAGED, STAGED | {"sink.staging-dir": "/tmp/other"}),
        "sink.parallelism": ({}, {"sink.parallelism": "3"}),
    },
    "rabbitmq": MESSAGE_CASES | {
        "queue": ({}, {"queue": "other"}),
        "host": ({}, {"host": "other"}),
        "port": ({}, {"port": "1"}),
        "virtual-host": ({}, {"virtual-host": "v"}),
        "username": ({}, {"username": "ann"}),
        "password": ({}, {"password": "a"}),
        "uri": ({}, {"uri": "amqp://ann:a@host:1/v"}),
        "queue.type": ({}, STREAM),
        "scan.correlation-id.enabled": ({}, {"scan.correlation-id.enabled": "true"}),
        "scan.prefetch-count": ({}, {"scan.prefetch-count": "3"}),
        "scan.startup.mode": (STREAM, STREAM | {"scan.startup.mode": "latest-offset"}),
        "scan.startup.timestamp-millis": (
            STREAM | {"scan.startup.mode": "timestamp", "scan.startup.timestamp-millis": "1"},
            STREAM | {"scan.startup.mode": "timestamp", "scan.startup.timestamp-millis": "2"},
        ),
        "scan.startup.specific-offset": (
            STREAM | {"scan.startup.mode": "specific-offset", "scan.startup.specific-offset": "1"},
            STREAM | {"scan.startup.mode": "specific-offset", "scan.startup.specific-offset": "2"},
        ),
        "sink.exchange": ({}, {"sink.exchange": "e"}),
        "sink.routing-key": ({}, {"sink.routing-key": "k"}),
        "sink.delivery-guarantee": (STREAM, STREAM | ONCE),
        "sink.staging-dir": (STREAM | ONCE, STREAM | ONCE | {"sink.staging-dir": "/tmp/other"}),
        "stream.port": (STREAM | ONCE, STREAM | ONCE | {"stream.port": "1"}),
    },
    "upsert-kafka": KAFKA_CASES | UPSERT_CASES,
    "upsert-log": LOG_CASES | UPSERT_CASES,
}  # fmt: skip
REGISTRY = {"url": "http://r", "subject": "s"}
CHANGE_CASES = {
    "encode.decimal-as-plain-number": ({}, {"encode.decimal-as-plain-number": "true"}),
    "encode.ignore-null-fields": ({}, {"encode.ignore-null-fields": "true"}),
    "ignore-parse-errors": ({}, {"ignore-parse-errors": "true"}),
    "map-null-key.mode": ({}, {"map-null-key.mode": "DROP"}),
    "map-null-key.literal": (
        {"map-null-key.mode": "LITERAL"}, {"map-null-key.mode": "LITERAL", "map-null-key.literal": "a"},
    ),
    "timestamp-format.standard": ({}, {"timestamp-format.standard": "ISO-8601"}),
}  # fmt: skip
MESSAGE = {"message-class-name": "google.protobuf.wrappers_pb2.StringValue"}
FORMAT_CASES: dict[str, dict[str, tuple[dict[str, str], dict[str, str]]]] = {
    "avro": {
        "encoding": ({}, {"encoding": "json"}),
        "codec": ({}, {"codec": "xz"}),
        "timestamp_mapping.legacy": ({}, {"timestamp_mapping.legacy": "false"}),
    },
    "avro-confluent": {
        "timestamp_mapping.legacy": (REGISTRY, REGISTRY | {"timestamp_mapping.legacy": "false"}),
        "url": (REGISTRY, REGISTRY | {"url": "http://q"}),
        "subject": (REGISTRY, REGISTRY | {"subject": "t"}),
        "schema": (REGISTRY, REGISTRY | {"schema": '{"type": "record", "name": "r", "fields": []}'}),
        "basic-auth.credentials-source": (REGISTRY, REGISTRY | {"basic-auth.credentials-source": "USER_INFO"}),
        "basic-auth.user-info": (REGISTRY, REGISTRY | {"basic-auth.user-info": "a:b"}),
        "bearer-auth.credentials-source": (REGISTRY, REGISTRY | {"bearer-auth.credentials-source": "STATIC_TOKEN"}),
        "bearer-auth.token": (REGISTRY, REGISTRY | {"bearer-auth.token": "a"}),
    },
    "canal-json": CHANGE_CASES
    | {"database.include": ({}, {"database.include": "a"}), "table.include": ({}, {"table.include": "a"})},
    "csv": {
        "allow-comments": ({}, {"allow-comments": "true"}),
        "array-element-delimiter": ({}, {"array-element-delimiter": "+"}),
        "disable-quote-character": ({}, {"disable-quote-character": "true"}),
        "escape-character": ({}, {"escape-character": "+"}),
        "field-delimiter": ({}, {"field-delimiter": "+"}),
        "ignore-parse-errors": ({}, {"ignore-parse-errors": "true"}),
        "null-literal": ({}, {"null-literal": "n"}),
        "quote-character": ({}, {"quote-character": "'"}),
        "write-bigdecimal-in-scientific-notation": ({}, {"write-bigdecimal-in-scientific-notation": "true"}),
    },
    "debezium-json": CHANGE_CASES | {"schema-include": ({}, {"schema-include": "true"})},
    "json": CHANGE_CASES
    | {
        "fail-on-missing-field": ({}, {"fail-on-missing-field": "true"}),
        "decode.json-parser.enabled": ({}, {"decode.json-parser.enabled": "false"}),
    },
    "maxwell-json": CHANGE_CASES,
    "ogg-json": CHANGE_CASES,
    "orc": {"compress": ({}, {"compress": "ZLIB"})},
    "parquet": {"compression": ({}, {"compression": "GZIP"}), "utc-timezone": ({}, {"utc-timezone": "true"})},
    "protobuf": {
        "message-class-name": (MESSAGE, {"message-class-name": "google.protobuf.wrappers_pb2.BytesValue"}),
        "descriptor-file": (MESSAGE, MESSAGE | {"descriptor-file": "/tmp/none"}),
        "ignore-parse-errors": (MESSAGE, MESSAGE | {"ignore-parse-errors": "true"}),
        "read-default-values": (MESSAGE, MESSAGE | {"read-default-values": "true"}),
        "write-null-string-literal": (MESSAGE, MESSAGE | {"write-null-string-literal": "a"}),
    },
    "raw": {"charset": ({}, {"charset": "UTF-16"}), "endianness": ({}, {"endianness": "little-endian"})},
}


def context_of(connector: str, options: Mapping[str, str], *others: Column) -> TableContext:
    k = "_id" if connector == "mongodb-cdc" else "k"
    named = {k if name == "k" else name: data_type for name, data_type in COLUMNS.items()}
    columns = [*(PhysicalColumn(name, data_type) for name, data_type in named.items()), *others]
    key = UniqueConstraint("pk", (k,)) if connector in BY_KEY else None
    given = {"connector": connector, **{key: SNAPSHOTS.get(value, value) for key, value in options.items()}}
    partitions = ("p",) if connector == "filesystem" else ("k", "p") if given.pop("PARTITIONED BY", None) else ()
    table = CatalogTable(ResolvedSchema(columns, primary_key=key), None, given, partitions)
    return TableContext(ObjectIdentifier("c", "d", "t"), table, given, streaming=connector != "spark")


def described(made: Any, inside: tuple[int, ...] = ()) -> str:
    """Return everything that an object is made of, without the options that a format keeps for those of others."""
    if made is None or isinstance(made, (str, bytes, int, float, type)):
        return repr(made)
    if isinstance(made, OpenedTable):
        return "an opened table"
    if id(made) in inside:
        return "..."
    inside = (*inside, id(made))
    if isinstance(made, Options):
        own = {key: value for key, value in made.values.items() if key.startswith(made.prefix or "fields.")}
        return f"Options({sorted(own.items())})"
    if isinstance(made, Mapping):
        return str({described(key, inside): described(value, inside) for key, value in made.items()})
    if isinstance(made, (list, tuple, set, frozenset)):
        return str([described(each, inside) for each in made])
    held = {name: getattr(made, name) for name in getattr(type(made), "__slots__", ())} | getattr(made, "__dict__", {})
    return f"{type(made).__name__}({described(held, inside)})"


def outcome(make: Callable[[], Any]) -> str:
    try:
        return described(make())
    except ScurryError as error:
        return f"{type(error).__name__}: {str(error).rpartition(chr(10) * 2)[2]}"


def of_connector(factory: TableFactory, options: Mapping[str, str]) -> list[str]:
    context = context_of(factory.identifier, NEEDED[factory.identifier] | dict(options))
    if "topic-pattern" in options:
        context = context_of(factory.identifier, {k: v for k, v in context.options.items() if k != "topic"})
    if "value.format" in options and factory.identifier in (
        "kafka",
        "log",
        "mqtt",
        "nats",
        "pubsub",
        "pulsar",
        "rabbitmq",
        "redis-stream",
    ):
        context = context_of(factory.identifier, {k: v for k, v in context.options.items() if k != "format"})
    return [
        outcome(lambda: factory.create_source(context)),
        outcome(lambda: factory.create_source(context).create_lookup(["k"], ["v"])),
        outcome(lambda: factory.create_sink(context, SinkTarget())),
    ]


def of_format(factory: FormatFactory, given: Mapping[str, str]) -> list[str]:
    options = Options({f"{factory.identifier}.{key}": value for key, value in given.items()})
    kind = BigIntType() if factory.identifier == "raw" else TimestampType(3)
    columns = [FormatColumn("a", VarCharType(5) if "charset" in given else kind)]
    if factory.identifier == "protobuf":
        columns = [FormatColumn("value", VarCharType(5))]

    def make(kind: str, how: Callable[[Options], Any], files: bool = False) -> str:
        return outcome(lambda: how(checked_options(factory, options, kind, files=files)))

    return [
        make("scan", lambda own: factory.message_decoder(columns, [columns[0].name], (), own)),
        make("sink", lambda own: factory.message_encoder(columns, own)),
        make("scan", lambda own: factory.file_reader(columns, [columns[0].name], own), True),
        make("sink", lambda own: factory.file_writer(columns, own), True),
    ]


def options_of_connectors() -> list[Any]:
    found = []
    for connector in CONNECTORS:
        for option in find_factory(connector).options(context_of(connector, NEEDED.get(connector, {}))):
            if connector != "datagen" or option.key in CASES["datagen"]:
                found.append(pytest.param(connector, option, id=f"{connector}-{option.key}"))
    return found


@pytest.fixture(scope="module", autouse=True)
def lakes(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Tables of lakes, which sources look at when they are made."""
    path = tmp_path_factory.mktemp("lakes")
    rows = pa.table({"k": pa.array([1], pa.int32()), "v": ["a"], "p": ["b"]})
    for _ in range(2):
        deltalake.write_deltalake(str(path / "delta"), rows, mode="append")
    NEEDED["delta"] = {"table-path": str(path / "delta")}
    properties = {"uri": f"sqlite:///{path}/catalog.db", "warehouse": f"file://{path}"}
    catalog = load_catalog("c", type="sql", **properties)
    catalog.create_namespace("db")
    table = catalog.create_table("db.t", rows.schema)
    for which in SNAPSHOTS:
        table.append(rows)
        SNAPSHOTS[which] = str(table.metadata.current_snapshot_id)
    both = [OperatorTransformation.keyed_state([(1, {"v": "a", "w": "b"})], STATES) for _ in range(2)]
    writer = SavepointWriter.new_savepoint().with_operator("visits", both[0]).with_operator("others", both[1])
    NEEDED["savepoint"]["state.path"] = writer.write(str(path / "savepoint"))
    NEEDED["iceberg"] = {"catalog-name": "c", "catalog-type": "sql", "catalog-database": "db"} | properties


@pytest.mark.parametrize(("connector", "option"), options_of_connectors())
def test_an_option_of_a_connector_changes_what_is_made(connector: str, option: TableOption[Any]) -> None:
    first, second = CASES[connector][option.key]
    factory = find_factory(connector)
    assert (of_connector(factory, first) == of_connector(factory, second)) == option.without_effect


def all_options(name: str) -> list[TableOption[Any]]:
    found = find_format(name)
    return list({option.key: option for option in (*found.options, *found.file_options)}.values())


@pytest.mark.parametrize(
    ("name", "option"),
    [pytest.param(name, option, id=f"{name}-{option.key}") for name in FORMATS for option in all_options(name)],
)
def test_an_option_of_a_format_changes_what_is_made(name: str, option: TableOption[Any]) -> None:
    first, second = FORMAT_CASES[name][option.key]
    factory = find_format(name)
    assert (of_format(factory, first) == of_format(factory, second)) == option.without_effect


@pytest.mark.parametrize("option", ["group", "max-drift", "update-interval"])
def test_alignment_of_watermarks_needs_a_group_and_a_drift(option: str) -> None:
    values = {"group": "g", "max-drift": "1 s", "update-interval": "2 s"}
    one = {f"scan.watermark.alignment.{option}": values[option]}
    assert "must be set when configuring watermark alignment" in of_connector(find_factory("filesystem"), one)[0]


def test_options_of_watermarks_are_checked_as_by_flink() -> None:
    factory = find_factory("filesystem")
    assert of_connector(factory, {"scan.watermark.emit.strategy": "nope"})[0].endswith(
        "for key 'scan.watermark.emit.strategy'.\nExpected one of: [[on-event, on-periodic]]"
    )
    assert of_connector(factory, {"scan.watermark.idle-timeout": "x"})[0].endswith(
        "text does not start with a number, and is not a valid ISO-8601 duration format: x"
    )


def test_options_without_effect_say_why() -> None:
    tables = [option for connector in NEEDED for option in find_factory(connector).options(context_of(connector, {}))]
    formats = [option for name in FORMATS for option in all_options(name)]
    assert all(option.description for option in [*tables, *formats] if option.without_effect)


@pytest.mark.parametrize(
    "connector", sorted(set(CONNECTORS) - {"blackhole", "firehose", "http-async-sink", "print", "prometheus"})
)
def test_a_connector_reads_metadata_or_refuses_its_columns(connector: str) -> None:
    of_nothing = MetadataColumn("m", BigIntType(), metadata_key="no-such-key", virtual=True)
    with pytest.raises(ValidationError, match="Invalid metadata key|reads no metadata"):
        create_source(context_of(connector, NEEDED[connector], of_nothing))
