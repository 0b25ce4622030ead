"""Connectors of your own for tables: the contract, and the registration.

`RecordFactory` makes tables of the source, the sink and the lookup function of streams. `TableFactory` is below it.
"""

from __future__ import annotations

from scurry.sql.catalog.table_options import Options, TableOption, boolean, one_of, whole_number
from scurry.sql.connectors.contract import (
    Changes,
    LookupSource,
    SinkChanges,
    SinkTarget,
    TableContext,
    TableFactory,
    TableSource,
)
from scurry.sql.connectors.durations import duration
from scurry.sql.connectors.factories import identifiers, register_connector
from scurry.sql.connectors.records import Finder, RecordFactory
from scurry.sql.connectors.vectors import Nearest, VectorFinder, VectorSearchSource
from scurry.sql.formats.contract import FormatColumn

__all__ = [
    "Changes",
    "Finder",
    "FormatColumn",
    "LookupSource",
    "Nearest",
    "Options",
    "RecordFactory",
    "SinkChanges",
    "SinkTarget",
    "TableContext",
    "TableFactory",
    "TableOption",
    "TableSource",
    "VectorFinder",
    "VectorSearchSource",
    "boolean",
    "duration",
    "identifiers",
    "one_of",
    "register_connector",
    "whole_number",
]
