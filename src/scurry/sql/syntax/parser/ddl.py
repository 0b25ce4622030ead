"""CREATE and DROP."""

from __future__ import annotations

from scurry.sql.syntax import nodes
from scurry.sql.syntax.lexer import IDENTIFIER_KEYS
from scurry.sql.syntax.parser.columns import (
    parse_comment,
    parse_distribution,
    parse_if_exists,
    parse_if_not_exists,
    parse_properties,
    parse_string_node,
    parse_table_like,
    parse_table_schema,
    parse_with_properties,
)
from scurry.sql.syntax.parser.literals import parse_literal_text
from scurry.sql.syntax.parser.parser import Context, Parser
from scurry.sql.syntax.parser.queries import parse_query

#: The words of START_MODE, which RESUME_OR_ may precede.
_START_MODES = ("FROM_BEGINNING", "FROM_NOW", "FROM_TIMESTAMP")


def parse_create(p: Parser) -> nodes.Statement:
    """Parse CREATE, whose keyword is the next token."""
    start = p.position
    p.position += 1
    replace = or_alter = False
    if p.accept("OR"):
        if p.expect_any("REPLACE", "ALTER") == "ALTER":
            or_alter = True
        else:
            replace = True
    if or_alter:
        p.expect("MATERIALIZED")
        return _parse_create_materialized_table(p, start, or_alter=True)
    temporary = p.accept("TEMPORARY")
    key = _parse_kind(p)
    if key == "CATALOG":
        return _parse_create_catalog(p, start)
    if key == "DATABASE":
        return _parse_create_database(p, start)
    if key == "TABLE":
        return parse_create_table(p, start, temporary, "CREATE OR REPLACE" if replace else None)
    if key == "VIEW":
        return _parse_create_view(p, start, temporary)
    if key == "MODEL":
        return _parse_create_model(p, start, temporary)
    if key == "MATERIALIZED":
        if temporary:
            raise p.error_at_last("CREATE TEMPORARY MATERIALIZED TABLE is not supported.")
        if replace:
            raise p.error_at_last("REPLACE MATERIALIZED TABLE is not supported.")
        return _parse_create_materialized_table(p, start, or_alter=False)
    system = key == "SYSTEM"
    if system:
        key = _parse_system_kind(p, temporary)
    if key == "FUNCTION":
        return _parse_create_function(p, start, temporary, system)
    if key == "CONNECTION":
        return _parse_create_connection(p, start, temporary, system)
    p.position -= 1
    p.fail()


def _parse_kind(p: Parser) -> str:
    """Go past the kind of object that is created or dropped: a function only if two tokens tell so."""
    key = p.keys[p.position]
    if key in ("FUNCTION", "CONNECTION") and p.keys[p.position + 1] not in IDENTIFIER_KEYS | {"IF"}:
        p.looked_ahead_at = p.position
        p.fail()
    p.position += 1
    return key


def _parse_system_kind(p: Parser, temporary: bool) -> str:
    """Go past the kind of object after SYSTEM, which only a temporary function or connection has."""
    if not temporary:
        message = (
            "CREATE SYSTEM FUNCTION is not supported, system functions can only be registered as temporary "
            "functions, you can use CREATE TEMPORARY SYSTEM FUNCTION instead."
        )
        raise p.error_at_last(message)
    return p.expect_any("FUNCTION", "CONNECTION")


def _parse_create_catalog(p: Parser, start: int) -> nodes.Statement:
    exists = parse_if_not_exists(p)
    name = p.name()
    comment = parse_literal_text(p) if p.accept("COMMENT") else None
    properties = parse_with_properties(p)
    return nodes.CreateCatalog(name, properties, comment, exists, span=p.span_from(start))


def _parse_create_database(p: Parser, start: int) -> nodes.Statement:
    exists = parse_if_not_exists(p)
    name = p.compound_name()
    comment = parse_comment(p)
    properties = parse_with_properties(p)
    return nodes.CreateDatabase(name, properties, comment, exists, span=p.span_from(start))


def parse_create_table(p: Parser, start: int, temporary: bool, replace: str | None) -> nodes.CreateTable:
    """Parse the rest of CREATE TABLE or REPLACE TABLE.

    Args:
        start: Where the statement begins.
        temporary: Whether it is TEMPORARY.
        replace: ``REPLACE`` or ``CREATE OR REPLACE``, if one of them was written.
    """
    exists = parse_if_not_exists(p)
    name = p.compound_name()
    schema_start = p.position
    schema = parse_table_schema(p) if p.at("(") else None
    schema_end = p.position
    comment = parse_comment(p)
    distribution = parse_distribution(p) if p.accept("DISTRIBUTED") else None
    partitioned = _parse_partitioned_by(p)
    properties = parse_with_properties(p)
    like = query = None
    if replace != "REPLACE" and p.accept("LIKE"):
        like = parse_table_like(p)
    elif replace == "REPLACE" or p.at("AS"):
        p.expect("AS")
        query = parse_query(p)
    if query is None:
        _check_columns(p, schema, schema_start, schema_end)
    return nodes.CreateTable(
        name,
        schema,
        comment,
        distribution,
        partitioned,
        properties,
        like,
        query,
        temporary,
        exists,
        replace,
        span=p.span_from(start),
    )


def _parse_partitioned_by(p: Parser) -> tuple[nodes.Identifier, ...]:
    if not p.accept("PARTITIONED"):
        return ()
    p.expect("BY")
    return p.names()


def _check_columns(p: Parser, schema: nodes.TableSchema | None, start: int, end: int) -> None:
    """Refuse columns without types where no query gives them some."""
    if schema is not None and schema.columns and type(schema.columns[0]).__name__ == "NameOnlyColumn":
        message = "Columns identifiers without types in the schema are supported on CTAS/RTAS statements only."
        raise p.error_at(message, p.span_of(start))


def _parse_create_view(p: Parser, start: int, temporary: bool) -> nodes.Statement:
    exists = parse_if_not_exists(p)
    name = p.compound_name()
    columns = p.names() if p.at("(") else ()
    comment = parse_comment(p)
    p.expect("AS")
    query = parse_query(p)
    return nodes.CreateView(name, query, columns, comment, temporary, exists, span=p.span_from(start))


def _parse_create_function(p: Parser, start: int, temporary: bool, system: bool) -> nodes.Statement:
    exists = parse_if_not_exists(p)
    name = p.name() if system else p.compound_name()
    p.expect("AS")
    class_name = parse_string_node(p)
    language, resources = _parse_function_language(p)
    properties = parse_with_properties(p)
    return nodes.CreateFunction(
        name, class_name, language, resources, properties, temporary, system, exists, span=p.span_from(start)
    )


def _parse_function_language(p: Parser) -> tuple[str | None, tuple[str, ...]]:
    """Parse LANGUAGE and USING JAR of a function."""
    language = None
    language_at = p.position + 1
    if p.accept("LANGUAGE"):
        language = p.expect_any("JAVA", "SCALA", "SQL", "PYTHON")
    resources: tuple[str, ...] = ()
    if p.accept("USING"):
        if language in ("SQL", "PYTHON"):
            message = f"CREATE FUNCTION USING JAR/ARTIFACT syntax is not applicable to {language} language."
            raise p.error_at(message, p.span_of(language_at))
        resources = p.comma_list(_parse_jar)
    return language, resources


def _parse_jar(p: Parser) -> str:
    p.expect("JAR")
    return p.string()


def _parse_create_model(p: Parser, start: int, temporary: bool) -> nodes.Statement:
    exists = parse_if_not_exists(p)
    name = p.compound_name()
    inputs = parse_table_schema(p, names_allowed=False) if p.accept("INPUT") else None
    outputs = parse_table_schema(p, names_allowed=False) if p.accept("OUTPUT") else None
    comment = parse_comment(p)
    properties = parse_with_properties(p)
    query = parse_query(p) if p.accept("AS") else None
    return nodes.CreateModel(
        name, inputs, outputs, comment, properties, query, temporary, exists, span=p.span_from(start)
    )


def _parse_create_connection(p: Parser, start: int, temporary: bool, system: bool) -> nodes.Statement:
    exists = parse_if_not_exists(p)
    name = p.name() if system else p.compound_name()
    comment = parse_comment(p)
    p.expect("WITH")
    properties = parse_properties(p)
    return nodes.CreateConnection(name, properties, comment, temporary, system, exists, span=p.span_from(start))


def _parse_create_materialized_table(p: Parser, start: int, or_alter: bool) -> nodes.Statement:
    p.expect("TABLE")
    name = p.compound_name()
    schema = parse_table_schema(p) if p.at("(") else None
    comment = parse_comment(p)
    distribution = parse_distribution(p) if p.accept("DISTRIBUTED") else None
    partitioned = _parse_partitioned_by(p)
    properties = parse_with_properties(p)
    start_mode = _parse_start_mode(p)
    freshness = parse_freshness(p) if p.accept("FRESHNESS") else None
    mode = None
    if p.accept("REFRESH_MODE"):
        p.expect("=")
        mode = p.expect_any("FULL", "CONTINUOUS")
    p.expect("AS")
    query = parse_query(p)
    return nodes.CreateMaterializedTable(
        name,
        query,
        schema,
        comment,
        distribution,
        partitioned,
        properties,
        start_mode,
        freshness,
        mode,
        or_alter,
        span=p.span_from(start),
    )


def _parse_start_mode(p: Parser) -> nodes.Expression | None:
    if not p.accept("START_MODE"):
        return None
    p.expect("=")
    start = p.position
    mode = p.expect_any(*(f"{resume}{mode}" for resume in ("", "RESUME_OR_") for mode in _START_MODES))
    name = nodes.Identifier((mode,), span=p.span_from(start))
    if mode.endswith("BEGINNING") or (mode.endswith("NOW") and not p.at("(")):
        return name
    p.expect("(")
    value = p.expression(Context.NON_QUERY)
    wanted = nodes.IntervalLiteral if mode.endswith("NOW") else nodes.TimestampLiteral
    if not isinstance(value, wanted):
        kind = "an interval" if mode.endswith("NOW") else "a timestamp"
        plain = mode.removeprefix("RESUME_OR_")
        raise p.error_at_last(f"START_MODE literal must be {kind} for {plain} and RESUME_OR_{plain} modes.")
    p.expect(")")
    return nodes.Call(name, (value,), span=p.span_from(start))


def parse_freshness(p: Parser) -> nodes.Expression:
    """Parse the interval after FRESHNESS."""
    p.expect("=")
    value = p.expression(Context.NON_QUERY)
    if not isinstance(value, nodes.IntervalLiteral):
        raise p.error_at_last(
            "MATERIALIZED TABLE only supports define interval type FRESHNESS, please refer to the "
            "materialized table document."
        )
    return value


def parse_drop(p: Parser) -> nodes.Statement:
    """Parse DROP, whose keyword is the next token."""
    start = p.position
    p.position += 1
    temporary = p.accept("TEMPORARY")
    key = _parse_kind(p)
    system = key == "SYSTEM"
    if system:
        key = p.expect_any("FUNCTION", "CONNECTION")
    if key == "MATERIALIZED":
        if temporary:
            raise p.error_at_last("DROP TEMPORARY MATERIALIZED TABLE is not supported.")
        p.expect("TABLE")
    elif key not in ("CATALOG", "TABLE", "VIEW", "DATABASE", "FUNCTION", "MODEL", "CONNECTION"):
        p.position -= 1
        p.fail()
    exists = parse_if_exists(p)
    name = p.compound_name()
    if key == "DATABASE":
        cascade = p.accept_any("RESTRICT", "CASCADE") == "CASCADE"
        return nodes.DropDatabase(name, exists, temporary, cascade, span=p.span_from(start))
    span = p.span_from(start)
    if key == "FUNCTION":
        return nodes.DropFunction(name, exists, temporary, system, span=span)
    if key == "CONNECTION":
        return nodes.DropConnection(name, exists, temporary, system, span=span)
    plain = {
        "CATALOG": nodes.DropCatalog,
        "TABLE": nodes.DropTable,
        "VIEW": nodes.DropView,
        "MODEL": nodes.DropModel,
        "MATERIALIZED": nodes.DropMaterializedTable,
    }
    return plain[key](name, exists, temporary, span=span)
