"""Expressions without operators: names, calls, constructors and parentheses."""

from __future__ import annotations

from typing import Final

from scurry.sql.syntax import nodes
from scurry.sql.syntax.keywords import CONTEXT_VARIABLES, RESERVED_FUNCTION_NAMES, STANDARD_FUNCTIONS
from scurry.sql.syntax.lexer import END, IDENTIFIER_KEYS
from scurry.sql.syntax.parser.arguments import NOTHING, ArgumentParser
from scurry.sql.syntax.parser.contexts import Context

_UNITS_OF_DIFFERENCES: Final = frozenset(
    "YEAR YEARS MONTH MONTHS DAY DAYS HOUR HOURS MINUTE MINUTES SECOND SECONDS QUARTER QUARTERS WEEK WEEKS".split()
)

# Group windows as Calcite writes them.
_GROUP_WINDOWS: Final = {"$TUMBLE": "TUMBLE", "$HOP": "HOP", "$SESSION": "SESSION"}


class CallParser(ArgumentParser):
    """Parses expressions without operators, except functions with a syntax of their own."""

    def leaf_query_or_expression(self, context: Context) -> nodes.Expression | nodes.Query:
        """Parse SELECT, VALUES, TABLE or an expression."""
        raise NotImplementedError

    def special(self, key: str) -> nodes.Expression | None:
        """Parse an expression that begins with a keyword of its own, if there is one for this keyword."""
        raise NotImplementedError

    def primary(self, context: Context) -> nodes.Expression:
        """Parse an expression without operators.

        Args:
            context: Whether a query may stand here as well.
        """
        key = self.keys[self.position]
        if key == "(":
            return self._parenthesized(context)
        if key == "ROW" and self.keys[self.position + 1] == "(":
            return self._row(context)
        if key == "CURSOR":
            return self._cursor(context)
        value = self._atom(key)
        self._check_value(context)
        return value

    def _atom(self, key: str) -> nodes.Expression:
        if key in IDENTIFIER_KEYS:
            if key == "MAP" and self._at_map():
                return self._collection(key)
            found = self.special(key)
            return self._name_or_call() if found is None else found
        if self.at_literal() and key not in ("+", "-", "INTERVAL"):
            return self.literal()
        if key == "INTERVAL":
            if self.keys[self.position + 1] == END:
                self.looked_ahead_at = self.position
                self.fail()
            return self.interval()
        if key == "?":
            self.position += 1
            self.parameters += 1
            return nodes.DynamicParameter(self.parameters - 1, span=self.span_of(self.position - 1))
        found = self.special(key)
        if found is not None:
            return found
        if key in ("ARRAY", "MAP", "MULTISET"):
            return self._collection(key)
        following = self.keys[self.position + 1]
        if (key in RESERVED_FUNCTION_NAMES and following == "(") or key == "SPECIFIC":
            return self.call()
        if key == "ROW":
            self.position += 1
            self.expect("(")
        if key in CONTEXT_VARIABLES:
            self.position += 1
            return nodes.ContextVariable(key, span=self.span_of(self.position - 1))
        if key in ("NEXT", "CURRENT") and following == "VALUE":
            return self._sequence_value(key)
        if key == "NEW":
            return self._new()
        if key == "{FN":
            return self._jdbc_function()
        self.name_tried_at = self.position
        self.fail()

    def _at_map(self) -> bool:
        """Return whether MAP begins a constructor; elsewhere it is a name."""
        following = self.keys[self.position + 1]
        return following == "[" or (following == "(" and self.keys[self.position + 2] in ("SELECT", "VALUES", "WITH"))

    def _name_or_call(self) -> nodes.Expression:
        start = self.position
        name = self.compound_name()
        keys = self.keys
        key = keys[self.position]
        if key == "(":
            return self._call_of(standard(name), start)
        if key == "." and keys[self.position + 1] == "*":
            self.position += 2
            return nodes.Star(name, span=self.span_from(start))
        return name

    def function_name(self) -> nodes.Identifier:
        """Parse the name of a function, which may be a reserved word."""
        key = self.keys[self.position]
        if key in RESERVED_FUNCTION_NAMES:
            self.position += 1
            span = self.span_of(self.position - 1)
            name = key if key in STANDARD_FUNCTIONS else span.source
            return nodes.Identifier((name,), quoted=(False,), part_spans=(span,), span=span)
        return standard(self.compound_name())

    def call(self) -> nodes.Call:
        """Parse a call."""
        start = self.position
        self.accept("SPECIFIC")
        return self._call_of(self.function_name(), start)

    def call_arguments_after(self, start: int) -> nodes.Expression:
        """Parse a name or a call after a dot."""
        name = self.name()
        if not self.at("("):
            return name
        quantifier, arguments, order_by = self.arguments()
        span = self.span_from(start)
        return nodes.Call(name, arguments, quantifier, order_by, call_span=span, span=span)

    def _call_of(self, name: nodes.Identifier, start: int) -> nodes.Call:
        quantifier, arguments, order_by = self.arguments()
        call_span = self.span_from(start)
        after = self.after_call()
        return nodes.Call(
            name,
            arguments,
            quantifier,
            order_by,
            null_treatment=after.null_treatment,
            within_distinct=after.within_distinct,
            within_group=after.within_group,
            filter=after.filter,
            over=after.over,
            call_span=call_span,
            span=call_span if after is NOTHING else self.span_from(start),
        )

    def _parenthesized(self, context: Context) -> nodes.Expression:
        start = self.position
        items = self.query_list(context)
        if self.keys[self.position] in _UNITS_OF_DIFFERENCES:
            return self._difference(items, start)
        span = self.span_from(start)
        if len(items) > 1:
            values = tuple(
                nodes.Subquery(item, span=item.span) if isinstance(item, nodes.Query) else item for item in items
            )
            return nodes.RowConstructor(values, explicit=False, span=span)
        item = items[0]
        if isinstance(item, nodes.Query):
            return nodes.Subquery(item, span=span)
        return nodes.replace(item, span=span)

    def _difference(self, items: tuple[nodes.Expression | nodes.Query, ...], start: int) -> nodes.Expression:
        list_span = self.span_from(start)
        unit = self.interval_qualifier()
        item = items[0]
        if len(items) == 1 and isinstance(item, nodes.BinaryOperation) and item.operator == "-":
            return nodes.MinusDate(item.left, item.right, unit, span=self.span_from(start))
        message = 'Illegal expression. Was expecting "(DATETIME - DATETIME) INTERVALQUALIFIER"'
        raise self.error_at(message, list_span)

    def query_list(self, context: Context) -> tuple[nodes.Expression | nodes.Query, ...]:
        """Parse a query or expressions, in parentheses."""
        self.expect("(")
        items = [self.query_or_expression(context.in_parentheses())]
        while self.accept(","):
            self._check_value(context)
            items.append(self.expression(context))
        self.expect(")")
        return tuple(items)

    def _row(self, context: Context) -> nodes.Expression:
        start = self.position
        self.position += 1
        items = self.query_list(context)
        values = tuple(
            nodes.Subquery(item, span=item.span) if isinstance(item, nodes.Query) else item for item in items
        )
        return nodes.RowConstructor(values, span=self.span_from(start))

    def _cursor(self, context: Context) -> nodes.Expression:
        start = self.position
        self.position += 1
        if context not in (Context.ALL, Context.CURSOR):
            raise self.error_at_last("CURSOR expression encountered in illegal context")
        value = self.expression(Context.QUERY)
        assert isinstance(value, nodes.Subquery)
        return nodes.CollectionFromQuery("CURSOR", value.query, span=self.span_from(start))

    def _collection(self, key: str) -> nodes.Expression:
        start = self.position
        self.position += 1
        if self.accept("("):
            value = self.leaf_query_or_expression(Context.QUERY)
            self.expect(")")
            query = value.query if isinstance(value, nodes.Subquery) else value
            assert isinstance(query, nodes.Query)
            return nodes.CollectionFromQuery(key, query, span=self.span_from(start))
        self.expect("[")
        values: tuple[nodes.Expression, ...] = ()
        if key == "MULTISET":
            values = self.comma_list(lambda: self.expression(Context.NON_QUERY))
        elif not self.at("]"):
            values = self.expressions(Context.NON_QUERY)
        self.expect("]")
        span = self.span_from(start)
        if key == "ARRAY":
            return nodes.ArrayConstructor(values, span=span)
        return nodes.MapConstructor(values, span=span) if key == "MAP" else nodes.MultisetConstructor(values, span=span)

    def _sequence_value(self, key: str) -> nodes.Expression:
        start = self.position
        self.position += 2
        self.expect("FOR")
        return nodes.NextValue(self.compound_name(), key == "CURRENT", span=self.span_from(start))

    def _new(self) -> nodes.Expression:
        start = self.position
        self.position += 1
        return nodes.NewObject(self.call(), span=self.span_from(start))

    def _jdbc_function(self) -> nodes.Expression:
        start = self.position
        self.position += 1
        name = self.image(self.position)
        self.position += 1
        _, arguments, _ = self.arguments()
        self.expect("}")
        return nodes.JdbcFunction(name, arguments, span=self.span_from(start))


def standard(name: nodes.Identifier) -> nodes.Identifier:
    """Return the name of a function: in upper case, if it is a standard function's and not quoted."""
    if len(name.names) > 1 or name.quoted[0]:
        return name
    upper = name.names[0].upper()
    upper = _GROUP_WINDOWS.get(upper, upper)
    return nodes.replace(name, names=(upper,)) if upper in STANDARD_FUNCTIONS else name
