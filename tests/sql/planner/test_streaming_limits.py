"""What Flink refuses in STREAMING, with its words."""

from __future__ import annotations

import pytest

from scurry.errors import ValidationError
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.planner.rules import optimized
from scurry.sql.types import IntType, TimeAttribute, TimestampType
from support.queries import Tables

STREAMING = EvaluationContext(is_streaming=True)


@pytest.fixture
def tables() -> Tables:
    found = Tables()
    rowtime = TimestampType(3).as_time_attribute(TimeAttribute.ROWTIME)
    found.add("w", {"id": IntType(), "price": IntType(), "ts": rowtime})
    return found


REFUSED = {
    "SELECT id FROM w ORDER BY id": "Sort on a non-time-attribute field is not supported.",
    "SELECT SUM(price) OVER (PARTITION BY id) FROM w": "The window can only be ordered by a single time column.",
    "SELECT SUM(price) OVER (ORDER BY ts DESC) FROM w": "The window can only be ordered in ASCENDING mode.",
    "SELECT SUM(price) OVER (ORDER BY price ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM w": (
        "Non-time attribute sort is not supported for bounded OVER window."
    ),
    "SELECT * FROM (SELECT *, RANK() OVER (PARTITION BY id ORDER BY price) AS r FROM w) WHERE r <= 2": (
        "RANK() on streaming table is not supported currently"
    ),
    "SELECT * FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY price) AS r FROM w) WHERE r > 3": (
        "Rank end is not specified. Currently rank only support TopN, which means the rank end must be specified."
    ),
    "SELECT LEAD(price) OVER (ORDER BY ts) FROM w": "LEAD Function is not supported in stream mode.",
}

ACCEPTED = [
    "SELECT id FROM w ORDER BY ts, id",
    "SELECT id FROM w ORDER BY id LIMIT 3",
    "SELECT SUM(price) OVER (ORDER BY ts ROWS 2 PRECEDING) FROM w",
    "SELECT SUM(price) OVER (ORDER BY price) FROM w",
    "SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY price DESC) AS r FROM w) WHERE r <= 2",
    "SELECT id FROM w QUALIFY ROW_NUMBER() OVER (PARTITION BY id ORDER BY ts DESC) = 1",
]


@pytest.mark.parametrize("query", REFUSED)
def test_refused(tables: Tables, query: str) -> None:
    with pytest.raises(ValidationError) as raised:
        optimized(tables.plan(query, STREAMING), STREAMING)
    assert str(raised.value) == REFUSED[query]


@pytest.mark.parametrize("query", ACCEPTED)
def test_accepted(tables: Tables, query: str) -> None:
    assert len(optimized(tables.plan(query, STREAMING), STREAMING).schema)


@pytest.mark.parametrize("query", REFUSED)
def test_batch_accepts_what_streaming_refuses(tables: Tables, query: str) -> None:
    assert tables.rows(query) == []
