"""Queries: WITH, set operations, ORDER BY and limits, SELECT, VALUES."""

from __future__ import annotations

from typing import Final

from scurry.sql.syntax import nodes
from scurry.sql.syntax.lexer import IDENTIFIER_KEYS, STRING
from scurry.sql.syntax.parser.contexts import Context
from scurry.sql.syntax.parser.windows import WindowParser
from scurry.sql.syntax.span import Span

_SET_OPERATORS: Final = {"UNION": 12, "EXCEPT": 12, "MINUS": 12, "INTERSECT": 14}


class QueryParser(WindowParser):
    """Parses queries; the contents of FROM are left to ``from_clause``."""

    def from_clause(self) -> nodes.TableExpression:
        """Parse the contents of FROM."""
        raise NotImplementedError

    def query(self) -> nodes.Query:
        """Parse a query, with ORDER BY and limits."""
        return self.as_query(self.query_or_expression(Context.QUERY))

    def as_query(self, value: nodes.Expression | nodes.Query) -> nodes.Query:
        """Return the query of an expression, for a position that takes only queries."""
        if isinstance(value, nodes.Subquery):
            return value.query
        if isinstance(value, nodes.Query):
            return value
        raise self.error_at_last("Non-query expression encountered in illegal context")

    def query_or_expression(self, context: Context) -> nodes.Expression | nodes.Query:
        """Parse a query, with ORDER BY and limits, or an expression.

        Args:
            context: Which of them may stand here.

        Returns:
            What was found; a query in parentheses is a ``Subquery``.
        """
        start = self.position
        return self.ordered(self._query_without_order(context), start)

    def _query_without_order(self, context: Context) -> nodes.Expression | nodes.Query:
        start = self.position
        if not self.at("WITH"):
            return self.set_operations(self.leaf_query_or_expression(context), context)
        self.position += 1
        recursive = self.accept("RECURSIVE")
        tables = self.comma_list(self._common_table)
        body = self.as_query(self.set_operations(self.leaf_query_or_expression(context), context))
        return nodes.With(tables, body, recursive, span=self.span_from(start))

    def _common_table(self) -> nodes.CommonTableExpression:
        start = self.position
        name = self.name()
        columns = self.names() if self.at("(") else ()
        self.expect("AS", "(")
        query = self.query()
        self.expect(")")
        return nodes.CommonTableExpression(name, query, columns, span=self.span_from(start))

    def set_operations(
        self, first: nodes.Expression | nodes.Query, context: Context, least: int = 0
    ) -> nodes.Expression | nodes.Query:
        """Parse UNION, EXCEPT and INTERSECT after their first operand, if there are some."""
        left = first
        while True:
            precedence = _SET_OPERATORS.get(self.keys[self.position], 0)
            if precedence <= least:
                return left
            if not isinstance(left, nodes.Query | nodes.Subquery):
                raise self.error_at_last("Non-query expression encountered in illegal context")
            operator = self.keys[self.position]
            self.position += 1
            if operator == "MINUS":
                raise self.error_at_last("MINUS is not allowed under the current SQL conformance level")
            every = self.accept_any("ALL", "DISTINCT") == "ALL"
            self._check_query(context)
            right = self.set_operations(self.leaf_query_or_expression(Context.QUERY), Context.QUERY, precedence)
            span = Span(self.tokens.text, left.span.start, right.span.end)
            left = nodes.SetOperation(operator, every, self.as_query(left), self.as_query(right), span=span)

    def _check_query(self, context: Context) -> None:
        if not context.takes_query:
            raise self.error_at_last("Query expression encountered in illegal context")

    def leaf_query_or_expression(self, context: Context) -> nodes.Expression | nodes.Query:
        """Parse SELECT, VALUES, TABLE or an expression."""
        key = self.keys[self.position]
        if key not in ("SELECT", "VALUES", "TABLE"):
            return self.expression(context)
        self._check_query(context)
        if key == "SELECT":
            return self.select()
        start = self.position
        self.position += 1
        if key == "TABLE":
            return nodes.ExplicitTable(self.compound_name(), span=self.span_from(start))
        rows = [self._values_row()]
        while self.another():
            rows.append(self._values_row())
        return nodes.Values(tuple(rows), span=self.span_from(start))

    def _values_row(self) -> nodes.RowConstructor:
        start = self.position
        if self.at_all("(", "ROW") and self.keys[start + 2] == "(":
            self.position += 1
            row = self._values_row()
            self.expect(")")
            return nodes.RowConstructor(row.values, span=self.span_from(start))
        explicit = self.at_all("ROW", "(")
        if explicit:
            self.position += 1
        if not self.at("("):
            value = self.expression(Context.NONCURSOR)
            return nodes.RowConstructor((value,), explicit=False, span=value.span)
        self.position += 1
        values = [self._values_item(Context.NONCURSOR)]
        while self.accept(","):
            values.append(self._values_item(Context.NONCURSOR))
        self.expect(")")
        return nodes.RowConstructor(tuple(values), explicit, span=self.span_from(start))

    def _values_item(self, context: Context) -> nodes.Expression:
        if self.accept("DEFAULT"):
            return nodes.Default(span=self.span_of(self.position - 1))
        value = self.query_or_expression(context)
        return nodes.Subquery(value, span=value.span) if isinstance(value, nodes.Query) else value

    def ordered(self, value: nodes.Expression | nodes.Query, start: int) -> nodes.Expression | nodes.Query:
        """Parse ORDER BY and limits after their query, if there are some."""
        items: tuple[nodes.OrderItem, ...] | None = None
        if self.at("ORDER"):
            if not isinstance(value, nodes.Query | nodes.Subquery):
                self.position += 1
                raise self.error_at_last("ORDER BY unexpected")
            items = self.order_by()
        offset, fetch = self._limits()
        if items is None and offset is None and fetch is None:
            return value
        return nodes.OrderBy(self.as_query(value), items or (), offset, fetch, span=self.span_from(start))

    def order_by(self) -> tuple[nodes.OrderItem, ...]:
        """Parse ORDER BY."""
        self.expect("ORDER", "BY")
        return self.order_items()

    def _limits(self) -> tuple[nodes.Expression | None, nodes.Expression | None]:
        """Parse LIMIT, OFFSET and FETCH, and return the number of rows to skip and to return."""
        offset = fetch = None
        limit = self.position
        if self.accept("LIMIT"):
            if not self.accept("ALL"):
                fetch = self._row_count()
                if self.accept(","):
                    self._row_count()
                    message = "'LIMIT start, count' is not allowed under the current SQL conformance level"
                    raise self.error_at(message, self.span_of(limit))
        limit = self.position
        if self.accept("OFFSET"):
            offset = self._row_count()
            self.accept_any("ROW", "ROWS")
            if self.at("LIMIT") and fetch is None:
                self.position += 1
                if not self.accept("ALL"):
                    self._row_count()
                message = "'OFFSET start LIMIT count' is not allowed under the current SQL conformance level"
                raise self.error_at(message, self.span_of(limit))
        if self.accept("FETCH"):
            self.expect_any("FIRST", "NEXT")
            fetch = self._row_count()
            self.expect_any("ROW", "ROWS")
            self.expect("ONLY")
        return offset, fetch

    def _row_count(self) -> nodes.Expression:
        if self.accept("?"):
            self.parameters += 1
            return nodes.DynamicParameter(self.parameters - 1, span=self.span_of(self.position - 1))
        return self.number()

    def select(self) -> nodes.Select:
        """Parse SELECT, up to QUALIFY."""
        start = self.position
        self.position += 1
        hints = self.hints()
        stream = self.accept("STREAM")
        quantifier = self.accept_any("ALL", "DISTINCT")
        items = self.comma_list(self._select_item)
        if not self.accept("FROM"):
            return nodes.Select(items, quantifier=quantifier, hints=hints, stream=stream, span=self.span_from(start))
        table = self.from_clause()
        where = self.expression() if self.accept("WHERE") else None
        group_by = self._group_by()
        having = self.expression() if self.accept("HAVING") else None
        windows = self.window_definitions()
        qualify = self.expression() if self.accept("QUALIFY") else None
        return nodes.Select(
            items,
            table,
            where,
            group_by,
            having,
            windows,
            qualify,
            quantifier,
            hints,
            stream,
            span=self.span_from(start),
        )

    def _select_item(self) -> nodes.SelectItem:
        start = self.position
        value = nodes.Star(span=self.span_of(start)) if self.accept("*") else self.expression()
        alias = self._column_alias()
        if alias is None:
            return nodes.SelectItem(value, span=value.span)
        return nodes.SelectItem(value, alias, span=self.span_from(start))

    def _column_alias(self) -> nodes.Identifier | None:
        explicit = self.accept("AS")
        if self.keys[self.position] == STRING:
            self.position += 1
            raise self.error_at_last("Expecting alias, found character literal")
        self.name_tried_at = self.position
        if explicit or self.keys[self.position] in IDENTIFIER_KEYS:
            return self.name()
        return None

    def _group_by(self) -> nodes.GroupBy | None:
        start = self.position
        if not self.accept("GROUP"):
            return None
        self.expect("BY")
        quantifier = self.accept_any("ALL", "DISTINCT")
        items = self._grouping_items()
        return nodes.GroupBy(items, quantifier, span=self.span_from(start))

    def _grouping_items(self) -> tuple[nodes.Expression, ...]:
        items = [self._grouping_item()]
        while self.at(",") and self._can_begin_grouping(self.position + 1):
            self.position += 1
            items.append(self._grouping_item())
        if self.at(","):
            self.looked_ahead_at = self.position
        return tuple(items)

    def _can_begin_grouping(self, position: int) -> bool:
        key = self.keys[position]
        return key in ("ROLLUP", "CUBE", "GROUPING", "(") or self.can_begin(position, 1)

    def _grouping_item(self) -> nodes.Expression:
        start = self.position
        if self.accept_all("GROUPING", "SETS"):
            self.expect("(")
            sets = self._grouping_items()
            self.expect(")")
            return nodes.GroupingSets("GROUPING SETS", sets, span=self.span_from(start))
        kind = self.accept_any("ROLLUP", "CUBE")
        if kind is not None:
            sets = self.parenthesized_list(self.expression)
            return nodes.GroupingSets(kind, sets, span=self.span_from(start))
        if self.accept_all("(", ")"):
            return nodes.RowConstructor((), explicit=False, span=self.span_from(start))
        return self.expression()
