"""ALTER."""

from __future__ import annotations

from scurry.sql.syntax import nodes
from scurry.sql.syntax.parser.columns import (
    parse_altered_schema,
    parse_distribution,
    parse_if_exists,
    parse_if_not_exists,
    parse_partition_fields,
    parse_properties,
    parse_property_keys,
    parse_string_node,
    parse_with_properties,
)
from scurry.sql.syntax.parser.ddl import parse_freshness
from scurry.sql.syntax.parser.literals import parse_literal_text
from scurry.sql.syntax.parser.parser import Parser
from scurry.sql.syntax.parser.queries import parse_query


def parse_alter(p: Parser) -> nodes.Statement:
    """Parse ALTER, whose keyword is the next token."""
    start = p.position
    p.position += 1
    key = p.keys[p.position]
    p.position += 1
    if key == "TABLE":
        exists, name = parse_if_exists(p), p.compound_name()
        action = _parse_table_action(p)
        return nodes.AlterTable(name, action, exists, span=p.span_from(start))
    if key == "MATERIALIZED":
        p.expect("TABLE")
        name = p.compound_name()
        action = _parse_materialized_table_action(p)
        return nodes.AlterMaterializedTable(name, action, span=p.span_from(start))
    if key == "VIEW":
        name = p.compound_name()
        action = _parse_view_action(p)
        return nodes.AlterView(name, action, span=p.span_from(start))
    if key == "DATABASE":
        name = p.compound_name()
        action = _parse_properties_action(p, ("SET",))
        return nodes.AlterDatabase(name, action, span=p.span_from(start))
    if key == "CATALOG":
        name = p.name()
        action = _parse_properties_action(p, ("SET", "RESET", "COMMENT"))
        return nodes.AlterCatalog(name, action, span=p.span_from(start))
    if key in ("MODEL", "CONNECTION"):
        exists, name = parse_if_exists(p), p.compound_name()
        action = _parse_properties_action(p, ("RENAME", "SET", "RESET"))
        made = nodes.AlterModel if key == "MODEL" else nodes.AlterConnection
        return made(name, action, exists, span=p.span_from(start))
    if key in ("FUNCTION", "TEMPORARY"):
        return _parse_alter_function(p, start, key == "TEMPORARY")
    p.position -= 1
    p.fail()


def _parse_alter_function(p: Parser, start: int, temporary: bool) -> nodes.Statement:
    system = False
    if temporary:
        system = p.accept("SYSTEM")
        p.expect("FUNCTION")
    exists = parse_if_exists(p)
    name = p.compound_name()
    p.expect("AS")
    class_name = parse_string_node(p)
    language = None
    if p.accept("LANGUAGE"):
        language = p.expect_any("JAVA", "SCALA", "SQL", "PYTHON")
    return nodes.AlterFunction(name, class_name, language, (), temporary, system, exists, span=p.span_from(start))


def _parse_properties_action(p: Parser, keys: tuple[str, ...]) -> nodes.AlterAction:
    """Parse RENAME TO, SET, RESET or COMMENT, whichever are among the keys."""
    start = p.position
    key = p.expect_any(*keys)
    if key == "RENAME":
        p.expect("TO")
        return nodes.RenameTo(p.compound_name(), span=p.span_from(start))
    if key == "SET":
        return nodes.SetProperties(parse_properties(p), span=p.span_from(start))
    if key == "RESET":
        return nodes.ResetProperties(parse_property_keys(p), span=p.span_from(start))
    return nodes.SetComment(parse_literal_text(p), span=p.span_from(start))


def _parse_view_action(p: Parser) -> nodes.AlterAction:
    start = p.position
    if p.expect_any("RENAME", "AS") == "RENAME":
        p.expect("TO")
        return nodes.RenameTo(p.compound_name(), span=p.span_from(start))
    return nodes.SetQuery(parse_query(p), span=p.span_from(start))


def _parse_table_action(p: Parser) -> nodes.AlterAction:
    start = p.position
    key = p.expect_any("RENAME", "RESET", "SET", "ADD", "MODIFY", "DROP")
    if key == "RENAME":
        return _parse_rename(p, start)
    if key == "RESET":
        return nodes.ResetProperties(parse_property_keys(p), span=p.span_from(start))
    if key == "SET":
        return nodes.SetProperties(parse_properties(p), span=p.span_from(start))
    if key == "DROP":
        if p.at("PARTITION") or p.at_all("IF", "EXISTS"):
            return _parse_drop_partitions(p, start)
        return _parse_drop(p, start)
    if key == "ADD" and (p.at("PARTITION") or p.at_all("IF", "NOT")):
        return _parse_add_partitions(p, start)
    return _parse_add_or_modify(p, key, start)


def _parse_rename(p: Parser, start: int) -> nodes.AlterAction:
    if p.accept("TO"):
        return nodes.RenameTo(p.compound_name(), span=p.span_from(start))
    column = p.compound_name()
    p.expect("TO")
    return nodes.RenameColumn(column, p.compound_name(), span=p.span_from(start))


def _parse_add_or_modify(p: Parser, key: str, start: int) -> nodes.AlterAction:
    if p.accept("DISTRIBUTION"):
        distribution = parse_distribution(p)
        span = p.span_from(start)
        return (
            nodes.AddDistribution(distribution, span=span)
            if key == "ADD"
            else nodes.ModifyDistribution(distribution, span=span)
        )
    schema = parse_altered_schema(p)
    span = p.span_from(start)
    return nodes.AddSchema(schema, span=span) if key == "ADD" else nodes.ModifySchema(schema, span=span)


def _parse_drop(p: Parser, start: int) -> nodes.AlterAction:
    if p.accept("PRIMARY"):
        p.expect("KEY")
        return nodes.DropPrimaryKey(span=p.span_from(start))
    if p.accept("CONSTRAINT"):
        return nodes.DropConstraint(p.name(), span=p.span_from(start))
    if p.accept("DISTRIBUTION"):
        return nodes.DropDistribution(span=p.span_from(start))
    if p.accept("WATERMARK"):
        return nodes.DropWatermark(span=p.span_from(start))
    columns = p.parenthesized_list(Parser.compound_name) if p.at("(") else (p.compound_name(),)
    return nodes.DropColumns(columns, span=p.span_from(start))


def _parse_add_partitions(p: Parser, start: int) -> nodes.AlterAction:
    exists = parse_if_not_exists(p)
    partitions = [_parse_new_partition(p)]
    while p.at("PARTITION"):
        partitions.append(_parse_new_partition(p))
    return nodes.AddPartitions(tuple(partitions), exists, span=p.span_from(start))


def _parse_new_partition(p: Parser) -> nodes.NewPartition:
    start = p.position
    p.expect("PARTITION")
    fields = parse_partition_fields(p)
    properties = parse_with_properties(p) or ()
    return nodes.NewPartition(fields, properties, span=p.span_from(start))


def _parse_drop_partitions(p: Parser, start: int) -> nodes.AlterAction:
    exists = parse_if_exists(p)
    partitions = p.comma_list(_parse_dropped_partition)
    return nodes.DropPartitions(partitions, exists, span=p.span_from(start))


def _parse_dropped_partition(p: Parser) -> tuple[nodes.PartitionField, ...]:
    p.expect("PARTITION")
    return parse_partition_fields(p)


def _parse_materialized_table_action(p: Parser) -> nodes.AlterAction:
    start = p.position
    key = p.expect_any("SUSPEND", "RESUME", "REFRESH", "SET", "RESET", "AS", "ADD", "MODIFY", "DROP")
    if key == "SUSPEND":
        return nodes.Suspend(span=p.span_from(start))
    if key == "RESUME":
        return nodes.Resume(parse_with_properties(p) or (), span=p.span_from(start))
    if key == "REFRESH":
        fields = parse_partition_fields(p) if p.accept("PARTITION") else ()
        return nodes.Refresh(fields, span=p.span_from(start))
    if key == "SET":
        return _parse_set_of_materialized_table(p, start)
    if key == "RESET":
        return nodes.ResetProperties(parse_property_keys(p), span=p.span_from(start))
    if key == "AS":
        return nodes.SetQuery(parse_query(p), span=p.span_from(start))
    if key == "DROP":
        return _parse_drop(p, start)
    return _parse_add_or_modify(p, key, start)


def _parse_set_of_materialized_table(p: Parser, start: int) -> nodes.AlterAction:
    if p.accept("FRESHNESS"):
        return nodes.SetFreshness(parse_freshness(p), span=p.span_from(start))
    if p.accept("REFRESH_MODE"):
        p.expect("=")
        return nodes.SetRefreshMode(p.expect_any("FULL", "CONTINUOUS"), span=p.span_from(start))
    return nodes.SetProperties(parse_properties(p), span=p.span_from(start))
