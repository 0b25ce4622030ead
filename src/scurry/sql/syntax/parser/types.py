"""Data types."""

from __future__ import annotations

from typing import Final

from scurry.sql.syntax import nodes
from scurry.sql.syntax.lexer import STRING
from scurry.sql.syntax.parser.literals import parse_literal_text, parse_optional_precision, parse_precision_and_scale
from scurry.sql.syntax.parser.parser import Parser

# Types without arguments, by the keyword, under the name that Calcite gives them.
_PLAIN: Final = {
    **{name: name for name in "BOOLEAN INTEGER TINYINT SMALLINT BIGINT REAL DOUBLE FLOAT DATE STRING BYTES".split()},
    "INT": "INTEGER",
    "VARIANT": "VARIANT",
    "BITMAP": "BITMAP",
}
_WITH_PRECISION: Final = {"VARBINARY": "VARBINARY", "VARCHAR": "VARCHAR", "TIMESTAMP_LTZ": "TIMESTAMP_LTZ"}
_WITH_SCALE: Final = {"DECIMAL": "DECIMAL", "DEC": "DECIMAL", "NUMERIC": "DECIMAL", "ANY": "ANY"}
_VARYING: Final = {"BINARY": ("BINARY", "VARBINARY"), "CHAR": ("CHAR", "VARCHAR"), "CHARACTER": ("CHAR", "VARCHAR")}


def parse_nullable_type(p: Parser) -> nodes.TypeSpec:
    """Parse a type that NULL or NOT NULL may follow, here and within it."""
    start = p.position
    spec = _parse_type_name(p)
    while True:
        nullable = _peek_nullable(p)
        after = p.position + (0 if nullable is None else 1 if nullable else 2)
        if p.keys[after] not in ("ARRAY", "MULTISET"):
            break
        p.position = after
        spec = _parse_collection_of(p, nodes.replace(spec, nullable=nullable is not False), start)
    nullable = _parse_nullability(p)
    if nullable is None:
        return spec
    return nodes.replace(spec, nullable=nullable, span=p.span_from(start))


def parse_data_type(p: Parser) -> nodes.TypeSpec:
    """Parse a type without NULL or NOT NULL after it."""
    start = p.position
    spec = _parse_type_name(p)
    while p.keys[p.position] in ("ARRAY", "MULTISET"):
        spec = _parse_collection_of(p, spec, start)
    return spec


def _parse_collection_of(p: Parser, element: nodes.TypeSpec, start: int) -> nodes.TypeSpec:
    kind = p.expect_any("ARRAY", "MULTISET")
    span = p.span_from(start)
    if kind == "ARRAY":
        return nodes.ArrayTypeSpec(element, standard=True, span=span)
    return nodes.MultisetTypeSpec(element, standard=True, span=span)


def _peek_nullable(p: Parser) -> bool | None:
    if p.at("NULL"):
        return True
    return False if p.at_all("NOT", "NULL") else None


def _parse_nullability(p: Parser) -> bool | None:
    """Parse NULL or NOT NULL, if there is one of them."""
    if p.accept("NULL"):
        return True
    if p.accept("NOT"):
        p.expect("NULL")
        return False
    return None


def _parse_type_name(p: Parser) -> nodes.TypeSpec:
    """Parse a type without suffixes."""
    start = p.position
    key = p.keys[start]
    following = p.keys[start + 1]
    if key in _PLAIN:
        p.position += 1
        if key == "DOUBLE":
            p.accept("PRECISION")
        return nodes.BasicTypeSpec(_PLAIN[key], span=p.span_from(start))
    if key in _WITH_PRECISION or key in _WITH_SCALE or key in _VARYING:
        return _parse_type_with_arguments(p, key)
    if key in ("TIME", "TIMESTAMP"):
        return _parse_time_type(p, key)
    if key in ("ARRAY", "MULTISET") and following == "<":
        return _parse_collection_type(p, key)
    if key == "MAP" and following == "<":
        return _parse_map_type(p)
    if key == "ROW" and following in ("<", "(", "<>"):
        return _parse_row_type(p)
    if key == "RAW" and following == "(":
        return _parse_raw_type(p)
    if key == "STRUCTURED" and following == "<":
        return _parse_structured_type(p)
    name = p.compound_name()
    return nodes.NamedTypeSpec(name, span=name.span)


def _parse_type_with_arguments(p: Parser, key: str) -> nodes.TypeSpec:
    start = p.position
    p.position += 1
    if key in _WITH_SCALE:
        precision, scale = parse_precision_and_scale(p)
        return nodes.BasicTypeSpec(_WITH_SCALE[key], precision, scale, span=p.span_from(start))
    if key in _VARYING:
        name = _VARYING[key][p.accept("VARYING")]
    else:
        name = _WITH_PRECISION[key]
    precision = parse_optional_precision(p)
    charset = None
    if name.endswith("CHAR") and p.accept("CHARACTER"):
        p.expect("SET")
        charset = p.name().last
    return nodes.BasicTypeSpec(name, precision, charset=charset, span=p.span_from(start))


def _parse_time_type(p: Parser, key: str) -> nodes.TypeSpec:
    start = p.position
    p.position += 1
    precision = parse_optional_precision(p)
    zone = None
    if p.accept_all("WITHOUT", "TIME", "ZONE"):
        pass
    elif p.accept("WITH"):
        p.expect("LOCAL", "TIME", "ZONE")
        zone = "WITH LOCAL TIME ZONE"
    return nodes.BasicTypeSpec(key, precision, time_zone=zone, span=p.span_from(start))


def _parse_collection_type(p: Parser, key: str) -> nodes.TypeSpec:
    start = p.position
    p.position += 2
    element = parse_nullable_type(p)
    p.expect(">")
    if key == "ARRAY":
        return nodes.ArrayTypeSpec(element, span=p.span_from(start))
    return nodes.MultisetTypeSpec(element, span=p.span_from(start))


def _parse_map_type(p: Parser) -> nodes.TypeSpec:
    start = p.position
    p.position += 2
    key = parse_nullable_type(p)
    p.expect(",")
    value = parse_nullable_type(p)
    p.expect(">")
    return nodes.MapTypeSpec(key, value, span=p.span_from(start))


def _parse_row_type(p: Parser) -> nodes.TypeSpec:
    start = p.position
    p.position += 1
    if p.accept("<>"):
        return nodes.RowTypeSpec((), span=p.span_from(start))
    parentheses = p.expect_any("<", "(") == "("
    fields = _parse_row_fields(p, ")" if parentheses else ">")
    return nodes.RowTypeSpec(fields, parentheses, span=p.span_from(start))


def _parse_row_fields(p: Parser, close: str) -> tuple[nodes.RowFieldSpec, ...]:
    fields: tuple[nodes.RowFieldSpec, ...] = ()
    if p.at_name():
        fields = p.comma_list(_parse_row_field)
    p.expect(close)
    return fields


def _parse_row_field(p: Parser) -> nodes.RowFieldSpec:
    start = p.position
    name = p.name()
    spec = parse_nullable_type(p)
    comment = p.string() if p.keys[p.position] == STRING else None
    return nodes.RowFieldSpec(name, spec, comment, span=p.span_from(start))


def _parse_raw_type(p: Parser) -> nodes.TypeSpec:
    start = p.position
    p.position += 2
    class_name = parse_literal_text(p)
    p.expect(",")
    serializer = parse_literal_text(p)
    p.expect(")")
    return nodes.RawTypeSpec(class_name, serializer, span=p.span_from(start))


def _parse_structured_type(p: Parser) -> nodes.TypeSpec:
    start = p.position
    p.position += 2
    class_name = parse_literal_text(p)
    fields: tuple[nodes.RowFieldSpec, ...] = ()
    if p.accept(","):
        fields = _parse_row_fields(p, ">")
    else:
        p.expect(">")
    return nodes.StructuredTypeSpec(class_name, fields, span=p.span_from(start))
