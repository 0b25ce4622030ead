"""DynamicKafkaFactory: tables of streams that lie in topics of several clusters."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from scurry.connectors.kafka.dynamic.metadata import (
    FileMetadataService,
    KafkaMetadataService,
    KafkaStreamSetSubscriber,
    KafkaStreamSubscriber,
    SingleClusterTopicMetadataService,
    StreamPatternSubscriber,
)
from scurry.connectors.kafka.dynamic.topics import (
    DISCOVERY_INTERVAL,
    FAILURE_THRESHOLD,
    DynamicTopics,
    dynamic_topics,
)
from scurry.connectors.messages import MessageScan
from scurry.connectors.sink import Sink
from scurry.errors import ArgumentError, ValidationError
from scurry.sql.catalog.table_options import Options, TableOption, explained, one_of, whole_number
from scurry.sql.connectors.contract import SinkTarget, TableContext, TableFactory
from scurry.sql.connectors.kafka import options as keys
from scurry.sql.connectors.kafka.factory import KafkaFactory
from scurry.sql.connectors.messages.factory import FORMAT_OPTIONS
from scurry.sql.connectors.parallelism import SCAN_PARALLELISM

STREAM_IDS = TableOption("stream-ids", str, None, "The ids of the streams to read, with `;` between them.")
STREAM_PATTERN = TableOption("stream-pattern", str, None, "Regular expression of the ids of streams to read.")
SERVICE = TableOption(
    "metadata-service",
    str,
    None,
    "What knows clusters and topics of streams: `single-cluster` (ids are topics), `file`, or a class of Python, "
    "`package.module.Class`, which may take the `properties.*` as a dict.",
    required=True,
)
CLUSTER_ID = TableOption("metadata-service.cluster-id", str, None, "The id of the cluster of `single-cluster`.")
PATH = TableOption("metadata-service.path", str, None, "The file of `file`: JSON, or YAML if it ends in `.yaml`.")
INTERVAL = TableOption(
    DISCOVERY_INTERVAL, whole_number, -1, "Milliseconds between questions to the metadata service; 0 or less for one."
)
THRESHOLD = TableOption(FAILURE_THRESHOLD, whole_number, 1, "How many such questions in a row may fail.")
_MODES = ("earliest-offset", "latest-offset", "group-offsets", "timestamp")
_SPECIFIC = "specific-offsets"
START_MODE = replace(
    keys.START_MODE,
    parse=one_of((*_MODES, _SPECIFIC)),
    description="Where reading begins: " + ", ".join(f"`{mode}`" for mode in _MODES) + ".",
)
BOUNDED_MODE = replace(
    keys.BOUNDED_MODE,
    parse=one_of(("unbounded", *_MODES[1:], _SPECIFIC)),
    description="Where reading ends: " + ", ".join(f"`{mode}`" for mode in ("unbounded", *_MODES[1:])) + ".",
)

DYNAMIC_OPTIONS: tuple[TableOption[Any], ...] = (
    SERVICE,
    CLUSTER_ID,
    PATH,
    STREAM_IDS,
    STREAM_PATTERN,
    INTERVAL,
    THRESHOLD,
    replace(keys.SERVERS, required=False, description="The brokers of `single-cluster`, with commas."),
    keys.GROUP,
    *FORMAT_OPTIONS,
    START_MODE,
    keys.START_MILLIS,
    BOUNDED_MODE,
    keys.BOUNDED_MILLIS,
    keys.DISCOVERY,
    SCAN_PARALLELISM,
)


class DynamicKafkaFactory(KafkaFactory):
    """Make sources of streams that lie in topics of several clusters."""

    identifier = "dynamic-kafka"
    system_name = "Dynamic Kafka"
    system = DynamicTopics.system
    writes_metadata = False

    def options(self, context: TableContext) -> Sequence[TableOption[Any]]:
        """Return all options but those of formats."""
        return DYNAMIC_OPTIONS

    def scan(self, options: Options) -> MessageScan:
        """Return the messages of streams.

        Raises:
            ValidationError: Options do not fit together.
        """
        begin = "properties."
        given = {key.removeprefix(begin): value for key, value in options.values.items() if key.startswith(begin)}
        for option, which in ((START_MODE, "startup"), (BOUNDED_MODE, "bounded")):
            if options.find(option) == _SPECIFIC:
                raise ValidationError(f"Dynamic Kafka source does not support '{_SPECIFIC}' {which} mode.")
        subscriber = _subscriber(options)
        service = _service(options, given)
        # Clusters have brokers of their own; those of a single one are known to the service.
        shared = {name: value for name, value in given.items() if name != "bootstrap.servers"}
        shared.setdefault("partition.discovery.interval.ms", str(options.get(keys.DISCOVERY)))
        shared |= {DISCOVERY_INTERVAL: str(options.get(INTERVAL)), FAILURE_THRESHOLD: str(options.get(THRESHOLD))}
        group = options.values.get(keys.GROUP.key)
        try:
            return dynamic_topics(
                service, subscriber, shared, keys.started_at(options), keys.bounded_by(options), group
            )
        except ArgumentError as error:
            raise explained(error, str(error)) from None

    def create_sink(self, context: TableContext, target: SinkTarget) -> Sink:
        """Refuse to write: there is no sink, as in Flink.

        Raises:
            ValidationError: Always.
        """
        return TableFactory.create_sink(self, context, target)


def _subscriber(options: Options) -> KafkaStreamSubscriber:
    ids, pattern = options.find(STREAM_IDS), options.find(STREAM_PATTERN)
    if ids is not None and pattern is not None:
        raise ValidationError("Option 'stream-ids' and 'stream-pattern' shouldn't be set together.")
    if pattern is not None:
        try:
            return StreamPatternSubscriber(pattern)
        except ArgumentError as error:
            raise ValidationError(f"Option 'stream-pattern' contains an invalid regular expression. {error}") from None
    if ids is None:
        raise ValidationError("Either 'stream-ids' or 'stream-pattern' must be set.")
    named = [each.strip() for each in ids.split(";") if each.strip()]
    if not named:
        raise ValidationError("Option 'stream-ids' cannot be empty.")
    return KafkaStreamSetSubscriber(named)


def _service(options: Options, properties: Mapping[str, str]) -> KafkaMetadataService:
    name = options.get(SERVICE)
    if name.lower() == "single-cluster":
        cluster = options.find(CLUSTER_ID)
        for key in (CLUSTER_ID.key, keys.SERVERS.key):
            if key not in options.values:
                raise ValidationError(f"Option '{key}' is required for 'single-cluster' metadata service.")
        return SingleClusterTopicMetadataService(cluster or "", properties)
    if name.lower() == "file":
        path = options.find(PATH)
        if path is None:
            raise ValidationError(f"Option '{PATH.key}' is required for 'file' metadata service.")
        return FileMetadataService(path)
    return _of_python(name, properties)


def _of_python(name: str, properties: Mapping[str, str]) -> KafkaMetadataService:
    module, _, attribute = name.rpartition(".")
    try:
        found: Any = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValidationError(
            f"Option '{SERVICE.key}' = '{name}' is neither 'single-cluster' nor 'file', and no class of Python: {error}"
        ).with_hint(
            "name a subclass of KafkaMetadataService as 'package.module.Class'; Java classes are not loaded"
        ) from None
    if not (isinstance(found, type) and issubclass(found, KafkaMetadataService)):
        raise ValidationError(f"Option '{SERVICE.key}' = '{name}' is no subclass of KafkaMetadataService.")
    make: Any = found
    made: KafkaMetadataService = make(dict(properties)) if inspect.signature(found).parameters else make()
    return made
