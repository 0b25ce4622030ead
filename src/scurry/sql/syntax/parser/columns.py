"""Parts of table definitions: columns, constraints, watermarks, options, partitions."""

from __future__ import annotations

from typing import Final

from scurry.sql.syntax import nodes
from scurry.sql.syntax.lexer import DECIMAL
from scurry.sql.syntax.parser.literals import parse_literal, parse_literal_text
from scurry.sql.syntax.parser.parser import Context, Parser
from scurry.sql.syntax.parser.types import parse_nullable_type

_STRATEGIES: Final = ("INCLUDING", "EXCLUDING", "OVERWRITING")
_FEATURES: Final = tuple("ALL CONSTRAINTS DISTRIBUTION GENERATED METADATA OPTIONS PARTITIONS WATERMARKS".split())

Element = nodes.Column | nodes.TableConstraint | nodes.Watermark


def parse_if_exists(p: Parser) -> bool:
    """Parse IF EXISTS, if it is there."""
    return p.accept_all("IF", "EXISTS")


def parse_if_not_exists(p: Parser) -> bool:
    """Parse IF NOT EXISTS, if it is there."""
    return p.accept_all("IF", "NOT", "EXISTS")


def parse_comment(p: Parser) -> str | None:
    """Parse COMMENT, if it is there."""
    return p.string() if p.accept("COMMENT") else None


def parse_string_node(p: Parser) -> nodes.StringLiteral:
    start = p.position
    value = parse_literal_text(p)
    return nodes.StringLiteral(value, span=p.span_from(start))


def parse_properties(p: Parser) -> tuple[nodes.Property, ...]:
    """Parse ``('key' = 'value', ...)``."""
    p.expect("(")
    found = () if p.at(")") else p.comma_list(_parse_property)
    p.expect(")")
    return found


def parse_with_properties(p: Parser) -> tuple[nodes.Property, ...] | None:
    """Parse WITH, if it is there."""
    return parse_properties(p) if p.accept("WITH") else None


def _parse_property(p: Parser) -> nodes.Property:
    start = p.position
    key = parse_string_node(p)
    p.expect("=")
    return nodes.Property(key, parse_string_node(p), span=p.span_from(start))


def parse_property_keys(p: Parser) -> tuple[nodes.StringLiteral, ...]:
    p.expect("(")
    keys = () if p.at(")") else p.comma_list(parse_string_node)
    p.expect(")")
    return keys


def parse_partition_fields(p: Parser) -> tuple[nodes.PartitionField, ...]:
    """Parse ``(column = value, ...)``."""
    return p.parenthesized_list(_parse_partition_field)


def parse_partition_fields_or_names(p: Parser) -> tuple[nodes.PartitionField, ...]:
    """Parse ``(column = value, column, ...)``."""
    return p.parenthesized_list(_parse_partition_field_or_name)


def _parse_partition_field(p: Parser) -> nodes.PartitionField:
    start = p.position
    column = p.name()
    p.expect("=")
    return nodes.PartitionField(column, parse_literal(p), span=p.span_from(start))


def _parse_partition_field_or_name(p: Parser) -> nodes.PartitionField:
    start = p.position
    column = p.name()
    value = parse_literal(p) if p.accept("=") else None
    return nodes.PartitionField(column, value, span=p.span_from(start))


def parse_distribution(p: Parser) -> nodes.Distribution:
    """Parse ``BY HASH(columns) INTO n BUCKETS`` after DISTRIBUTED or DISTRIBUTION."""
    start = p.position - 1
    kind = None
    columns: tuple[nodes.Identifier, ...] = ()
    buckets = None
    if p.at("INTO"):
        buckets = _parse_buckets(p)
    else:
        p.expect("BY")
        kind = p.accept_any("HASH", "RANGE")
        columns = p.names()
        buckets = _parse_buckets(p) if p.at("INTO") else None
    return nodes.Distribution(kind, columns, buckets, span=p.span_from(start))


def _parse_buckets(p: Parser) -> int:
    p.position += 1
    if p.keys[p.position] == DECIMAL:
        p.position += 1
        raise p.error_at_last("Bucket count must be a positive integer.")
    count = p.unsigned_integer()
    p.expect("BUCKETS")
    return count


def parse_table_schema(p: Parser, names_allowed: bool = True) -> nodes.TableSchema:
    """Parse columns, constraints and a watermark in parentheses."""
    start = p.position
    p.expect("(")
    if names_allowed and p.keys[p.position + 1] in (",", ")", "."):
        columns = p.comma_list(_parse_name_only)
        p.expect(")")
        return nodes.TableSchema(columns, span=p.span_from(start))
    elements = [_parse_element(p, positions=False)]
    while p.accept(","):
        _check_watermark(p, elements)
        elements.append(_parse_element(p, positions=False))
    _check_watermark(p, elements)
    p.expect(")")
    return _schema_of(p, elements, start)


def _parse_name_only(p: Parser) -> nodes.NameOnlyColumn:
    name = p.compound_name()
    return nodes.NameOnlyColumn(name, span=name.span)


def _check_watermark(p: Parser, elements: list[Element]) -> None:
    """Refuse a second watermark as soon as it is read."""
    last = elements[-1]
    if isinstance(last, nodes.Watermark) and any(isinstance(each, nodes.Watermark) for each in elements[:-1]):
        raise p.error_at("Multiple WATERMARK declarations are not supported yet.", last.span)


def _schema_of(p: Parser, elements: list[Element], start: int) -> nodes.TableSchema:
    """Return a schema of columns, constraints and watermarks in any order."""
    columns = tuple(each for each in elements if isinstance(each, nodes.Column))
    constraints = tuple(each for each in elements if isinstance(each, nodes.TableConstraint))
    watermark = next((each for each in elements if isinstance(each, nodes.Watermark)), None)
    return nodes.TableSchema(columns, constraints, watermark, span=p.span_from(start))


def parse_altered_schema(p: Parser) -> nodes.TableSchema:
    """Parse the element after ADD or MODIFY of a table, or several in parentheses."""
    start = p.position
    if not p.accept("("):
        return _schema_of(p, [_parse_element(p, positions=True)], start)
    elements = [_parse_element(p, positions=True)]
    while p.accept(","):
        _check_watermark(p, elements)
        elements.append(_parse_element(p, positions=True))
    _check_watermark(p, elements)
    p.expect(")")
    return _schema_of(p, elements, start)


def _parse_element(p: Parser, positions: bool) -> Element:
    """Parse a column, a constraint or a watermark.

    Args:
        positions: Whether FIRST or AFTER may follow a column.
    """
    key = p.keys[p.position]
    if key == "WATERMARK" and (positions or p.keys[p.position + 1] == "FOR"):
        return _parse_watermark(p)
    if key in ("CONSTRAINT", "PRIMARY", "UNIQUE"):
        return _parse_table_constraint(p)
    column = _parse_column(p)
    return _parse_column_position(p, column) if positions else column


def _parse_watermark(p: Parser) -> nodes.Watermark:
    start = p.position
    p.expect("WATERMARK", "FOR")
    column = p.compound_name()
    p.expect("AS")
    value = p.expression(Context.NON_QUERY)
    return nodes.Watermark(column, value, span=p.span_from(start))


def _parse_column_position(p: Parser, column: nodes.Column) -> nodes.Column:
    start = p.position
    if p.accept("FIRST"):
        return nodes.replace(column, position=nodes.ColumnPosition(span=p.span_from(start)))
    if p.accept("AFTER"):
        after = p.compound_name()
        return nodes.replace(column, position=nodes.ColumnPosition(after, span=p.span_from(start)))
    return column


def _parse_column(p: Parser) -> nodes.Column:
    start = p.position
    if p.keys[start + 1] == "AS":
        return _parse_computed_column(p)
    name = p.compound_name()
    spec = parse_nullable_type(p)
    if p.accept("METADATA"):
        key = parse_literal_text(p) if p.accept("FROM") else None
        virtual = p.accept("VIRTUAL")
        comment = _parse_column_comment(p)
        return nodes.MetadataColumn(name, spec, key, virtual, comment=comment, span=p.span_from(start))
    constraint = _parse_column_constraint(p)
    return nodes.PhysicalColumn(name, spec, constraint, comment=_parse_column_comment(p), span=p.span_from(start))


def _parse_column_comment(p: Parser) -> str | None:
    return parse_literal_text(p) if p.accept("COMMENT") else None


def _parse_computed_column(p: Parser) -> nodes.ComputedColumn:
    start = p.position
    name = p.name()
    p.expect("AS")
    value = p.expression(Context.NON_QUERY)
    return nodes.ComputedColumn(name, value, comment=_parse_column_comment(p), span=p.span_from(start))


def _parse_column_constraint(p: Parser) -> nodes.ColumnConstraint | None:
    start = p.position
    if p.keys[start] not in ("CONSTRAINT", "PRIMARY", "UNIQUE"):
        return None
    name = p.name() if p.accept("CONSTRAINT") else None
    kind = _parse_constraint_kind(p)
    return nodes.ColumnConstraint(kind, name, _parse_enforced(p), span=p.span_from(start))


def _parse_table_constraint(p: Parser) -> nodes.TableConstraint:
    start = p.position
    name = p.name() if p.accept("CONSTRAINT") else None
    kind = _parse_constraint_kind(p)
    columns = p.names()
    return nodes.TableConstraint(kind, columns, name, _parse_enforced(p), span=p.span_from(start))


def _parse_constraint_kind(p: Parser) -> str:
    if p.expect_any("PRIMARY", "UNIQUE") == "UNIQUE":
        return "UNIQUE"
    p.expect("KEY")
    return "PRIMARY KEY"


def _parse_enforced(p: Parser) -> bool | None:
    if p.accept("ENFORCED"):
        return True
    if p.accept("NOT"):
        p.expect("ENFORCED")
        return False
    return None


def parse_table_like(p: Parser) -> nodes.TableLikeClause:
    """Parse the table after LIKE in CREATE TABLE."""
    start = p.position - 1
    table = p.compound_name()
    options = []
    if p.accept("("):
        options.append(_parse_like_option(p))
        while not p.at(")"):
            options.append(_parse_like_option(p))
        p.position += 1
    return nodes.TableLikeClause(table, tuple(options), span=p.span_from(start))


def _parse_like_option(p: Parser) -> nodes.TableLikeOption:
    start = p.position
    strategy = p.expect_any(*_STRATEGIES)
    return nodes.TableLikeOption(strategy, p.expect_any(*_FEATURES), span=p.span_from(start))
