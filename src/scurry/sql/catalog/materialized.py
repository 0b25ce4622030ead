"""CatalogMaterializedTable: a table whose rows are those of a query, and how it is refreshed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from enum import Enum
from typing import Any

from scurry._dataclasses import dataclass
from scurry.errors import CatalogError, ValidationError
from scurry.sql.catalog.entries import CatalogTable

_MILLISECONDS = {"SECOND": 1000, "MINUTE": 60_000, "HOUR": 3_600_000, "DAY": 86_400_000}
#: Units in the next larger one, with which a cron expression begins anew: numbers of FULL mode divide them.
_WHOLE = {"SECOND": 60, "MINUTE": 60, "HOUR": 24}
#: Options of partition columns; the connector does not know them.
PARTITION_FIELDS, DATE_FORMATTER = "partition.fields.", ".date-formatter"


@dataclass(frozen=True)
class IntervalFreshness:
    """FRESHNESS: how far the rows of a table may lag behind its query.

    Attributes:
        number: How many units.
        unit: SECOND, MINUTE, HOUR or DAY.
    """

    number: int
    unit: str

    def __post_init__(self) -> None:
        """Check it.

        Raises:
            ValidationError: The number is not positive, or there is no such unit.
        """
        if self.unit not in _MILLISECONDS:
            raise ValidationError(f"Unknown freshness time unit: {self.unit}.").with_hint(
                f"use one of {', '.join(_MILLISECONDS)}"
            )
        if self.number <= 0:
            raise ValidationError(
                f"The freshness interval currently only supports positive integer type values. But was: {self.number}"
            )

    @staticmethod
    def of_milliseconds(milliseconds: int) -> IntervalFreshness:
        """Return a freshness in the largest unit that it is a multiple of."""
        unit = next(unit for unit in reversed(_MILLISECONDS) if milliseconds % _MILLISECONDS[unit] == 0)
        return IntervalFreshness(milliseconds // _MILLISECONDS[unit], unit)

    @property
    def milliseconds(self) -> int:
        """The freshness in milliseconds."""
        return self.number * _MILLISECONDS[self.unit]

    def cron(self) -> str:
        """Return the cron expression by which a table is refreshed in FULL mode, as Flink writes it.

        Raises:
            ValidationError: The number does not divide the next larger unit.
        """
        if self.unit == "DAY":
            if self.number != 1:
                raise ValidationError("In full refresh mode, freshness must be 1 when the time unit is DAY.")
            return "0 0 0 * * ? *"
        whole = _WHOLE[self.unit]
        if self.number >= whole:
            raise ValidationError(
                f"In full refresh mode, freshness must be less than {whole} when the time unit is {self.unit}."
            )
        if whole % self.number:
            raise ValidationError(
                f"In full refresh mode, only freshness that are factors of {whole} are currently supported when the "
                f"time unit is {self.unit}."
            )
        return {
            "SECOND": f"0/{self.number} * * * * ? *",
            "MINUTE": f"0 0/{self.number} * * * ? *",
            "HOUR": f"0 0 0/{self.number} * * ? *",
        }[self.unit]

    def __str__(self) -> str:
        """Return it as SQL has it."""
        return f"INTERVAL '{self.number}' {self.unit}"


class RefreshMode(Enum):
    """The way in which a materialized table is refreshed."""

    CONTINUOUS = "CONTINUOUS"
    FULL = "FULL"


class RefreshStatus(Enum):
    """The state of the refreshing of a materialized table."""

    INITIALIZING = "INITIALIZING"
    ACTIVATED = "ACTIVATED"
    SUSPENDED = "SUSPENDED"


@dataclass(frozen=True)
class RefreshHandler:
    """The refreshing of a materialized table, as a catalog keeps it.

    Attributes:
        id: Identifies the table among all that are refreshed, 32 hexadecimal digits; names its directory of state.
        session: The session whose jobs refresh it; empty for the process that has the catalog.
        job_id: The job of CONTINUOUS mode, 32 hexadecimal digits; empty without one.
        generation: How often its state has begun anew: checkpoints of different queries have different directories.
        restore_path: The savepoint with which it was suspended; empty without one.
        gateway: Whether a SQL gateway refreshes it: the next one goes on when that has ended.
    """

    id: str
    session: str = ""
    job_id: str = ""
    generation: int = 0
    restore_path: str = ""
    gateway: bool = False


@dataclass(frozen=True)
class CatalogMaterializedTable(CatalogTable):
    """A table whose rows are those of a query.

    Attributes:
        original_query: The query as it was written.
        expanded_query: The query with all names in full.
        freshness: How far its rows may lag behind.
        logical_refresh_mode: What REFRESH_MODE said; AUTOMATIC if nothing.
        refresh_mode: How it is refreshed.
        refresh_status: Whether it is being refreshed.
        start_mode: What START_MODE said.
        handler: What refreshes it; None before it is.
    """

    original_query: str = ""
    expanded_query: str = ""
    freshness: IntervalFreshness = IntervalFreshness(3, "MINUTE")
    logical_refresh_mode: str = "AUTOMATIC"
    refresh_mode: RefreshMode = RefreshMode.CONTINUOUS
    refresh_status: RefreshStatus = RefreshStatus.INITIALIZING
    start_mode: str = "FROM_BEGINNING"
    handler: RefreshHandler | None = None

    @property
    def connector_options(self) -> Mapping[str, str]:
        """The options without those of partition columns, which no connector knows."""
        return {key: value for key, value in self.options.items() if not key.startswith(PARTITION_FIELDS)}

    @property
    def date_formatters(self) -> Mapping[str, str]:
        """The formats of the partition columns that follow from the time of a refresh."""
        return {
            key[len(PARTITION_FIELDS) : -len(DATE_FORMATTER)]: value
            for key, value in self.options.items()
            if key.startswith(PARTITION_FIELDS) and key.endswith(DATE_FORMATTER)
        }

    def plain(self) -> CatalogTable:
        """Return the table as catalogs of other systems keep it."""
        return CatalogTable(self.schema, self.comment, self.connector_options, self.partition_keys, self.distribution)

    def definition_text(self) -> str:
        """Return the definition as JSON, which catalogs of other systems keep beside the table."""
        options = {key: value for key, value in self.options.items() if key.startswith(PARTITION_FIELDS)}
        kept: dict[str, Any] = {
            "version": _VERSION,
            "original-query": self.original_query,
            "expanded-query": self.expanded_query,
            "freshness": [self.freshness.number, self.freshness.unit],
            "logical-refresh-mode": self.logical_refresh_mode,
            "refresh-mode": self.refresh_mode.value,
            "refresh-status": self.refresh_status.value,
            "start-mode": self.start_mode,
            "options": options,
            "handler": None if self.handler is None else asdict(self.handler),
        }
        return json.dumps(kept)


_VERSION = 1
_HANDLER_FIELDS = {each.name for each in fields(RefreshHandler)}


def with_definition(table: CatalogTable, text: str, name: str) -> CatalogMaterializedTable:
    """Return the materialized table that a table of another system is by its definition.

    Args:
        table: The table.
        text: What `definition_text` has returned.
        name: Its name, for errors.

    Raises:
        CatalogError: The text is damaged, or of a later version.
    """
    try:
        kept = json.loads(text)
        if kept["version"] > _VERSION:
            raise CatalogError(f"materialized table {name} was written by a later version of scurry")
        handler = kept["handler"]
        if handler is not None:
            handler = RefreshHandler(**{key: value for key, value in handler.items() if key in _HANDLER_FIELDS})
        return CatalogMaterializedTable(
            table.schema,
            table.comment,
            {**table.options, **kept["options"]},
            table.partition_keys,
            table.distribution,
            original_query=kept["original-query"],
            expanded_query=kept["expanded-query"],
            freshness=IntervalFreshness(*kept["freshness"]),
            logical_refresh_mode=kept["logical-refresh-mode"],
            refresh_mode=RefreshMode(kept["refresh-mode"]),
            refresh_status=RefreshStatus(kept["refresh-status"]),
            start_mode=kept["start-mode"],
            handler=handler,
        )
    except (ValueError, KeyError, TypeError) as error:
        raise CatalogError(f"the definition of the materialized table {name} is damaged: {error}") from None


def refreshed(
    table: CatalogMaterializedTable, status: RefreshStatus, handler: RefreshHandler | None
) -> CatalogMaterializedTable:
    """Return a table with another status and handler."""
    return replace(table, refresh_status=status, handler=handler)
