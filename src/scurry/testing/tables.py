"""TableTestHarness: runs a query under the control of a test."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

from scurry.common._api import ApiObject
from scurry.common.time import checked_time
from scurry.common.types import Row, RowKind
from scurry.errors import ArgumentError
from scurry.sql.values.type_information import to_type_info
from scurry.table import ChangelogMode, Schema, StreamTableEnvironment, Table
from scurry.table.types import DataTypes
from scurry.testing.harness import TestHarness
from scurry.testing.snapshot import Snapshot

__all__ = ["TableTestHarness"]

Change = tuple[str, tuple[Any, ...]]


class TableTestHarness(ApiObject):
    """Run a query step by step, in this process: a test feeds rows and time, and reads the changes of the result.

    Every step (a row, a watermark, a new processing time) is a separate micro-batch, as for a `TestHarness`. Create it
    with `TableTestHarness.of`. As a context manager it closes the functions at the end.
    """

    __test__ = False  # pytest would collect it

    def __init__(self, harness: TestHarness, tables: Mapping[str, Schema]) -> None:
        """Wrap the harness of the query's job; tests call `of`."""
        self._harness = harness
        self._tables = list(tables)
        self._widths = [len(_physical(schema)) for schema in tables.values()]

    @classmethod
    def of(
        cls,
        query: str | Callable[[StreamTableEnvironment], Table],
        tables: Mapping[str, Schema],
        *,
        changelogs: Mapping[str, ChangelogMode] | None = None,
        parallelism: int = 1,
        processing_time: int = 0,
        settings: Mapping[str, str] | None = None,
        snapshot: Snapshot | None = None,
    ) -> TableTestHarness:
        """Start a query.

        Args:
            query: The query, or a function that makes its table in an environment that has the tables.
            tables: The tables it reads by name, each with its physical columns. The timestamps of rows are the metadata
                `rowtime`; `SOURCE_WATERMARK()` means the watermarks that the test sends.
            changelogs: The kinds of changes of tables of which rows are not only added.
            parallelism: Subtasks of the operators.
            processing_time: Initial processing time in milliseconds.
            settings: Settings of the environment of tables; its time zone is UTC by default.
            snapshot: Initial state, from `snapshot()` of a harness of the same query.

        Raises:
            ArgumentError: There are no tables, or one has no columns.
            ValidationError: The query is wrong.
        """
        modes = dict(changelogs or {})
        if not tables:
            raise ArgumentError("a query under test reads at least one table: give its schema")
        types = [_type_of(name, schema) for name, schema in tables.items()]

        def build(*streams: Any) -> Any:
            env = StreamTableEnvironment.create(streams[0]._env)
            for key, value in {"table.local-time-zone": "UTC", **(settings or {})}.items():
                env.get_config().set(key, value)
            for (name, schema), stream in zip(tables.items(), streams, strict=True):
                mode = modes.get(name, ChangelogMode.insert_only())
                env.create_temporary_view(name, env.from_changelog_stream(stream, schema, mode))
            table = env.sql_query(query) if isinstance(query, str) else query(env)
            return env.to_changelog_stream(table)

        parameters = [
            inspect.Parameter(f"stream{place}", inspect.Parameter.POSITIONAL_ONLY) for place in range(len(tables))
        ]
        build.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        harness = TestHarness.of(
            build, input_types=types, parallelism=parallelism, processing_time=processing_time, snapshot=snapshot
        )
        return cls(harness, tables)

    # ------------------------------------------------------------------ input

    def insert(self, table: str, *values: Any, timestamp: int | None = None) -> None:
        """Add a row to a table.

        Args:
            table: The table.
            *values: The values of its physical columns.
            timestamp: The timestamp of the row in milliseconds, its `rowtime`.
        """
        self.change(table, RowKind.INSERT, *values, timestamp=timestamp)

    def update(self, table: str, before: tuple[Any, ...], after: tuple[Any, ...], timestamp: int | None = None) -> None:
        """Update a row of a table: UPDATE_BEFORE and UPDATE_AFTER, in one micro-batch.

        Args:
            table: The table.
            before: The values of the row before.
            after: Its values after.
            timestamp: The timestamp of both rows in milliseconds.
        """
        with self._harness.batch():
            self.change(table, RowKind.UPDATE_BEFORE, *before, timestamp=timestamp)
            self.change(table, RowKind.UPDATE_AFTER, *after, timestamp=timestamp)

    def delete(self, table: str, *values: Any, timestamp: int | None = None) -> None:
        """Remove a row of a table.

        Args:
            table: The table.
            *values: The values of its physical columns.
            timestamp: The timestamp of the row in milliseconds.
        """
        self.change(table, RowKind.DELETE, *values, timestamp=timestamp)

    def change(self, table: str, kind: RowKind, *values: Any, timestamp: int | None = None) -> None:
        """Change a table.

        Args:
            table: The table.
            kind: How the row changes it.
            *values: The values of its physical columns.
            timestamp: The timestamp of the row in milliseconds.

        Raises:
            ArgumentError: There is no such table, or it has another number of columns.
            OperatorError: The query failed on the row.
        """
        place = self._place(table)
        if len(values) != self._widths[place]:
            raise ArgumentError(f"table {table!r} has {self._widths[place]} physical columns, got {len(values)} values")
        self._harness.process(Row.of_kind(kind, *values), timestamp, input=place + 1)

    def advance_watermark(self, timestamp: int, table: str | None = None) -> None:
        """Send a watermark: windows that it passes are complete.

        Args:
            timestamp: The watermark in milliseconds.
            table: The table that it belongs to; None for all.

        Raises:
            ArgumentError: It is lower than the last one, or there is no such table.
        """
        timestamp = checked_time(timestamp, "a watermark")
        self._harness.advance_watermark(timestamp, input=None if table is None else self._place(table) + 1)

    def advance_processing_time(self, timestamp: int) -> None:
        """Set the processing time: state with a time to live expires.

        Args:
            timestamp: The new time in milliseconds since the epoch, not a duration.
        """
        self._harness.advance_processing_time(timestamp)

    def end_input(self) -> None:
        """End all tables with the +inf watermark."""
        self._harness.end_input()

    def _place(self, table: str) -> int:
        if table not in self._tables:
            raise ArgumentError(f"the query has the tables {', '.join(self._tables)}, not {table!r}")
        return self._tables.index(table)

    # ------------------------------------------------------------------ output

    def changes(self) -> list[Change]:
        """Return the changes of the result so far, in order: kind and values, as `("+I", ("ann", 5))`."""
        return [(str(row.get_row_kind()), tuple(row)) for row in self._harness.outputs()]

    def rows(self) -> list[tuple[Any, ...]]:
        """Return the rows of the result: those that are left when all changes so far are applied, sorted by text."""
        counts: Counter[str] = Counter()
        values: dict[str, tuple[Any, ...]] = {}
        for kind, row in self.changes():
            counts[repr(row)] += 1 if kind in ("+I", "+U") else -1
            values[repr(row)] = row
        return [values[text] for text in sorted(counts.elements())]

    def clear_changes(self) -> None:
        """Forget the changes so far."""
        self._harness.clear_outputs()

    def watermarks(self) -> list[int]:
        """Return the watermarks of the result so far, in milliseconds."""
        return self._harness.watermarks()

    def num_late_records_dropped(self) -> int:
        """Return how many rows were dropped because they were late."""
        return self._harness.num_late_records_dropped()

    def snapshot(self) -> Snapshot:
        """Return the state of the query, for the `snapshot` argument of `of`."""
        return self._harness.snapshot()

    # ------------------------------------------------------------------ the end

    def close(self) -> None:
        """Close the functions; does not end the input."""
        self._harness.close()

    def __enter__(self) -> TableTestHarness:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _physical(schema: Schema) -> list[Any]:
    return [column for column in schema._columns if column.expression is None and not column.is_metadata]


def _type_of(name: str, schema: Schema) -> Any:
    columns = _physical(schema)
    if not columns:
        raise ArgumentError(f"the schema of table {name!r} has no physical columns: rows have values for those")
    return to_type_info(DataTypes.ROW([DataTypes.FIELD(column.name, column.data_type) for column in columns]))
