"""Pipeline: the content of a document of Flink CDC's YAML, checked without a connection."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from scurry._dataclasses import dataclass
from scurry.connectors.cdc.capture import ChangeCapture
from scurry.connectors.cdc.enumerator import EnumeratorSettings
from scurry.connectors.cdc.mysql.reading import MySqlCapture
from scurry.connectors.cdc.postgres.reading import PostgresCapture
from scurry.errors import ScurryError, UnsupportedError
from scurry.sql.catalog.entries import CatalogTable
from scurry.sql.catalog.identifier import ObjectIdentifier
from scurry.sql.catalog.schema import ResolvedSchema
from scurry.sql.connectors.cdc.mysql import MySqlCdcFactory
from scurry.sql.connectors.cdc.postgres import PostgresCdcFactory
from scurry.sql.connectors.cdc.source import CdcTableSource
from scurry.sql.connectors.contract import TableContext, TableFactory
from scurry.sql.pipelines.databases import DatabaseTarget
from scurry.sql.pipelines.document import Block, read_document
from scurry.sql.pipelines.evolution import BEHAVIORS, CHANGES, Rules, changes_of
from scurry.sql.pipelines.lakes import DeltaTarget, IcebergTarget
from scurry.sql.pipelines.messages import MessageTarget
from scurry.sql.pipelines.selectors import Route, TableSelector, checked_selector
from scurry.sql.pipelines.source import Plan
from scurry.sql.pipelines.targets import Target
from scurry.sql.pipelines.transforms import CONVERTERS, Transform

_PIPELINE = ("name", "parallelism", "local-time-zone", "schema.change.behavior")
_ROUTE = ("source-table", "sink-table", "replace-symbol", "description")
_TRANSFORM = (
    "source-table",
    "projection",
    "filter",
    "primary-keys",
    "partition-keys",
    "table-options",
    "converter-after-transform",
    "description",
)
_INCLUDED, _EXCLUDED = "include.schema.changes", "exclude.schema.changes"
_OF_SOURCE = ("type", "name", "tables", "tables.exclude")
_SOURCES: dict[str, type[TableFactory]] = {"mysql": MySqlCdcFactory, "postgres": PostgresCdcFactory}
_TARGETS: dict[str, Callable[[tuple[tuple[str, str], ...], str], Target]] = {
    "kafka": MessageTarget,
    "log": lambda options, zone: MessageTarget(options, zone, "log"),
    "jdbc": DatabaseTarget,
    "delta": DeltaTarget,
    "iceberg": IcebergTarget,
}


@dataclass(frozen=True)
class Pipeline:
    """A pipeline.

    Attributes:
        parallelism: That of the job; None for that of the configuration.
    """

    name: str
    parallelism: int | None
    capture: ChangeCapture
    settings: EnumeratorSettings
    plan: Plan
    target: Target
    document: Block


def read_pipeline(path: Path) -> Pipeline:
    """Return the pipeline that a file describes.

    Raises:
        ValidationError: The file is wrong; the message has the line and the column.
    """
    root = read_document(path)
    root.check(("source", "sink", "route", "transform", "pipeline"))
    source, sink = root.block("source"), root.block("sink")
    job = root.block("pipeline") if "pipeline" in root else Block("pipeline", root.place, {})
    settings = _job(job)
    capture, assigned = _source(source)
    routes = tuple(map(_route, root.blocks("route")))
    transforms = tuple(map(_transform, root.blocks("transform")))
    zone = settings.get("local-time-zone", "UTC")
    parallelism = int(settings["parallelism"]) if "parallelism" in settings else None
    target = _sink(sink, zone)
    rules = Rules(settings.get("schema.change.behavior", "lenient").lower(), _accepted(sink))
    plan = Plan(routes, transforms, rules, zone, target)
    return Pipeline(settings.get("name", path.stem), parallelism, capture, assigned, plan, target, root)


def _job(block: Block) -> dict[str, str]:
    found = block.texts()
    for key in found:
        if key not in _PIPELINE:
            block.check(_PIPELINE)
            raise block.error(None, f"'{key}' is no key of pipeline")
    behavior = found.get("schema.change.behavior", "lenient")
    if behavior.lower() not in BEHAVIORS:
        key = "schema.change.behavior"
        raise block.error(key, f"'{key}' is {behavior}; there are {', '.join(BEHAVIORS)}")
    if not found.get("parallelism", "1").isdigit() or found.get("parallelism") == "0":
        raise block.error("parallelism", f"'parallelism' is a number from 1, not {found['parallelism']}")
    return found


def _route(block: Block) -> Route:
    block.check(_ROUTE)
    selector = _selector(block, "source-table")
    return Route(selector, block.text("sink-table"), block.find("replace-symbol"))


def _transform(block: Block) -> Transform:
    block.check(_TRANSFORM)
    return Transform(
        _selector(block, "source-table"),
        block.find("projection"),
        block.find("filter"),
        _names(block.find("primary-keys")),
        _names(block.find("partition-keys")),
        tuple(_pair(block, each) for each in _names(block.find("table-options"))),
        _converter(block) == "SOFT_DELETE",
    )


def _converter(block: Block) -> str:
    found = block.find("converter-after-transform")
    if found and found not in CONVERTERS:
        raise block.error(
            "converter-after-transform", f"there is no converter '{found}'; there is {', '.join(CONVERTERS)}"
        )
    return found


def _names(text: str) -> tuple[str, ...]:
    return tuple(each.strip() for each in text.split(",") if each.strip())


def _pair(block: Block, text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        raise block.error("table-options", f"'table-options' is key=value,key=value, and {text!r} is none")
    return key.strip(), value.strip()


def _selector(block: Block, key: str) -> TableSelector:
    try:
        return checked_selector(block.text(key))
    except ValueError as error:
        raise block.error(key, str(error)) from None


def _type(block: Block, known: Mapping[str, Any]) -> str:
    name = block.text("type")
    if name not in known:
        near = "mysql" if name in ("mariadb", "mysql-cdc") else "postgres" if name == "postgres-cdc" else None
        hint = f"did you mean '{near}'?" if near in known else f"there are {', '.join(sorted(known))}"
        raise block.error("type", f"there is no {block.name} of type '{name}'").with_hint(hint)
    return name


def _sink(block: Block, zone: str) -> Target:
    options = block.texts((_INCLUDED, _EXCLUDED))
    make = _TARGETS[_type(block, _TARGETS)]
    options.pop("type")
    options.pop("name", None)
    target = make(tuple(sorted(options.items())), zone)
    try:
        target.check()
    except ScurryError as error:
        raise block.explained(error) from None
    return target


def _accepted(block: Block) -> frozenset[str]:
    """Return the kinds of changes of columns that go to the sink."""
    accepted = frozenset(CHANGES)
    for key in (_INCLUDED, _EXCLUDED):
        if key not in block:
            continue
        try:
            named = changes_of(block.names(key))
        except ValueError as error:
            raise block.error(key, str(error)) from None
        accepted = accepted & named if key == _INCLUDED else accepted - named
    return accepted


def _source(block: Block) -> tuple[ChangeCapture, EnumeratorSettings]:
    kind = _type(block, _SOURCES)
    tables = _selector(block, "tables")
    without = _selector(block, "tables.exclude") if "tables.exclude" in block else None
    options = block.texts(_OF_SOURCE)
    factory = _SOURCES[kind]()
    options |= {"connector": factory.identifier, "database-name": _database(block, kind, tables), "table-name": ".*"}
    if kind == "postgres":
        options["schema-name"] = ".*"
    described = CatalogTable(ResolvedSchema(), None, options)
    identifier = ObjectIdentifier.of("default_catalog", "default_database", "source")
    try:
        made = factory.create_source(TableContext(identifier, described, options, "UTC", True))
    except ScurryError as error:
        raise block.explained(error) from None
    assert isinstance(made, CdcTableSource)
    pattern = tables.expression(2)
    if without is not None:
        pattern = rf"(?!(?:{without.expression(2)})$)(?:{pattern})"
    shown = f"tables: {tables.text}"
    capture = made.capture
    if isinstance(capture, PostgresCapture):
        return PostgresCapture(replace(capture.settings, tables=pattern, chosen_by=shown)), made.settings
    assert isinstance(capture, MySqlCapture)
    return MySqlCapture(replace(capture.settings, tables=pattern, chosen_by=shown)), made.settings


def _database(block: Block, kind: str, tables: TableSelector) -> str:
    count = 3 if kind == "postgres" else 2
    form = "database.schema.table" if kind == "postgres" else "database.table"
    patterns = tables.patterns()
    if any(len(parts) != count for parts in patterns):
        raise block.error("tables", f"'tables' of {kind} has names {form}, with commas between them: {tables.text}")
    if kind == "mysql":
        return ".*"
    databases = sorted({parts[0] for parts in patterns})
    if len(databases) > 1 or not databases[0].replace("_", "a").replace("-", "a").isalnum():
        raise block.explained(
            UnsupportedError(f"'tables' names one database of PostgreSQL, without a pattern: {', '.join(databases)}")
        )
    return databases[0]
