"""Statements that change data, run plans, or concern the session; and the dispatch of statements to parsers."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from scurry.sql.syntax import nodes
from scurry.sql.syntax.lexer import IDENTIFIER_KEYS, STRING
from scurry.sql.syntax.parser.show import SHOWN, ShowParser

# Flink keeps details in a hash set, which lists them in this order.
_DETAILS: Final = ("JSON_EXECUTION_PLAN", "CHANGELOG_MODE", "PLAN_ADVICE", "ESTIMATED_COST")

_SETTING = re.compile(r"(?P<key>[^'\s;=]+)\s*=\s*(?:'(?P<quoted>[^']*)'|(?P<value>[^;\s]+))")
_SETTING_KEY = re.compile(r"(?P<key>[^'\s;]+)")


class StatementParser(ShowParser):
    """Parses every statement."""

    def statement(self) -> nodes.Statement:
        """Parse a statement."""
        key = self.keys[self.position]
        following = self.keys[self.position + 1]
        parse = _STATEMENTS.get(key)
        if parse is None:
            return self.query()
        if following not in _SECOND.get(key, (following,)):
            self.looked_ahead_at = self.position
            return self.query()
        found = getattr(self, parse)()
        assert isinstance(found, nodes.Statement)
        return found

    def insert(self) -> nodes.Insert:
        """Parse INSERT or UPSERT, whose keyword is the next token."""
        start = self.position
        upsert = self.expect_any("INSERT", "UPSERT") == "UPSERT"
        overwrite = self.expect_any("INTO", "OVERWRITE") == "OVERWRITE"
        if overwrite and upsert:
            raise self.error_at_last("OVERWRITE expression is only used with INSERT statement.")
        table = self.compound_name()
        hints = self.hints()
        extend = self.extension()
        partition: tuple[nodes.PartitionField, ...] = ()
        if self.accept("PARTITION"):
            partition = self.partition_fields()
        columns: tuple[nodes.Identifier, ...] = ()
        if self.at("(") and self.keys[self.position + 1] in IDENTIFIER_KEYS:
            columns = self.parenthesized_list(self.compound_name)
        query = self.query()
        conflict = None
        if self.accept("ON"):
            self.expect("CONFLICT", "DO")
            conflict = self.expect_any("ERROR", "NOTHING", "DEDUPLICATE")
        return nodes.Insert(
            table, query, columns, partition, overwrite, upsert, conflict, hints, extend, span=self.span_from(start)
        )

    def _assignment(self) -> nodes.Assignment:
        start = self.position
        column = self.name()
        self.expect("=")
        return nodes.Assignment(column, self.expression(), span=self.span_from(start))

    def _update(self) -> nodes.Statement:
        start = self.position
        self.position += 1
        table = self.compound_name()
        hints = self.hints()
        alias = self.alias()
        self.expect("SET")
        assignments = self.comma_list(self._assignment)
        where = self.expression() if self.accept("WHERE") else None
        return nodes.Update(table, assignments, where, alias, hints, span=self.span_from(start))

    def _delete(self) -> nodes.Statement:
        start = self.position
        self.position += 1
        self.expect("FROM")
        table = self.compound_name()
        hints = self.hints()
        alias = self.alias()
        where = self.expression() if self.accept("WHERE") else None
        return nodes.Delete(table, where, alias, hints, span=self.span_from(start))

    def _merge(self) -> nodes.Statement:
        start = self.position
        self.position += 1
        self.expect("INTO")
        table = self.compound_name()
        alias = self.alias()
        self.expect("USING")
        source = self.table()
        self.expect("ON")
        condition = self.expression()
        assignments: tuple[nodes.Assignment, ...] = ()
        columns: tuple[nodes.Identifier, ...] = ()
        values = None
        if not self.at("WHEN"):
            self.fail()
        if self.accept_all("WHEN", "MATCHED"):
            self.expect("THEN", "UPDATE", "SET")
            assignments = self.comma_list(self._assignment)
        if self.accept("WHEN"):
            self.expect("NOT", "MATCHED", "THEN", "INSERT")
            columns = self.names() if self.at("(") else ()
            self.expect("VALUES")
            values = self._values_row()
        span = self.span_from(start)
        return nodes.Merge(table, source, condition, assignments, columns, values, alias, span=span)

    def _truncate(self) -> nodes.Statement:
        start = self.position
        self.position += 1
        self.expect("TABLE")
        return nodes.TruncateTable(self.compound_name(), span=self.span_from(start))

    def _call_procedure(self) -> nodes.Statement:
        start = self.position
        self.position += 1
        call_start = self.position
        name = self.compound_name()
        quantifier, arguments, _ = self.arguments()
        span = self.span_from(call_start)
        call = nodes.Call(name, arguments, quantifier, call_span=span, span=span)
        return nodes.CallProcedure(call, span=self.span_from(start))

    def statement_set(self) -> nodes.StatementSet:
        """Parse ``STATEMENT SET BEGIN ...; END``."""
        start = self.position
        self.expect("STATEMENT", "SET", "BEGIN")
        inserts: list[nodes.Insert] = []
        while not inserts or not self.at("END"):
            inserts.append(self.insert())
            self.expect(";")
        self.position += 1
        return nodes.StatementSet(tuple(inserts), span=self.span_from(start))

    def _begin(self) -> nodes.Statement:
        start = self.position
        self.position += 1
        self.expect("STATEMENT", "SET")
        return nodes.BeginStatementSet(span=self.span_from(start))

    def _end(self) -> nodes.Statement:
        self.position += 1
        return nodes.EndStatementSet(span=self.span_of(self.position - 1))

    def _execute(self) -> nodes.Statement:
        start = self.position
        self.position += 1
        if self.accept("PLAN"):
            return nodes.ExecutePlan(self.literal_text(), span=self.span_from(start))
        executed: nodes.Statement
        if self.at("STATEMENT") and self.keys[self.position + 1] == "SET":
            executed = self.statement_set()
        elif self.at("INSERT") or self.at("UPSERT"):
            executed = self.insert()
        else:
            executed = self.query()
        return nodes.Execute(executed, span=self.span_from(start))

    def _compile(self) -> nodes.Statement:
        start = self.position
        self.position += 1
        execute = self.accept("AND")
        if execute:
            self.expect("EXECUTE")
        self.expect("PLAN")
        path = self.literal_text()
        exists = self.if_not_exists() if not execute else False
        self.expect("FOR")
        compiled = self.statement_set() if self.at("STATEMENT") else self.insert()
        span = self.span_from(start)
        if execute:
            return nodes.CompileAndExecutePlan(path, compiled, span=span)
        return nodes.CompilePlan(path, compiled, exists, span=span)

    def _explain(self) -> nodes.Statement:
        start = self.position
        self.position += 1
        details: list[str] = []
        if self.at("PLAN") and self.keys[self.position + 1] == "FOR":
            self.position += 2
        elif self.keys[self.position] in _DETAILS:
            self._explain_detail(details)
            while self.accept(","):
                self._explain_detail(details)
        explained = self._explained()
        return nodes.Explain(explained, tuple(sorted(details, key=_DETAILS.index)), span=self.span_from(start))

    def _explain_detail(self, details: list[str]) -> None:
        detail = self.expect_any(*_DETAILS)
        if detail in details:
            raise self.error_at_last("Duplicate EXPLAIN DETAIL is not allowed.")
        details.append(detail)

    def _explained(self) -> nodes.Statement:
        key = self.keys[self.position]
        if key == "STATEMENT" and self.keys[self.position + 1] == "SET":
            return self.statement_set()
        if key in ("INSERT", "UPSERT"):
            return self.insert()
        if key == "REPLACE" and self.keys[self.position + 1] in ("TABLE", "TEMPORARY"):
            return self._replace_table()
        if key == "EXECUTE":
            return self._execute()
        if key == "CREATE":
            created = self.create()
            if not (isinstance(created, nodes.CreateTable) and created.query is not None):
                raise self.error_at_last(
                    "Unsupported CREATE OR REPLACE statement for EXPLAIN. The statement must define a query using the "
                    "AS clause (i.e. CTAS/RTAS statements)."
                )
            return created
        return self.query()

    def _replace_table(self) -> nodes.Statement:
        start = self.position
        self.position += 1
        temporary = self.accept("TEMPORARY")
        self.expect("TABLE")
        return self.create_table(start, temporary, "REPLACE")

    def _analyze(self) -> nodes.Statement:
        start = self.position
        self.position += 1
        self.expect("TABLE")
        table = self.compound_name()
        partition = self.partition_fields_or_names() if self.accept("PARTITION") else ()
        self.expect("COMPUTE", "STATISTICS")
        columns: tuple[nodes.Identifier, ...] = ()
        every = False
        if self.accept("FOR"):
            if self.accept("COLUMNS"):
                columns = self.comma_list(self.name)
            else:
                self.expect("ALL", "COLUMNS")
                every = True
        return nodes.AnalyzeTable(table, partition, columns, every, span=self.span_from(start))

    def _use(self) -> nodes.Statement:
        start = self.position
        self.position += 1
        if self.at("CATALOG") and self.keys[self.position + 1] != ".":
            self.position += 1
            return nodes.UseCatalog(self.name(), span=self.span_from(start))
        if self.accept("MODULES"):
            return nodes.UseModules(self.comma_list(self.name), span=self.span_from(start))
        return nodes.UseDatabase(self.compound_name(), span=self.span_from(start))

    def _load(self) -> nodes.Statement:
        start = self.position
        self.position += 1
        self.expect("MODULE")
        name = self.name()
        return nodes.LoadModule(name, self.with_properties() or (), span=self.span_from(start))

    def _unload(self) -> nodes.Statement:
        start = self.position
        self.position += 1
        self.expect("MODULE")
        return nodes.UnloadModule(self.name(), span=self.span_from(start))

    def _set(self) -> nodes.Statement:
        start = self.position
        self.position += 1
        if self.keys[self.position] != STRING:
            unquoted = self._unquoted(_SETTING)
            if unquoted is None:
                return nodes.Set(span=self.span_from(start))
            value = unquoted["value"] if unquoted["quoted"] is None else unquoted["quoted"]
            return nodes.Set(unquoted["key"], value, span=self.span_from(start))
        key = self.literal_text()
        self.expect("=")
        return nodes.Set(key, self.literal_text(), span=self.span_from(start))

    def _reset(self) -> nodes.Statement:
        start = self.position
        self.position += 1
        key = self.literal_text() if self.keys[self.position] == STRING else None
        unquoted = self._unquoted(_SETTING_KEY) if key is None else None
        key = unquoted["key"] if unquoted is not None else key
        return nodes.Reset(key, span=self.span_from(start))

    def _unquoted(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Go past a setting without quotes, as clients take it."""
        if not self.for_clients:
            return None
        found = pattern.match(self.tokens.text, self.tokens.starts[self.position])
        if found is not None:
            while self.tokens.starts[self.position] < found.end():
                self.position += 1
        return found

    def _jar_statement(self) -> nodes.Statement:
        start = self.position
        verb = self.expect_any("ADD", "REMOVE")
        self.expect("JAR")
        path = self.string()
        span = self.span_from(start)
        return nodes.AddJar(path, span=span) if verb == "ADD" else nodes.RemoveJar(path, span=span)

    def _stop(self) -> nodes.Statement:
        start = self.position
        self.position += 1
        self.expect("JOB")
        job = self.string()
        savepoint = self.accept_all("WITH", "SAVEPOINT")
        drain = self.accept_all("WITH", "DRAIN")
        if drain and not savepoint:
            raise self.error_at("WITH DRAIN could only be used after WITH SAVEPOINT.", self.span_of(self.position - 2))
        return nodes.StopJob(job, savepoint, drain, span=self.span_from(start))


_STATEMENTS: Final = {
    "INSERT": "insert",
    "UPSERT": "insert",
    "UPDATE": "_update",
    "DELETE": "_delete",
    "MERGE": "_merge",
    "TRUNCATE": "_truncate",
    "CALL": "_call_procedure",
    "CREATE": "create",
    "DROP": "drop",
    "ALTER": "alter",
    "REPLACE": "_replace_table",
    "SHOW": "show",
    "DESCRIBE": "describe",
    "DESC": "describe",
    "EXPLAIN": "_explain",
    "EXECUTE": "_execute",
    "COMPILE": "_compile",
    "BEGIN": "_begin",
    "END": "_end",
    "ANALYZE": "_analyze",
    "USE": "_use",
    "LOAD": "_load",
    "UNLOAD": "_unload",
    "SET": "_set",
    "RESET": "_reset",
    "ADD": "_jar_statement",
    "REMOVE": "_jar_statement",
    "STOP": "_stop",
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
