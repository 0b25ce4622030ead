"""Table references of FROM."""

from __future__ import annotations

from typing import Final, NoReturn

from scurry.sql.syntax import nodes
from scurry.sql.syntax.lexer import IDENTIFIER_KEYS
from scurry.sql.syntax.parser.calls import standard
from scurry.sql.syntax.parser.contexts import Context
from scurry.sql.syntax.parser.patterns import PatternParser

_JOINS: Final = frozenset({"JOIN", "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "NATURAL", "OUTER"})
_CONTINUES_QUERY: Final = frozenset({"UNION", "INTERSECT", "EXCEPT", "MINUS", "ORDER", "LIMIT", "OFFSET", "FETCH"})


class TableParser(PatternParser):
    """Parses tables, joins and table functions.

    Attributes:
        join_at: Index of the keyword JOIN of the last join.
    """

    join_at = -1

    def from_clause(self) -> nodes.TableExpression:
        """Parse the contents of FROM."""
        table = self.joined_table()
        while self.at(",") and self._can_begin_table(self.position + 1):
            self.position += 1
            right = self.joined_table()
            table = nodes.Join("COMMA", table, right, span=table.span.to(right.span))
        if self.at(","):
            self.looked_ahead_at = self.position
        return table

    def joined_table(self) -> nodes.TableExpression:
        """Parse a table and the joins after it."""
        table = self.table()
        while self.keys[self.position] in _JOINS and self._at_join():
            table = self._join(table)
        return table

    def _at_join(self) -> bool:
        """Return whether a join begins here, which two tokens tell."""
        key, following = self.keys[self.position], self.keys[self.position + 1]
        if key == "NATURAL":
            found = following in _JOINS and following not in ("NATURAL", "OUTER")
        elif key == "JOIN":
            found = self._can_begin_table(self.position + 1)
        elif key in ("CROSS", "OUTER"):
            found = following == "APPLY" or key == "CROSS"
        else:
            after = self.keys[self.position + 2]
            found = following == "JOIN" or (following == "OUTER" and key != "INNER" and after == "JOIN")
        if not found:
            self.looked_ahead_at = self.position
        return found

    def _can_begin_table(self, position: int) -> bool:
        key = self.keys[position]
        return key in IDENTIFIER_KEYS or key in ("(", "LATERAL", "UNNEST", "TABLE")

    def _join(self, left: nodes.TableExpression) -> nodes.TableExpression:
        natural = self.accept("NATURAL")
        kind = self.keys[self.position]
        if self.keys[self.position + 1] == "APPLY":
            return self._apply()
        if kind == "JOIN":
            kind = "INNER"
        else:
            self.position += 1
            if kind in ("LEFT", "RIGHT", "FULL"):
                self.accept("OUTER")
        join_at = self.position
        self.expect("JOIN")
        right = self.table()
        condition = None
        using: tuple[nodes.Identifier, ...] = ()
        if self.accept("ON"):
            condition = self.expression()
        elif self.accept("USING"):
            using = self.names()
        self.join_at = join_at
        span = left.span.to(self.span_of(self.position - 1))
        return nodes.Join(kind, left, right, natural, condition, using, span=span)

    def _apply(self) -> nodes.TableExpression:
        self.position += 2
        self.table()
        raise self.error_at_last("APPLY operator is not allowed under the current SQL conformance level")

    def table(self) -> nodes.TableExpression:
        """Parse a table, a query in parentheses, or a table function, with its clauses."""
        start = self.position
        key = self.keys[start]
        following = self.keys[start + 1]
        if key in IDENTIFIER_KEYS and key not in ("LATERAL", "UNNEST"):
            table = self._named_table()
        elif (key == "(" and following != ")") or (key == "LATERAL" and following == "("):
            lateral = self.accept("LATERAL")
            table = self._parenthesized_table(lateral)
            table = self.match_recognize(table) if self.at("MATCH_RECOGNIZE") else table
        elif (key == "UNNEST" and following == "(") or (key == "LATERAL" and following == "UNNEST"):
            table = self._unnest()
        elif key == "TABLE" or key == "LATERAL":
            table = self._table_function()
        else:
            self.fail_at_table()
        if self.at("PIVOT") and following != "=":
            table = self.pivot(table)
        if self.at("UNPIVOT"):
            table = self.unpivot(table)
        table = self._aliased(table)
        if self.at("MATCH_RECOGNIZE") and isinstance(table, nodes.Alias) and not table.columns:
            table = self.match_recognize(table)
            table = self._aliased(table)
        return self._sampled(table) if self.at("TABLESAMPLE") else table

    def fail_at_table(self) -> NoReturn:
        """Say that no table begins here."""
        self.name_tried_at = self.position
        if self.keys[self.position] in ("(", "UNNEST"):
            self.looked_ahead_at = self.position
        self.fail()

    def _named_table(self) -> nodes.TableExpression:
        start = self.position
        name = self.compound_name()
        if self.at("("):
            return self._implicit_function(name, start)
        hints = self.hints()
        extend = self.extension()
        table: nodes.TableExpression = nodes.TableReference(name, hints, extend, span=self.span_from(start))
        if self.accept("FOR"):
            self.expect("SYSTEM_TIME", "AS", "OF")
            period = self.expression(Context.NON_QUERY)
            table = nodes.Snapshot(table, period, span=self.span_from(start))
        if self.at("MATCH_RECOGNIZE"):
            table = self.match_recognize(table)
        return table

    def extension(self) -> tuple[tuple[nodes.Identifier, nodes.TypeSpec], ...]:
        """Parse EXTEND, if it is there."""
        return self.parenthesized_list(self._extension_column) if self.accept("EXTEND") else ()

    def _extension_column(self) -> tuple[nodes.Identifier, nodes.TypeSpec]:
        return self.compound_name(), self.nullable_type()

    def _implicit_function(self, name: nodes.Identifier, start: int) -> nodes.TableExpression:
        quantifier, arguments, _ = self.arguments()
        span = self.span_from(start)
        call = nodes.Call(standard(name), arguments, quantifier, call_span=span, span=span)
        return nodes.TableFunction(call, hints=self.hints(), span=self.span_from(start))

    def _parenthesized_table(self, lateral: bool) -> nodes.TableExpression:
        start = self.position
        self.expect("(")
        self.join_at = -1
        if self.keys[self.position] in ("SELECT", "VALUES", "WITH") or self._at_explicit_table():
            query = self.query()
            self.expect(")")
            return nodes.DerivedTable(query, lateral, span=self.span_from(start))
        inner = self.position
        table = self.joined_table()
        if isinstance(table, nodes.DerivedTable) and self.keys[self.position] in _CONTINUES_QUERY:
            subquery = nodes.Subquery(table.query, span=table.span)
            value = self.ordered(self.set_operations(subquery, Context.QUERY), inner)
            table = nodes.DerivedTable(self.as_query(value))
        elif not isinstance(table, nodes.Join | nodes.DerivedTable):
            if not (self.at(")") or self.at_name() or self.at("AS")):
                self.fail()
            raise self.error_at("Expected query or join", self.span_of(inner))
        self.expect(")")
        if isinstance(table, nodes.DerivedTable):
            return nodes.DerivedTable(table.query, lateral, span=self.span_from(start))
        return nodes.replace(table, span=self.span_from(start))

    def _at_explicit_table(self) -> bool:
        return self.at("TABLE") and self.keys[self.position + 1] in IDENTIFIER_KEYS

    def _unnest(self) -> nodes.TableExpression:
        start = self.position
        lateral = self.accept("LATERAL")
        self.position += 1
        items = self.query_list(Context.SUB_QUERY)
        values = tuple(
            nodes.Subquery(item, span=item.span) if isinstance(item, nodes.Query) else item for item in items
        )
        ordinality = self.accept("WITH")
        if ordinality:
            self.expect("ORDINALITY")
        return nodes.Unnest(values, ordinality, lateral, span=self.span_from(start))

    def _table_function(self) -> nodes.TableExpression:
        start = self.position
        lateral = self.accept("LATERAL")
        self.expect("TABLE", "(")
        self.accept("SPECIFIC")
        inner = self.position
        name = self.function_name()
        quantifier, arguments, _ = self.arguments()
        span = self.span_from(inner)
        call = nodes.Call(name, arguments, quantifier, call_span=span, span=span)
        self.expect(")")
        hints = self.hints()
        return nodes.TableFunction(call, lateral, hints, span=self.span_from(start))

    def _aliased(self, table: nodes.TableExpression) -> nodes.TableExpression:
        explicit = self.accept("AS")
        self.name_tried_at = self.position
        if not explicit and self.keys[self.position] not in IDENTIFIER_KEYS:
            return table
        name = self.name()
        columns = self.names() if self.at("(") else ()
        if isinstance(table, nodes.Join):
            raise self.error_at("Join expression encountered in illegal context", self.span_of(self.join_at))
        return nodes.Alias(table, name, columns, span=table.span.to(self.span_of(self.position - 1)))

    def _sampled(self, table: nodes.TableExpression) -> nodes.TableExpression:
        self.position += 1
        method = self.expect_any("SUBSTITUTE", "BERNOULLI", "SYSTEM")
        self.expect("(")
        argument: nodes.Expression
        repeatable = None
        if method == "SUBSTITUTE":
            argument = self.string_literal()
            assert isinstance(argument, nodes.StringLiteral)
            self.expect(")")
        else:
            argument = self.number()
            self.expect(")")
            if self.accept("REPEATABLE"):
                self.expect("(")
                repeatable = self.signed_number()
                self.expect(")")
            if argument.value > 100:
                raise self.error_at_last("TABLESAMPLE percentage must be between 0 and 100, inclusive")
        span = table.span.to(self.span_of(self.position - 1))
        return nodes.TableSample(table, method, argument, repeatable, span=span)
