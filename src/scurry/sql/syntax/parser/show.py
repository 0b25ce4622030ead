"""SHOW and DESCRIBE."""

from __future__ import annotations

from typing import Final

from scurry.sql.syntax import nodes
from scurry.sql.syntax.parser.columns import parse_partition_fields
from scurry.sql.syntax.parser.parser import Parser

# For each object of SHOW: its node, the optional scope, and the operators that filter names.
_LISTS: Final = {
    "CATALOGS": (nodes.ShowCatalogs, False, ("LIKE", "ILIKE")),
    "DATABASES": (nodes.ShowDatabases, True, ("LIKE", "ILIKE")),
    "TABLES": (nodes.ShowTables, True, ("LIKE",)),
    "VIEWS": (nodes.ShowViews, True, ("LIKE",)),
    "PROCEDURES": (nodes.ShowProcedures, True, ("LIKE", "ILIKE")),
    "MODELS": (nodes.ShowModels, True, ("LIKE",)),
    "CONNECTIONS": (nodes.ShowConnections, True, ("LIKE",)),
}
_CREATED: Final = {
    "TABLE": nodes.ShowCreateTable,
    "VIEW": nodes.ShowCreateView,
    "MODEL": nodes.ShowCreateModel,
}
_DESCRIBED: Final = {
    "DATABASE": nodes.DescribeDatabase,
    "FUNCTION": nodes.DescribeFunction,
    "MODEL": nodes.DescribeModel,
    "CONNECTION": nodes.DescribeConnection,
}
# Words after SHOW.
SHOWN: Final = frozenset(_LISTS) | frozenset(
    "CREATE CURRENT USER FUNCTIONS FULL MODULES MATERIALIZED COLUMNS PARTITIONS JARS JOBS".split()
)


def parse_show(p: Parser) -> nodes.Statement:
    """Parse SHOW, whose keyword is the next token."""
    start = p.position
    p.position += 1
    key = p.keys[p.position]
    p.position += 1
    if key in _LISTS:
        made, scoped, operators = _LISTS[key]
        scope = _parse_scope(p) if scoped else None
        if key == "DATABASES" and scope is not None and not scope.name.is_simple:
            message = f"Show databases from/in identifier [ {scope.name} ] format error"
            raise p.error_at(f"{message}, catalog must be a single part identifier.", scope.name.span)
        like = _parse_name_filter(p, operators)
        return made(scope, like, span=p.span_from(start))
    if key == "CREATE":
        return _parse_show_create(p, start)
    if key == "CURRENT":
        current = p.expect_any("CATALOG", "DATABASE")
        span = p.span_from(start)
        return nodes.ShowCurrentCatalog(span=span) if current == "CATALOG" else nodes.ShowCurrentDatabase(span=span)
    if key in ("USER", "FUNCTIONS"):
        if key == "USER":
            p.expect("FUNCTIONS")
        scope, like = _parse_scope(p), _parse_name_filter(p, ("LIKE", "ILIKE"))
        return nodes.ShowFunctions(scope, like, key == "USER", span=p.span_from(start))
    if key in ("FULL", "MODULES"):
        if key == "FULL":
            p.expect("MODULES")
        return nodes.ShowModules(key == "FULL", span=p.span_from(start))
    if key == "MATERIALIZED":
        p.expect("TABLES")
        scope, like = _parse_scope(p), _parse_name_filter(p, ("LIKE",))
        return nodes.ShowMaterializedTables(scope, like, span=p.span_from(start))
    return _parse_show_other(p, key, start)


def _parse_show_other(p: Parser, key: str, start: int) -> nodes.Statement:
    if key == "COLUMNS":
        if not (p.at("FROM") or p.at("IN")):
            p.fail()
        scope, like = _parse_scope(p), _parse_name_filter(p, ("LIKE",))
        return nodes.ShowColumns(scope, like, span=p.span_from(start))
    if key == "PARTITIONS":
        name = p.compound_name()
        fields = parse_partition_fields(p) if p.accept("PARTITION") else ()
        return nodes.ShowPartitions(name, fields, span=p.span_from(start))
    span = p.span_from(start)
    return nodes.ShowJars(span=span) if key == "JARS" else nodes.ShowJobs(span=span)


def _parse_scope(p: Parser) -> nodes.Scope | None:
    start = p.position
    preposition = p.accept_any("FROM", "IN")
    if preposition is None:
        return None
    return nodes.Scope(preposition, p.compound_name(), span=p.span_from(start))


def _parse_name_filter(p: Parser, operators: tuple[str, ...]) -> nodes.NameFilter | None:
    start = p.position
    negated = p.accept("NOT")
    operator = p.expect_any(*operators) if negated else p.accept_any(*operators)
    if operator is None:
        return None
    return nodes.NameFilter(operator, p.string(), negated, span=p.span_from(start))


def _parse_show_create(p: Parser, start: int) -> nodes.Statement:
    key = p.keys[p.position]
    p.position += 1
    if key in _CREATED:
        return _CREATED[key](p.compound_name(), span=p.span_from(start))
    if key == "CATALOG":
        return nodes.ShowCreateCatalog(p.name(), span=p.span_from(start))
    if key == "CONNECTION":
        return nodes.ShowCreateConnection(p.compound_name(), span=p.span_from(start))
    if key == "MATERIALIZED":
        p.expect("TABLE")
        return nodes.ShowCreateMaterializedTable(p.compound_name(), span=p.span_from(start))
    p.position -= 1
    p.fail()


def parse_describe(p: Parser) -> nodes.Statement:
    """Parse DESCRIBE or DESC, whose keyword is the next token."""
    start = p.position
    p.position += 1
    key = p.keys[p.position]
    following = p.keys[p.position + 1]
    if key == "JOB" and following != ".":
        p.position += 1
        return nodes.DescribeJob(p.string(), span=p.span_from(start))
    if key == "CATALOG" or (key in _DESCRIBED and following not in (".", "<EOF>", ";")):
        p.position += 1
        extended = p.accept("EXTENDED")
        if key == "CATALOG":
            return nodes.DescribeCatalog(p.name(), extended, span=p.span_from(start))
        return _DESCRIBED[key](p.compound_name(), extended, span=p.span_from(start))
    extended = p.accept("EXTENDED")
    return nodes.DescribeTable(p.compound_name(), extended, span=p.span_from(start))
