"""Tables and views as properties, as Flink's `CatalogPropertiesUtil` writes them: keys and values that are text."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import asdict, fields

from scurry.errors import CatalogError, ScurryError, UnsupportedError
from scurry.sql.catalog.columns import Column, ComputedColumn, MetadataColumn, PhysicalColumn, ResolvedExpression
from scurry.sql.catalog.constraints import UniqueConstraint, WatermarkSpec
from scurry.sql.catalog.entries import CatalogBaseTable, CatalogTable, CatalogView, TableDistribution
from scurry.sql.catalog.materialized import (
    CatalogMaterializedTable,
    IntervalFreshness,
    RefreshHandler,
    RefreshMode,
    RefreshStatus,
)
from scurry.sql.catalog.schema import ResolvedSchema
from scurry.sql.statements.listing.show_create import serializable_type
from scurry.sql.statements.text import parse_type
from scurry.sql.types import DataType, LocalZonedTimestampType, TimeAttribute, TimestampType

#: Kinds of what a catalog keeps.
TABLE, VIEW, MATERIALIZED_TABLE = "TABLE", "VIEW", "MATERIALIZED_TABLE"
_PROCTIME = "PROCTIME()"
_HANDLER_FIELDS = {each.name for each in fields(RefreshHandler)}
#: Keys that are no options, or begin those that are none.
_RESERVED = (
    "comment",
    "original-query",
    "expanded-query",
    "freshness-interval",
    "freshness-unit",
    "logical-refresh-mode",
    "refresh-mode",
    "refresh-status",
    "refresh-handler-desc",
    "refresh-handler-bytes",
    "start-mode",
)
_RESERVED_PREFIXES = ("schema.", "partition.keys.", "distribution.")


def kind_of(table: CatalogBaseTable) -> str:
    """Return the kind of a table or view.

    Raises:
        UnsupportedError: It is an object of a program.
    """
    if isinstance(table, CatalogMaterializedTable):
        return MATERIALIZED_TABLE
    if type(table) is CatalogTable:
        return TABLE
    if isinstance(table, CatalogView):
        return VIEW
    raise UnsupportedError("files keep tables with options and views of a query's text, no objects of a program")


def properties_of(table: CatalogBaseTable) -> dict[str, str]:
    """Return the properties of a table or view.

    Raises:
        UnsupportedError: A column has a type that no text names.
    """
    kept = dict(table.options)
    kept |= _schema_properties(table.schema)
    if table.comment is not None:
        kept["comment"] = table.comment
    if isinstance(table, CatalogTable):
        kept |= {f"partition.keys.{number}.name": name for number, name in enumerate(table.partition_keys)}
        kept |= _distribution_properties(table.distribution)
    if isinstance(table, CatalogMaterializedTable):
        kept |= _refreshing_properties(table)
    if isinstance(table, CatalogView | CatalogMaterializedTable):
        kept |= {"original-query": table.original_query, "expanded-query": table.expanded_query}
    return kept


def table_of(kind: str, kept: Mapping[str, str], name: str) -> CatalogBaseTable:
    """Return the table or view of its properties.

    Args:
        name: Its name, for errors.

    Raises:
        CatalogError: The properties are damaged, or there is no such kind.
    """
    try:
        return _table(kind, kept)
    except (ScurryError, KeyError, ValueError, TypeError) as error:
        reason = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise CatalogError(f"the definition of {name} is damaged: {reason}") from None


def _table(kind: str, kept: Mapping[str, str]) -> CatalogBaseTable:
    options = {
        key: value for key, value in kept.items() if key not in _RESERVED and not key.startswith(_RESERVED_PREFIXES)
    }
    schema, comment = _schema(kept), kept.get("comment")
    if kind == VIEW:
        return CatalogView(schema, comment, options, kept["original-query"], kept["expanded-query"])
    partition_keys = tuple(_numbered(kept, "partition.keys", "name"))
    common = (schema, comment, options, partition_keys, _distribution(kept))
    if kind == TABLE:
        return CatalogTable(*common)
    if kind != MATERIALIZED_TABLE:
        raise ValueError(f"there is no kind {kind!r}")
    return CatalogMaterializedTable(
        *common,
        original_query=kept["original-query"],
        expanded_query=kept["expanded-query"],
        freshness=IntervalFreshness(int(kept["freshness-interval"]), kept["freshness-unit"]),
        logical_refresh_mode=kept["logical-refresh-mode"],
        refresh_mode=RefreshMode(kept["refresh-mode"]),
        refresh_status=RefreshStatus(kept["refresh-status"]),
        start_mode=kept.get("start-mode", "FROM_BEGINNING"),
        handler=_handler(kept.get("refresh-handler-bytes")),
    )


def _numbered(kept: Mapping[str, str], prefix: str, suffix: str) -> list[str]:
    found: list[str] = []
    while (value := kept.get(f"{prefix}.{len(found)}.{suffix}")) is not None:
        found.append(value)
    return found


# ------------------------------------------------------------------ columns


def _schema_properties(schema: ResolvedSchema) -> dict[str, str]:
    kept: dict[str, str] = {}
    for number, column in enumerate(schema.get_columns()):
        kept |= {f"schema.{number}.{key}": value for key, value in _column_properties(column).items()}
    for number, watermark in enumerate(schema.get_watermark_specs()):
        expression = watermark.watermark_expression
        kept |= {
            f"schema.watermark.{number}.rowtime": watermark.rowtime_attribute,
            f"schema.watermark.{number}.strategy.expr": expression.text,
            f"schema.watermark.{number}.strategy.data-type": _type_text(expression.data_type),
        }
    if (key := schema.get_primary_key()) is not None:
        kept |= {"schema.primary-key.name": key.name, "schema.primary-key.columns": ",".join(key.columns)}
    return kept


def _column_properties(column: Column) -> dict[str, str]:
    kept = {"name": column.name, "data-type": _type_text(column.data_type)}
    if isinstance(column, ComputedColumn):
        kept["expr"] = column.expression.text
    if isinstance(column, MetadataColumn):
        kept |= {"metadata": column.key, "virtual": str(column.virtual).lower()}
    if column.comment is not None:
        kept["comment"] = column.comment
    return kept


def _type_text(data_type: DataType) -> str:
    text = serializable_type(data_type)
    plain = data_type
    if isinstance(data_type, TimestampType | LocalZonedTimestampType):
        plain = data_type.as_time_attribute(None)
    try:
        if parse_type(text) == plain:
            return text
    except ScurryError:
        pass
    raise UnsupportedError(f"a table in files has no columns of type {data_type.as_summary_string()}")


def _schema(kept: Mapping[str, str]) -> ResolvedSchema:
    rowtimes = _numbered(kept, "schema.watermark", "rowtime")
    columns = [_column(kept, f"schema.{n}.", rowtimes) for n in range(len(_numbered(kept, "schema", "name")))]
    watermarks = []
    for number, name in enumerate(rowtimes):
        text, kind = (kept[f"schema.watermark.{number}.strategy.{key}"] for key in ("expr", "data-type"))
        watermarks.append(WatermarkSpec(name, ResolvedExpression(text, parse_type(kind))))
    key = None
    if "schema.primary-key.name" in kept:
        names = tuple(kept["schema.primary-key.columns"].split(","))
        key = UniqueConstraint(kept["schema.primary-key.name"], names)
    return ResolvedSchema(columns, watermarks, key)


def _column(kept: Mapping[str, str], prefix: str, rowtimes: list[str]) -> Column:
    name, data_type, comment = (
        kept[f"{prefix}name"],
        parse_type(kept[f"{prefix}data-type"]),
        kept.get(f"{prefix}comment"),
    )
    expression = kept.get(f"{prefix}expr")
    attribute = TimeAttribute.ROWTIME if name in rowtimes else None
    if expression == _PROCTIME:
        attribute = TimeAttribute.PROCTIME
    if attribute is not None:
        assert isinstance(data_type, TimestampType | LocalZonedTimestampType)
        data_type = data_type.as_time_attribute(attribute)
    if expression is not None:
        return ComputedColumn(name, data_type, comment, ResolvedExpression(expression, data_type))
    metadata = kept.get(f"{prefix}metadata")
    if metadata is not None:
        key = None if metadata == name else metadata
        return MetadataColumn(name, data_type, comment, key, kept.get(f"{prefix}virtual") == "true")
    return PhysicalColumn(name, data_type, comment)


# ------------------------------------------------------------------ buckets and refreshing


def _distribution_properties(distribution: TableDistribution | None) -> dict[str, str]:
    if distribution is None:
        return {}
    kept = {f"distribution.keys.{number}.name": name for number, name in enumerate(distribution.columns)}
    kept["distribution.kind"] = distribution.kind or "UNKNOWN"
    if distribution.buckets is not None:
        kept["distribution.buckets"] = str(distribution.buckets)
    return kept


def _distribution(kept: Mapping[str, str]) -> TableDistribution | None:
    kind = kept.get("distribution.kind")
    if kind is None:
        return None
    buckets = kept.get("distribution.buckets")
    names = tuple(_numbered(kept, "distribution.keys", "name"))
    return TableDistribution(None if kind == "UNKNOWN" else kind, names, None if buckets is None else int(buckets))


def _refreshing_properties(table: CatalogMaterializedTable) -> dict[str, str]:
    kept = {
        "freshness-interval": str(table.freshness.number),
        "freshness-unit": table.freshness.unit,
        "logical-refresh-mode": table.logical_refresh_mode,
        "refresh-mode": table.refresh_mode.value,
        "refresh-status": table.refresh_status.value,
        "start-mode": table.start_mode,
    }
    if table.handler is not None:
        handler = json.dumps(asdict(table.handler))
        kept["refresh-handler-desc"] = table.handler.job_id
        kept["refresh-handler-bytes"] = base64.b64encode(handler.encode()).decode()
    return kept


def _handler(text: str | None) -> RefreshHandler | None:
    if text is None:
        return None
    try:
        found = json.loads(base64.b64decode(text))
    except ValueError:
        raise ValueError("Flink's SQL gateway refreshes it: its refresh handler is an object of Java") from None
    return RefreshHandler(**{key: value for key, value in found.items() if key in _HANDLER_FIELDS})
