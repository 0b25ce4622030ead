"""Statements that change data, run plans, or concern the session; and the dispatch of statements to parsers."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Final

from scurry.sql.syntax import nodes
from scurry.sql.syntax.lexer import IDENTIFIER_KEYS, STRING
from scurry.sql.syntax.parser.alter import parse_alter
from scurry.sql.syntax.parser.calls import parse_arguments
from scurry.sql.syntax.parser.columns import (
    parse_if_not_exists,
    parse_partition_fields,
    parse_partition_fields_or_names,
    parse_with_properties,
)
from scurry.sql.syntax.parser.ddl import parse_create, parse_create_table, parse_drop
from scurry.sql.syntax.parser.literals import parse_literal_text
from scurry.sql.syntax.parser.parser import Parser
from scurry.sql.syntax.parser.queries import parse_query, parse_values_row
from scurry.sql.syntax.parser.show import SHOWN, parse_describe, parse_show
from scurry.sql.syntax.parser.tables import parse_extension, parse_hints, parse_table

# Flink keeps details in a hash set, which lists them in this order.
_DETAILS: Final = ("JSON_EXECUTION_PLAN", "CHANGELOG_MODE", "PLAN_ADVICE", "ESTIMATED_COST")

_SETTING = re.compile(r"(?P<key>[^'\s;=]+)\s*=\s*(?:'(?P<quoted>[^']*)'|(?P<value>[^;\s]+))")
_SETTING_KEY = re.compile(r"(?P<key>[^'\s;]+)")


def parse_statement(p: Parser) -> nodes.Statement:
    key = p.keys[p.position]
    following = p.keys[p.position + 1]
    parse = _STATEMENTS.get(key)
    if parse is None:
        return parse_query(p)
    if following not in _SECOND.get(key, (following,)):
        p.looked_ahead_at = p.position
        return parse_query(p)
    return parse(p)


def _parse_insert(p: Parser) -> nodes.Insert:
    """Parse INSERT or UPSERT, whose keyword is the next token."""
    start = p.position
    upsert = p.expect_any("INSERT", "UPSERT") == "UPSERT"
    overwrite = p.expect_any("INTO", "OVERWRITE") == "OVERWRITE"
    if overwrite and upsert:
        raise p.error_at_last("OVERWRITE expression is only used with INSERT statement.")
    table = p.compound_name()
    hints = parse_hints(p)
    extend = parse_extension(p)
    partition: tuple[nodes.PartitionField, ...] = ()
    if p.accept("PARTITION"):
        partition = parse_partition_fields(p)
    columns: tuple[nodes.Identifier, ...] = ()
    if p.at("(") and p.keys[p.position + 1] in IDENTIFIER_KEYS:
        columns = p.parenthesized_list(Parser.compound_name)
    query = parse_query(p)
    conflict = None
    if p.accept("ON"):
        p.expect("CONFLICT", "DO")
        conflict = p.expect_any("ERROR", "NOTHING", "DEDUPLICATE")
    return nodes.Insert(
        table, query, columns, partition, overwrite, upsert, conflict, hints, extend, span=p.span_from(start)
    )


def _parse_assignment(p: Parser) -> nodes.Assignment:
    start = p.position
    column = p.name()
    p.expect("=")
    return nodes.Assignment(column, p.expression(), span=p.span_from(start))


def _parse_update(p: Parser) -> nodes.Statement:
    start = p.position
    p.position += 1
    table = p.compound_name()
    hints = parse_hints(p)
    alias = p.alias()
    p.expect("SET")
    assignments = p.comma_list(_parse_assignment)
    where = p.expression() if p.accept("WHERE") else None
    return nodes.Update(table, assignments, where, alias, hints, span=p.span_from(start))


def _parse_delete(p: Parser) -> nodes.Statement:
    start = p.position
    p.position += 1
    p.expect("FROM")
    table = p.compound_name()
    hints = parse_hints(p)
    alias = p.alias()
    where = p.expression() if p.accept("WHERE") else None
    return nodes.Delete(table, where, alias, hints, span=p.span_from(start))


def _parse_merge(p: Parser) -> nodes.Statement:
    start = p.position
    p.position += 1
    p.expect("INTO")
    table = p.compound_name()
    alias = p.alias()
    p.expect("USING")
    source = parse_table(p)
    p.expect("ON")
    condition = p.expression()
    assignments: tuple[nodes.Assignment, ...] = ()
    columns: tuple[nodes.Identifier, ...] = ()
    values = None
    if not p.at("WHEN"):
        p.fail()
    if p.accept_all("WHEN", "MATCHED"):
        p.expect("THEN", "UPDATE", "SET")
        assignments = p.comma_list(_parse_assignment)
    if p.accept("WHEN"):
        p.expect("NOT", "MATCHED", "THEN", "INSERT")
        columns = p.names() if p.at("(") else ()
        p.expect("VALUES")
        values = parse_values_row(p)
    span = p.span_from(start)
    return nodes.Merge(table, source, condition, assignments, columns, values, alias, span=span)


def _parse_truncate(p: Parser) -> nodes.Statement:
    start = p.position
    p.position += 1
    p.expect("TABLE")
    return nodes.TruncateTable(p.compound_name(), span=p.span_from(start))


def _parse_call_procedure(p: Parser) -> nodes.Statement:
    start = p.position
    p.position += 1
    call_start = p.position
    name = p.compound_name()
    quantifier, arguments = parse_arguments(p)
    span = p.span_from(call_start)
    call = nodes.Call(name, arguments, quantifier, call_span=span, span=span)
    return nodes.CallProcedure(call, span=p.span_from(start))


def _parse_statement_set(p: Parser) -> nodes.StatementSet:
    """Parse ``STATEMENT SET BEGIN ...; END``."""
    start = p.position
    p.expect("STATEMENT", "SET", "BEGIN")
    inserts: list[nodes.Insert] = []
    while not inserts or not p.at("END"):
        inserts.append(_parse_insert(p))
        p.expect(";")
    p.position += 1
    return nodes.StatementSet(tuple(inserts), span=p.span_from(start))


def _parse_begin(p: Parser) -> nodes.Statement:
    start = p.position
    p.position += 1
    p.expect("STATEMENT", "SET")
    return nodes.BeginStatementSet(span=p.span_from(start))


def _parse_end(p: Parser) -> nodes.Statement:
    p.position += 1
    return nodes.EndStatementSet(span=p.span_of(p.position - 1))


def _parse_execute(p: Parser) -> nodes.Statement:
    start = p.position
    p.position += 1
    if p.accept("PLAN"):
        return nodes.ExecutePlan(parse_literal_text(p), span=p.span_from(start))
    executed: nodes.Statement
    if p.at("STATEMENT") and p.keys[p.position + 1] == "SET":
        executed = _parse_statement_set(p)
    elif p.at("INSERT") or p.at("UPSERT"):
        executed = _parse_insert(p)
    else:
        executed = parse_query(p)
    return nodes.Execute(executed, span=p.span_from(start))


def _parse_compile(p: Parser) -> nodes.Statement:
    start = p.position
    p.position += 1
    execute = p.accept("AND")
    if execute:
        p.expect("EXECUTE")
    p.expect("PLAN")
    path = parse_literal_text(p)
    exists = parse_if_not_exists(p) if not execute else False
    p.expect("FOR")
    compiled = _parse_statement_set(p) if p.at("STATEMENT") else _parse_insert(p)
    span = p.span_from(start)
    if execute:
        return nodes.CompileAndExecutePlan(path, compiled, span=span)
    return nodes.CompilePlan(path, compiled, exists, span=span)


def _parse_explain(p: Parser) -> nodes.Statement:
    start = p.position
    p.position += 1
    details: list[str] = []
    if p.at("PLAN") and p.keys[p.position + 1] == "FOR":
        p.position += 2
    elif p.keys[p.position] in _DETAILS:
        _parse_explain_detail(p, details)
        while p.accept(","):
            _parse_explain_detail(p, details)
    explained = _parse_explained(p)
    return nodes.Explain(explained, tuple(sorted(details, key=_DETAILS.index)), span=p.span_from(start))


def _parse_explain_detail(p: Parser, details: list[str]) -> None:
    detail = p.expect_any(*_DETAILS)
    if detail in details:
        raise p.error_at_last("Duplicate EXPLAIN DETAIL is not allowed.")
    details.append(detail)


def _parse_explained(p: Parser) -> nodes.Statement:
    key = p.keys[p.position]
    if key == "STATEMENT" and p.keys[p.position + 1] == "SET":
        return _parse_statement_set(p)
    if key in ("INSERT", "UPSERT"):
        return _parse_insert(p)
    if key == "REPLACE" and p.keys[p.position + 1] in ("TABLE", "TEMPORARY"):
        return _parse_replace_table(p)
    if key == "EXECUTE":
        return _parse_execute(p)
    if key == "CREATE":
        created = parse_create(p)
        if not (isinstance(created, nodes.CreateTable) and created.query is not None):
            raise p.error_at_last(
                "Unsupported CREATE OR REPLACE statement for EXPLAIN. The statement must define a query using the "
                "AS clause (i.e. CTAS/RTAS statements)."
            )
        return created
    return parse_query(p)


def _parse_replace_table(p: Parser) -> nodes.Statement:
    start = p.position
    p.position += 1
    temporary = p.accept("TEMPORARY")
    p.expect("TABLE")
    return parse_create_table(p, start, temporary, "REPLACE")


def _parse_analyze(p: Parser) -> nodes.Statement:
    start = p.position
    p.position += 1
    p.expect("TABLE")
    table = p.compound_name()
    partition = parse_partition_fields_or_names(p) if p.accept("PARTITION") else ()
    p.expect("COMPUTE", "STATISTICS")
    columns: tuple[nodes.Identifier, ...] = ()
    every = False
    if p.accept("FOR"):
        if p.accept("COLUMNS"):
            columns = p.comma_list(Parser.name)
        else:
            p.expect("ALL", "COLUMNS")
            every = True
    return nodes.AnalyzeTable(table, partition, columns, every, span=p.span_from(start))


def _parse_use(p: Parser) -> nodes.Statement:
    start = p.position
    p.position += 1
    if p.at("CATALOG") and p.keys[p.position + 1] != ".":
        p.position += 1
        return nodes.UseCatalog(p.name(), span=p.span_from(start))
    if p.accept("MODULES"):
        return nodes.UseModules(p.comma_list(Parser.name), span=p.span_from(start))
    return nodes.UseDatabase(p.compound_name(), span=p.span_from(start))


def _parse_load(p: Parser) -> nodes.Statement:
    start = p.position
    p.position += 1
    p.expect("MODULE")
    name = p.name()
    return nodes.LoadModule(name, parse_with_properties(p) or (), span=p.span_from(start))


def _parse_unload(p: Parser) -> nodes.Statement:
    start = p.position
    p.position += 1
    p.expect("MODULE")
    return nodes.UnloadModule(p.name(), span=p.span_from(start))


def _parse_set(p: Parser) -> nodes.Statement:
    start = p.position
    p.position += 1
    if p.keys[p.position] != STRING:
        unquoted = _parse_unquoted(p, _SETTING)
        if unquoted is None:
            return nodes.Set(span=p.span_from(start))
        value = unquoted["value"] if unquoted["quoted"] is None else unquoted["quoted"]
        return nodes.Set(unquoted["key"], value, span=p.span_from(start))
    key = parse_literal_text(p)
    p.expect("=")
    return nodes.Set(key, parse_literal_text(p), span=p.span_from(start))


def _parse_reset(p: Parser) -> nodes.Statement:
    start = p.position
    p.position += 1
    key = parse_literal_text(p) if p.keys[p.position] == STRING else None
    unquoted = _parse_unquoted(p, _SETTING_KEY) if key is None else None
    key = unquoted["key"] if unquoted is not None else key
    return nodes.Reset(key, span=p.span_from(start))


def _parse_unquoted(p: Parser, pattern: re.Pattern[str]) -> re.Match[str] | None:
    """Go past a setting without quotes, as clients take it."""
    if not p.for_clients:
        return None
    found = pattern.match(p.tokens.text, p.tokens.starts[p.position])
    if found is not None:
        while p.tokens.starts[p.position] < found.end():
            p.position += 1
    return found


def _parse_jar_statement(p: Parser) -> nodes.Statement:
    start = p.position
    verb = p.expect_any("ADD", "REMOVE")
    p.expect("JAR")
    path = p.string()
    span = p.span_from(start)
    return nodes.AddJar(path, span=span) if verb == "ADD" else nodes.RemoveJar(path, span=span)


def _parse_stop(p: Parser) -> nodes.Statement:
    start = p.position
    p.position += 1
    p.expect("JOB")
    job = p.string()
    savepoint = p.accept_all("WITH", "SAVEPOINT")
    drain = p.accept_all("WITH", "DRAIN")
    if drain and not savepoint:
        raise p.error_at("WITH DRAIN could only be used after WITH SAVEPOINT.", p.span_of(p.position - 2))
    return nodes.StopJob(job, savepoint, drain, span=p.span_from(start))


_STATEMENTS: Final[dict[str, Callable[[Parser], nodes.Statement]]] = {
    "INSERT": _parse_insert,
    "UPSERT": _parse_insert,
    "UPDATE": _parse_update,
    "DELETE": _parse_delete,
    "MERGE": _parse_merge,
    "TRUNCATE": _parse_truncate,
    "CALL": _parse_call_procedure,
    "CREATE": parse_create,
    "DROP": parse_drop,
    "ALTER": parse_alter,
    "REPLACE": _parse_replace_table,
    "SHOW": parse_show,
    "DESCRIBE": parse_describe,
    "DESC": parse_describe,
    "EXPLAIN": _parse_explain,
    "EXECUTE": _parse_execute,
    "COMPILE": _parse_compile,
    "BEGIN": _parse_begin,
    "END": _parse_end,
    "ANALYZE": _parse_analyze,
    "USE": _parse_use,
    "LOAD": _parse_load,
    "UNLOAD": _parse_unload,
    "SET": _parse_set,
    "RESET": _parse_reset,
    "ADD": _parse_jar_statement,
    "REMOVE": _parse_jar_statement,
    "STOP": _parse_stop,
}
_INSERTIONS: Final = ("INSERT", "UPSERT")
_QUERIES: Final = ("SELECT", "WITH", "VALUES", "TABLE", "(")
# Words that begin a statement only before these; elsewhere they are names or functions, or wrong as a first word.
_SECOND: Final[dict[str, Collection[str]]] = {
    "TRUNCATE": ("TABLE",),
    "ADD": ("JAR",),
    "REMOVE": ("JAR",),
    "STOP": ("JOB",),
    "LOAD": ("MODULE",),
    "UNLOAD": ("MODULE",),
    "COMPILE": ("PLAN", "AND"),
    "ANALYZE": ("TABLE",),
    "BEGIN": ("STATEMENT",),
    "REPLACE": ("TABLE", "TEMPORARY"),
    "USE": IDENTIFIER_KEYS | {"MODULES"},
    "SHOW": SHOWN,
    "EXECUTE": IDENTIFIER_KEYS | {"STATEMENT", "PLAN", *_INSERTIONS, *_QUERIES},
}
