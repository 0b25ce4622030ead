"""TableTestHarness: rows with kinds and times go in, changes come out."""

from __future__ import annotations

import pytest

from scurry.errors import ArgumentError
from scurry.table import ChangelogMode, Schema
from scurry.table.expressions import col
from scurry.testing import TableTestHarness

ORDERS = Schema.new_builder().column("name", "STRING").column("amount", "INT").build()
SUMS = "SELECT name, SUM(amount) FROM orders GROUP BY name"
TIMED = (
    Schema.new_builder()
    .column("name", "STRING")
    .column("amount", "INT")
    .column_by_metadata("ts", "TIMESTAMP_LTZ(3)", "rowtime")
    .watermark("ts", "SOURCE_WATERMARK()")
    .build()
)
WINDOWS = (
    "SELECT name, SUM(amount) FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' SECOND)) "
    "GROUP BY name, window_start, window_end"
)


def test_changes_of_a_query_follow_each_row() -> None:
    with TableTestHarness.of(SUMS, {"orders": ORDERS}) as harness:
        harness.insert("orders", "ann", 5)
        harness.insert("orders", "ann", 2)
        assert harness.changes() == [("+I", ("ann", 5)), ("-U", ("ann", 5)), ("+U", ("ann", 7))]
        harness.clear_changes()
        harness.insert("orders", "bob", 1)
        assert harness.changes() == [("+I", ("bob", 1))]


def test_rows_of_a_table_that_changes_have_kinds() -> None:
    changelogs = {"orders": ChangelogMode.all()}
    with TableTestHarness.of(SUMS, {"orders": ORDERS}, changelogs=changelogs) as harness:
        harness.insert("orders", "ann", 5)
        harness.update("orders", ("ann", 5), ("ann", 8))
        assert harness.rows() == [("ann", 8)]
        harness.delete("orders", "ann", 8)
        assert harness.rows() == []
        assert harness.changes()[-1] == ("-D", ("ann", 8))


def test_windows_are_complete_when_the_watermark_passes_them() -> None:
    with TableTestHarness.of(WINDOWS, {"orders": TIMED}) as harness:
        harness.insert("orders", "ann", 5, timestamp=1_000)
        harness.insert("orders", "ann", 2, timestamp=9_999)
        harness.advance_watermark(9_998)
        assert harness.changes() == []
        harness.advance_watermark(9_999)
        assert harness.changes() == [("+I", ("ann", 7))]
        harness.insert("orders", "ann", 1, timestamp=9_000)
        assert harness.num_late_records_dropped() == 1
        assert harness.watermarks() == [9_998, 9_999]


def test_tables_have_watermarks_of_their_own() -> None:
    query = (
        "SELECT a.name FROM orders AS a JOIN payments AS b "
        "ON a.name = b.name AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '5' SECOND"
    )
    with TableTestHarness.of(query, {"orders": TIMED, "payments": TIMED}) as harness:
        harness.insert("orders", "ann", 1, timestamp=1_000)
        harness.advance_watermark(50_000, "orders")
        harness.insert("payments", "ann", 1, timestamp=3_000)
        assert harness.rows() == [("ann",)]


def test_a_query_continues_from_a_snapshot_at_another_parallelism() -> None:
    with TableTestHarness.of(SUMS, {"orders": ORDERS}) as harness:
        for name in ("ann", "bob", "cid"):
            harness.insert("orders", name, 5)
        snapshot = harness.snapshot()
    with TableTestHarness.of(SUMS, {"orders": ORDERS}, snapshot=snapshot, parallelism=3) as harness:
        harness.insert("orders", "bob", 1)
        assert harness.changes() == [("-U", ("bob", 5)), ("+U", ("bob", 6))]


def test_state_expires_by_the_processing_time_of_the_test() -> None:
    with TableTestHarness.of(SUMS, {"orders": ORDERS}, settings={"table.exec.state.ttl": "1 min"}) as harness:
        harness.insert("orders", "ann", 5)
        harness.advance_processing_time(60_001)
        harness.insert("orders", "ann", 1)
        assert harness.changes() == [("+I", ("ann", 5)), ("+I", ("ann", 1))]


def test_the_query_may_be_made_of_methods() -> None:
    made = TableTestHarness.of(lambda env: env.from_path("orders").filter(col("amount") > 1), {"orders": ORDERS})
    with made as harness:
        harness.insert("orders", "ann", 1)
        harness.insert("orders", "bob", 2)
        harness.end_input()
        assert harness.rows() == [("bob", 2)]


def test_mistakes_of_a_test_are_named() -> None:
    with TableTestHarness.of(SUMS, {"orders": ORDERS}) as harness:
        with pytest.raises(ArgumentError, match="the query has the tables orders, not 'payments'"):
            harness.insert("payments", 1)
        with pytest.raises(ArgumentError, match="table 'orders' has 2 physical columns, got 1 values"):
            harness.insert("orders", "ann")
    with pytest.raises(ArgumentError, match="reads at least one table"):
        TableTestHarness.of("SELECT 1", {})
    with pytest.raises(ArgumentError, match="the schema of table 't' has no physical columns"):
        TableTestHarness.of("SELECT 1", {"t": Schema.new_builder().build()})
