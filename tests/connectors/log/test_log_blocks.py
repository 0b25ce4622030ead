"""Blocks give back the records that they were made of, or say that they are damaged; keys go where Kafka puts them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scurry.connectors.log.blocks import (
    BLOCK_BYTES,
    BLOCK_RECORDS,
    HEADER_BYTES,
    Damage,
    Entry,
    decoded,
    encoded,
    header_of,
    placed,
)
from scurry.connectors.log.partitioning import partitions_of
from support.cases import cases

texts = st.none() | st.binary(max_size=12)
headers = st.none() | st.lists(st.tuples(st.text(max_size=4), texts), max_size=3)
entries = st.lists(st.tuples(texts, texts, st.integers(0, 1 << 60), headers), min_size=1, max_size=8)


def records(block: bytes) -> list[Entry]:
    header = header_of(block)
    columns = decoded(block[:HEADER_BYTES], header, block[HEADER_BYTES:])
    keys = columns.keys or [None] * header.records
    of_headers = columns.headers or [()] * header.records
    return list(zip(keys, columns.values, columns.timestamps, of_headers, strict=True))


@settings(max_examples=cases(100))
@given(entries)
def test_a_block_has_its_records(given_: list[Entry]) -> None:
    (block,) = encoded(given_)
    assert records(block) == [(key, value, time, tuple(head or ())) for key, value, time, head in given_]
    assert header_of(block).latest == max(time for _, _, time, _ in given_)


@settings(max_examples=cases(100))
@given(entries, st.data())
def test_a_changed_bit_is_damage(given_: list[Entry], data: st.DataObject) -> None:
    block = bytearray(next(encoded(given_)))
    place = data.draw(st.sampled_from([*range(8), *range(16, len(block))]))  # the offset is not the content
    block[place] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(Damage):
        records(bytes(block))


def test_a_torn_block_is_damage() -> None:
    (block,) = encoded([(None, b"value", 1, None)])
    for end in range(len(block)):
        with pytest.raises(Damage):
            records(block[:end])


def test_placing_a_block_changes_only_its_offset() -> None:
    (block,) = encoded([(b"k", b"v", 7, [("a", b"b")])])
    moved = bytes(placed(block, 41))
    assert (header_of(moved).offset, header_of(moved).end) == (41, 42)
    assert records(moved) == records(block)


def test_blocks_have_limits_of_records_and_bytes() -> None:
    small = list(encoded([(None, b"", number, None) for number in range(2 * BLOCK_RECORDS + 1)]))
    assert [header_of(block).records for block in small] == [BLOCK_RECORDS, BLOCK_RECORDS, 1]
    large = list(encoded([(None, bytes(BLOCK_BYTES // 3), number, None) for number in range(8)]))
    assert [header_of(block).records for block in large] == [2, 2, 2, 2]
    assert [time for block in large for _, _, time, _ in records(block)] == list(range(8))


def test_keys_are_hashed_as_kafka_does() -> None:
    """The hashes are those of Kafka's own test of its clients."""
    known = {
        b"21": -973932308,
        b"foobar": -790332482,
        b"a-little-bit-long-string": -985981536,
        b"a-little-bit-longer-string": -1486304829,
        b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
        b"abc": 479470107,
    }
    assert partitions_of(list(known), 1009) == [(found & 0x7FFFFFFF) % 1009 for found in known.values()]
