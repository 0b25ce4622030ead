"""Actions by id are made as texts: they say what the general function makes, whatever is in ids and indices."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scurry.connectors.elasticsearch.bulk import action_of
from scurry.sql.catalog.entries import CatalogTable
from scurry.sql.catalog.identifier import ObjectIdentifier
from scurry.sql.catalog.schema import PhysicalColumn, ResolvedSchema, UniqueConstraint
from scurry.sql.connectors.contract import Changes, SinkTarget, TableContext
from scurry.sql.connectors.factories import create_sink
from scurry.sql.types import VarCharType

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


def actions(options: dict[str, str], rows: list[tuple[str, str]], kinds: list[int]) -> list[Any]:
    options = {"connector": "elasticsearch-7", "hosts": "http://h:9200"} | options
    columns = [PhysicalColumn("k", VarCharType(20, False)), PhysicalColumn("v", VarCharType(20))]
    table = CatalogTable(ResolvedSchema(columns, primary_key=UniqueConstraint("pk", ("k",))), None, options, ())
    sink: Any = create_sink(TableContext(ObjectIdentifier("c", "d", "t"), table, options, streaming=True), SinkTarget())
    batch = pa.RecordBatch.from_arrays([pa.array(each) for each in zip(*rows, strict=True)], names=["k", "v"])
    return list(sink.changes.emitter.actions([Changes(batch, kinds)]))


@pytest.mark.parametrize("kind", [None, 'per"son'])
@given(rows=st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=3))
def test_they_are_those_of_the_general_function(kind: str | None, rows: list[tuple[str, str]]) -> None:
    own = {"index": "i-{v}"}
    if kind is not None:
        own |= {"connector": "elasticsearch-6", "document-type": kind}
    kinds = [3 if number % 2 else 2 for number in range(len(rows))]
    for (key, value), gone, found in zip(rows, kinds, actions(own, rows, kinds), strict=True):
        target = {"_index": f"i-{value}"} | ({} if kind is None else {"_type": kind}) | {"_id": key}
        body = json.dumps({"doc": {"k": key, "v": value}, "doc_as_upsert": True}).encode()
        expected = action_of("delete", target, None, b"") if gone == 3 else action_of("update", target, body, b"")
        lines = [json.loads(line) for line in found.lines.split(b"\n")[:-1]]
        assert lines == [json.loads(line) for line in expected.lines.split(b"\n")[:-1]]
        assert found[1:3] == expected[1:3]
