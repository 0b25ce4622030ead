"""Nodes at the ends of a plan: tables that are read and written, and rows written in the query."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import Any

from scurry._dataclasses import dataclass
from scurry.sql.plan.expressions import Expression
from scurry.sql.plan.nodes.base import OneInput, Plan
from scurry.sql.plan.schema import Schema


@dataclass(frozen=True)
class Scan(Plan):
    """Rows of a table of the catalog.

    Attributes:
        path: Catalog, database and name of the table.
        table: What the catalog knows of it; `scurry.sql.validator.catalog` says what it has.
        table_schema: All columns of the table that are stored or are metadata.
        columns: Positions of the columns that are read.
        conditions: Conditions on the columns read, all of which hold for the rows that are used. A source may apply
            them, and need not.
        options: Dynamic options of a hint, as pairs.
        primary_key: Positions of the columns of the primary key among all columns; empty without a primary key.
        changes: INSERT for a table of inserted rows, RETRACT for one whose updates have the rows before and after,
            UPSERT for one whose rows replace each other by the primary key.
    """

    path: tuple[str, ...]
    table: Any = field(compare=False, repr=False)
    table_schema: Schema
    columns: tuple[int, ...]
    conditions: tuple[Expression, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    primary_key: tuple[int, ...] = ()
    changes: str = "INSERT"

    @cached_property
    def schema(self) -> Schema:
        return self.table_schema.select(self.columns)

    @property
    def key(self) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
        """Identity of the table and the options that it is read with."""
        return self.path, self.options


@dataclass(frozen=True)
class Values(Plan):
    """Rows written in the query.

    Attributes:
        row_schema: Names and types.
        rows: The rows; their expressions refer to no columns.
    """

    row_schema: Schema
    rows: tuple[tuple[Expression, ...], ...]

    @property
    def schema(self) -> Schema:
        return self.row_schema


@dataclass(frozen=True)
class Sink(OneInput):
    """Rows written to a table.

    Attributes:
        path: Catalog, database and name of the table.
        table: What the catalog knows of it.
        overwrite: Whether INSERT OVERWRITE was written.
        partition: The static partition, as pairs.
        key: Positions of the columns of the table's primary key; empty without a primary key.
        changes: What the table takes: INSERT for inserted rows only; UPSERT for changes of which updates have only the
            row after them; ALL for changes with the rows before updates as well.
        refusal: How a table that takes inserted rows only refuses others; None for Flink's general words.
        on_conflict: What is done with rows of the same primary key, as the statement says: DEDUPLICATE, ERROR, NOTHING.
        upsert_materialize: Whether the changes of the query, which are by another key, become changes by the table's.
        row_change: The columns that UPDATE sets, none for DELETE; None for INSERT.
        replaces_all: Whether overwriting replaces all rows of the table, not those of the partitions that are written.
        target_columns: Positions of the columns that INSERT INTO names, for EXPLAIN; empty where plans are executed.
    """

    path: tuple[str, ...]
    table: Any = field(compare=False, repr=False)
    overwrite: bool = False
    partition: tuple[tuple[str, str], ...] = ()
    key: tuple[int, ...] = ()
    changes: str = "INSERT"
    refusal: str | None = None
    on_conflict: str | None = None
    upsert_materialize: bool = False
    row_change: tuple[str, ...] | None = None
    replaces_all: bool = False
    target_columns: tuple[int, ...] = ()
