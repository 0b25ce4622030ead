"""Malformed messages of every text format: one fails with its position, or is skipped if the format is told to."""

from __future__ import annotations

from itertools import product

import pytest

from scurry.connectors.source import SKIPPED
from scurry.sql.catalog.table_options import Options
from scurry.sql.formats.contract import FormatColumn
from scurry.sql.formats.message_format import bound_format
from scurry.sql.formats.messages import DecodingError
from scurry.sql.types import IntType, VarCharType
from scurry.sql.types.values import to_values

COLUMNS = [FormatColumn("id", IntType()), FormatColumn("name", VarCharType(0x7FFFFFFF))]
#: A message of each format with the row (1, "a").
GOOD = {
    "json": b'{"id":1,"name":"a"}',
    "csv": b"1,a",
    "debezium-json": b'{"after":{"id":1,"name":"a"},"op":"c"}',
    "ogg-json": b'{"after":{"id":1,"name":"a"},"op_type":"I"}',
    "canal-json": b'{"data":[{"id":1,"name":"a"}],"type":"INSERT"}',
    "maxwell-json": b'{"data":{"id":1,"name":"a"},"type":"insert"}',
}
#: What nothing can be read of in any format.
HOPELESS = {
    "json": (b"{", b"no", b"[1,2]", b'{"id":1,"name":"a"', b"\x00"),
    "csv": (b"1,a,b", b'"1,a', b'1,"a'),
    **dict.fromkeys(("debezium-json", "ogg-json"), (b"{", b"no", b"[7]", b"{}", b'{"after":{"id":1},"op":"?"}')),
    **dict.fromkeys(("canal-json", "maxwell-json"), (b"{", b"no", b"[7]", b"{}", b'{"data":7,"type":"insert"}')),
}
WRONG = [(identifier, message) for identifier, some in HOPELESS.items() for message in some]


def ids(identifier: str, *messages: bytes, ignored: bool) -> list[int]:
    options = Options({f"{identifier}.ignore-parse-errors": str(ignored).lower()})
    decoder = bound_format(options, "", identifier, COLUMNS, "scan").decoder(["id", "name"], ())
    return list(to_values(decoder.decode_messages(list(messages)).batch.column(0)))


@pytest.mark.parametrize(("identifier", "wrong"), WRONG)
def test_the_first_one_fails_with_its_position(identifier: str, wrong: bytes) -> None:
    good = GOOD[identifier]
    with pytest.raises(DecodingError) as raised:
        ids(identifier, good, good, wrong, wrong, good, ignored=False)
    assert raised.value.index == 2
    assert raised.value.reason


@pytest.mark.parametrize(("identifier", "wrong"), WRONG)
def test_it_is_skipped_wherever_it_is(identifier: str, wrong: bytes) -> None:
    good = GOOD[identifier]
    for chosen in product((good, wrong), repeat=3):
        assert ids(identifier, *chosen, ignored=True) == [1] * chosen.count(good)


@pytest.mark.parametrize(("identifier", "wrong"), WRONG)
def test_it_is_counted_when_it_is_skipped(identifier: str, wrong: bytes) -> None:
    skipped: list[int] = []
    token = SKIPPED.set(skipped.append)
    try:
        ids(identifier, GOOD[identifier], wrong, wrong, ignored=True)
    finally:
        SKIPPED.reset(token)
    rows = 2 if (identifier, wrong) == ("json", b"[1,2]") else 1  # each value of an array is a row
    assert sum(skipped) == 2 * rows
