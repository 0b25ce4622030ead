"""The objects of a catalog: databases, tables, views and functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from scurry._dataclasses import dataclass
from scurry.sql.catalog.identifier import ObjectIdentifier
from scurry.sql.catalog.schema import ResolvedSchema


@dataclass(frozen=True)
class CatalogDatabase:
    """A database.

    Attributes:
        properties: What WITH said.
        comment: Its description, if it has one.
    """

    properties: Mapping[str, str] = field(default_factory=dict)
    comment: str | None = None


@dataclass(frozen=True)
class TableDistribution:
    """DISTRIBUTED: how rows are spread over buckets.

    Attributes:
        kind: `HASH` or `RANGE`; None if the connector chooses.
        columns: Names of the columns; empty for round robin.
        buckets: Number of buckets; None if the connector chooses.
    """

    kind: str | None
    columns: tuple[str, ...]
    buckets: int | None


@dataclass(frozen=True)
class CatalogBaseTable:
    """A table or a view.

    Attributes:
        schema: Its columns, watermark and key.
        comment: Its description, if it has one.
        options: Options of WITH.
    """

    schema: ResolvedSchema
    comment: str | None = None
    options: Mapping[str, str] = field(default_factory=dict, repr=False)  # may have secrets


@dataclass(frozen=True)
class CatalogTable(CatalogBaseTable):
    """A table on an external system.

    Attributes:
        partition_keys: Names of the columns of PARTITIONED BY.
        distribution: DISTRIBUTED, if given.
    """

    partition_keys: tuple[str, ...] = ()
    distribution: TableDistribution | None = None


@dataclass(frozen=True)
class InlineTable(CatalogTable):
    """A table whose source or sink is an object of the program: of a stream, or of data in memory; it has no options.

    Attributes:
        source: What reads it; None if it is only written.
        sink: What writes it; None if it is only read.
        sink_changes: Which changes the sink takes: INSERT, UPSERT or ALL.
    """

    source: Any = None
    sink: Any = None
    sink_changes: str = "INSERT"


@dataclass(frozen=True)
class CatalogView(CatalogBaseTable):
    """A view made of a query's text.

    Attributes:
        original_query: The text as the user wrote it.
        expanded_query: The text with all names in full.
    """

    original_query: str = ""
    expanded_query: str = ""


@dataclass(frozen=True)
class QueryView(CatalogBaseTable):
    """A view made of a `Table` object; only this session has it.

    Attributes:
        plan: The relational plan of the table.
    """

    plan: Any = None


@dataclass(frozen=True)
class CatalogFunction:
    """A function that a user registered.

    Attributes:
        class_name: Module and attribute, or a Java class; empty for an object.
        language: `JAVA`, `SCALA` or `PYTHON`.
        function: The Python object, if it was registered as one.
    """

    class_name: str
    language: str = "JAVA"
    function: Any = None


@dataclass(frozen=True)
class ContextResolvedTable:
    """A resolved table name: the table or view it refers to.

    Attributes:
        identifier: The full name.
        table: The table or view.
        temporary: Whether it exists in this session only.
    """

    identifier: ObjectIdentifier
    table: CatalogBaseTable
    temporary: bool = False
