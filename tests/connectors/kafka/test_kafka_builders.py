"""The builders accept what PyFlink's do, and refuse what cannot work with what to do instead."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from typing import Any

import pytest

from scurry.common.serialization import SimpleStringSchema
from scurry.connectors.kafka.topics import KafkaTopics
from scurry.datastream.connectors import DeliveryGuarantee
from scurry.datastream.connectors.kafka import (
    FlinkKafkaConsumer,
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSinkBuilder,
    KafkaSource,
    KafkaSourceBuilder,
    KafkaTopicPartition,
    KafkaTopicSelector,
)
from scurry.errors import ArgumentError, ArgumentTypeError, ExtraMissingError, ScurryError, UnsupportedError


def source() -> KafkaSourceBuilder:
    builder = KafkaSource.builder().set_bootstrap_servers("b:1").set_topics("t")
    return builder.set_value_only_deserializer(SimpleStringSchema())


def serializer() -> KafkaRecordSerializationSchema:
    builder = KafkaRecordSerializationSchema.builder().set_topic("t")
    return builder.set_value_serialization_schema(SimpleStringSchema()).build()


def sink() -> KafkaSinkBuilder:
    return KafkaSink.builder().set_bootstrap_servers("b:1").set_record_serializer(serializer())


def test_a_source_is_unbounded_unless_it_is_given_an_end() -> None:
    latest = KafkaOffsetsInitializer.latest()
    assert not source().build().bounded
    assert source().set_bounded(latest).build().bounded
    streaming = source().set_unbounded(latest).build()
    assert not streaming.bounded
    assert isinstance(streaming.scan, KafkaTopics) and streaming.scan.stop == latest


def test_sources_and_sinks_travel() -> None:
    built = source().set_property("sasl.password", "open-sesame").build()
    shipped = pickle.loads(pickle.dumps(built))
    assert shipped.scan == built.scan
    assert pickle.loads(pickle.dumps(sink().build())).serializer.topic == "t"
    assert "open-sesame" not in repr(built)


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: KafkaSource.builder().set_topics("t").build(), ArgumentError, "set_bootstrap_servers"),
        (lambda: KafkaSource.builder().set_bootstrap_servers("b:1").build(), ArgumentError, "nothing to read"),
        (lambda: KafkaSource.builder().set_bootstrap_servers("b:1").set_topics("t").build(), ArgumentError,
         "no deserializer"),
        (lambda: source().set_topic_pattern("x"), ArgumentError, "either topics, a topic pattern or partitions"),
        (lambda: KafkaSource.builder().set_topic_pattern("("), ArgumentError, "topic pattern"),
        (lambda: source().set_bounded(KafkaOffsetsInitializer.earliest()), ArgumentError, "takes an end"),
        (lambda: source().set_starting_offsets(7), ArgumentTypeError, "KafkaOffsetsInitializer, got 7"),  # type: ignore[arg-type]
        (lambda: source().set_starting_offsets(KafkaOffsetsInitializer.committed_offsets()).build(), ArgumentError,
         "set_group_id"),
        (lambda: source().set_property("no.such.thing", "1").build(), ArgumentError,
         'No such configuration property: "no.such.thing"'),
        (lambda: source().set_property("security.protocol", "carrier-pigeon").build(), ArgumentError,
         "security.protocol"),
        (lambda: source().set_property("auto.offset.reset", "soon").build(), ArgumentError, "auto.offset.reset"),
        (lambda: source().set_property("scurry.channels", "many").build(), ArgumentError, "whole number"),
        (lambda: source().set_value_only_deserializer(len), ArgumentTypeError, "DeserializationSchema"),  # type: ignore[arg-type]
        (lambda: KafkaOffsetsInitializer.offsets({KafkaTopicPartition("t", 0): -1}), ArgumentError, "0 or more"),
        (lambda: KafkaSink.builder().set_bootstrap_servers("b:1").build(), ArgumentError, "set_record_serializer"),
        (lambda: sink().set_property("acks", "some").build(), ArgumentError, "acks"),
        (lambda: sink().set_property("transactional.id", "x").build(), ArgumentError, "set_transactional_id_prefix"),
        (lambda: sink().set_delivery_guarantee("all"), ArgumentTypeError, "DeliveryGuarantee"),  # type: ignore[arg-type]
        (lambda: KafkaRecordSerializationSchema.builder().build(), ArgumentError, "no topic"),
        (lambda: KafkaRecordSerializationSchema.builder().set_topic("t").build(), ArgumentError, "no value"),
        (lambda: FlinkKafkaConsumer("t", SimpleStringSchema(), {}), UnsupportedError, "KafkaSource.builder"),
    ],
)  # fmt: skip
def test_what_cannot_work_is_refused(build: Callable[[], Any], error: type[ScurryError], message: str) -> None:
    with pytest.raises(error, match=message):
        build()


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "confluent_kafka", None)
    with pytest.raises(ExtraMissingError, match=r"pip install 'scurry\[kafka\]'"):
        source().build()


def test_topics_are_selected_by_functions_and_selectors() -> None:
    class ByLength(KafkaTopicSelector):
        def apply(self, data: Any) -> str:
            return f"length-{len(data)}"

    for selector in (ByLength(), ByLength().apply):
        builder = KafkaRecordSerializationSchema.builder().set_topic_selector(selector)
        built = builder.set_value_serialization_schema(SimpleStringSchema()).build()
        assert [record[0] for record in built.records(["a", "bb"], None)] == ["length-1", "length-2"]


def test_only_exactly_once_needs_the_driver() -> None:
    assert sink().set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE).build().exactly_once
    assert not sink().set_delivery_guarantee(DeliveryGuarantee.AT_LEAST_ONCE).build().exactly_once
    assert not sink().build().exactly_once
