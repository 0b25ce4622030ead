"""Operators between, before and after expressions, by their precedence in Calcite."""

from __future__ import annotations

from typing import Final

from scurry.errors import SqlParserError
from scurry.sql.syntax import nodes
from scurry.sql.syntax.keywords import CONTEXT_VARIABLES, RESERVED_FUNCTION_NAMES
from scurry.sql.syntax.lexer import END, IDENTIFIER_KEYS
from scurry.sql.syntax.parser.contexts import Context
from scurry.sql.syntax.parser.literals import NUMBERS, STRINGS, LiteralParser
from scurry.sql.syntax.span import Span

# Strengths with which operators bind, as Calcite numbers them.
OR, AND, NOT, POSTFIX, COMPARISON, MEMBERSHIP = 22, 24, 26, 28, 30, 32
ADDITION, MULTIPLICATION, SIGN, ACCESS = 40, 60, 80, 100

_BINARY: Final = {
    "OR": OR,
    "AND": AND,
    **dict.fromkeys("= <> != < > <= >=".split(), COMPARISON),
    **dict.fromkeys("OVERLAPS CONTAINS EQUALS PRECEDES SUCCEEDS".split(), COMPARISON),
    **dict.fromkeys("+ -".split(), ADDITION),
    **dict.fromkeys("* / % ||".split(), MULTIPLICATION),
}
_COMPARISONS: Final = frozenset({"=", "<>", "!=", "<", ">", "<=", ">="})
# Keywords that continue an expression: the operators above, and those of several words.
_CONTINUES: Final = frozenset(_BINARY) | frozenset(
    "NOT IN BETWEEN LIKE ILIKE RLIKE SIMILAR IS MEMBER SUBMULTISET IMMEDIATELY MULTISET [ FORMAT".split()
)
_MULTISET: Final = {"UNION": 12, "INTERSECT": 14, "EXCEPT": 12}
_LIKE: Final = frozenset({"LIKE", "ILIKE", "RLIKE", "SIMILAR"})
_TESTS: Final = frozenset({"NULL", "TRUE", "FALSE", "UNKNOWN", "EMPTY", "A", "JSON"})

_PREFIXES: Final = frozenset({"+", "-", "NOT", "EXISTS", "UNIQUE"})
# Functions with a syntax of their own: an expression begins with them where a parenthesis follows.
SPECIAL_FUNCTIONS: Final = frozenset(
    """CAST TRY_CAST SAFE_CAST EXTRACT POSITION CONVERT TRANSLATE OVERLAY FLOOR CEIL CEILING SUBSTRING TRIM TIMESTAMPADD
    TIMESTAMPDIFF DATE_TRUNC TIMESTAMP_TRUNC DATETIME_TRUNC TIME_TRUNC DATE_DIFF DATETIME_DIFF TIMESTAMP_DIFF TIME_DIFF
    CLASSIFIER MATCH_NUMBER FIRST LAST PREV NEXT JSON_EXISTS JSON_VALUE JSON_QUERY JSON_OBJECT JSON_OBJECTAGG JSON_ARRAY
    JSON_ARRAYAGG TUMBLE HOP SESSION PERIOD ROW DATE TIME TIMESTAMP DATETIME IF ARRAY_AGG""".split()
)
_BEGINS: Final = frozenset({*IDENTIFIER_KEYS, *NUMBERS, *STRINGS, *CONTEXT_VARIABLES}) | frozenset(
    "( ? TRUE FALSE UNKNOWN NULL INTERVAL CASE NEW RUNNING FINAL SPECIFIC {FN {D {T {TS CURSOR".split()
)
_QUERY_BEGINS: Final = frozenset({"SELECT", "VALUES", "WITH", "TABLE"})


class OperatorParser(LiteralParser):
    """Parses operators; their operands are left to ``primary``."""

    def primary(self, context: Context) -> nodes.Expression:
        """Parse an expression without operators."""
        raise NotImplementedError

    def query_list(self, context: Context) -> tuple[nodes.Expression | nodes.Query, ...]:
        """Parse a query or expressions, in parentheses."""
        raise NotImplementedError

    def call_arguments_after(self, start: int) -> nodes.Expression:
        """Parse the member after a dot: a name or a call."""
        raise NotImplementedError

    def expression(self, context: Context = Context.SUB_QUERY) -> nodes.Expression:
        """Parse an expression.

        Args:
            context: Whether a query may stand here as well.

        Returns:
            The expression; a query in parentheses is a ``Subquery``.
        """
        return self._binary(context, 0)

    def can_begin(self, position: int, depth: int = 2) -> bool:
        """Return whether an expression can begin with the tokens at a position, of which a few are looked at."""
        key = self.keys[position]
        if key in _PREFIXES:
            return depth < 2 or self.can_begin(position + 1, depth - 1)
        if key == "(":
            return depth < 2 or self.keys[position + 1] in _QUERY_BEGINS or self.can_begin(position + 1, depth - 1)
        if key in _BEGINS:
            return True
        following = self.keys[position + 1]
        if key in RESERVED_FUNCTION_NAMES or key in SPECIAL_FUNCTIONS:
            is_typed = following in STRINGS and key in ("DATE", "TIME", "TIMESTAMP")
            return following == "(" or is_typed or self.at_zoned_literal(position)
        if key in ("ARRAY", "MAP", "MULTISET"):
            return following in ("[", "(")
        if key in ("CURRENT", "NEXT"):
            return following == "VALUE"
        return False

    def _binary(self, context: Context, least: int) -> nodes.Expression:
        left = self._prefixed(context)
        keys = self.keys
        while True:
            key = keys[self.position]
            if key not in _CONTINUES:
                return left
            precedence = _BINARY.get(key)
            if precedence is None or keys[self.position + 1] in ("SOME", "ANY", "ALL"):
                following = self._worded(left, key, context, least)
                if following is None:
                    return left
                left = following
                continue
            if precedence <= least:
                return left
            if not self.can_begin(self.position + 1):
                self.looked_ahead_at = self.position
                return left
            self.position += 1
            self._check_value(context)
            if key == "!=":
                raise self.error_at_last("Bang equal '!=' is not allowed under the current SQL conformance level")
            right = self._binary(Context.SUB_QUERY, precedence)
            left = nodes.BinaryOperation(key, left, right, span=self._span_over(left, right))

    def another(self) -> bool:
        """Go past a comma, if an expression follows it."""
        if not self.at(","):
            return False
        if not self.can_begin(self.position + 1, 1):
            self.looked_ahead_at = self.position
            return False
        self.position += 1
        return True

    def _span_over(self, left: nodes.Expression, right: nodes.Expression) -> Span:
        return Span(self.tokens.text, left.span.start, right.span.end)

    def _span_to_here(self, left: nodes.Expression) -> Span:
        return Span(self.tokens.text, left.span.start, self.tokens.ends[self.position - 1])

    def _check_value(self, context: Context) -> None:
        """Refuse other expressions where only a query may stand."""
        if context is Context.QUERY:
            raise self.error_at_last("Non-query expression encountered in illegal context")

    def _prefixed(self, context: Context) -> nodes.Expression:
        start = self.position
        key = self.keys[start]
        if key not in _PREFIXES:
            return self._accessed(self.primary(context), start)
        self.position += 1
        self._check_value(context)
        if key == "NOT":
            return nodes.UnaryOperation("NOT", self._binary(context, NOT), span=self.span_from(start))
        if key in ("+", "-"):
            operand = self._binary(context, SIGN)
            return self._signed(key, operand, start)
        operand = self._binary(context, ADDITION)
        span = self.span_from(start)
        if not isinstance(operand, nodes.Subquery):
            return nodes.UnaryOperation(key, operand, span=span)
        return nodes.Exists(operand.query, span=span) if key == "EXISTS" else nodes.Unique(operand.query, span=span)

    def _signed(self, sign: str, operand: nodes.Expression, start: int) -> nodes.Expression:
        span = Span(self.tokens.text, self.tokens.starts[start], operand.span.end)
        if not isinstance(operand, nodes.NumericLiteral):
            return nodes.UnaryOperation(sign, operand, span=span)
        text = operand.text
        if sign == "-":
            text = text[1:] if text.startswith("-") else f"-{text}"
        return nodes.NumericLiteral(text, span=span)

    def _accessed(self, operand: nodes.Expression, start: int) -> nodes.Expression:
        keys = self.keys
        while keys[self.position] == "." and keys[self.position + 1] in IDENTIFIER_KEYS:
            self.position += 1
            member = self.call_arguments_after(self.position)
            operand = nodes.FieldAccess(operand, member, span=self.span_from(start))
        return operand

    def _worded(self, left: nodes.Expression, key: str, context: Context, least: int) -> nodes.Expression | None:
        """Parse an operator of words, or one with a syntax of its own, after its left operand.

        Returns:
            The operation; None if what follows is no operator that binds tightly enough.
        """
        if key == "[":
            return self._item(left)
        if key == "FORMAT":
            if not self.at_all("FORMAT", "JSON"):
                return None
            self.position += 2
            return nodes.UnaryOperation("FORMAT JSON", left, span=self._span_to_here(left))
        if key == "IS":
            return self._is(left, context, least)
        if key in _COMPARISONS:
            return self._quantified(left, key, context, least)
        negated = key == "NOT"
        word = self.keys[self.position + 1] if negated else key
        if word == "IN":
            return self._in(left, negated, context, least)
        if word == "BETWEEN":
            return self._between(left, negated, context, least)
        if word in _LIKE:
            return self._like(left, negated, word, context, least)
        return self._collection_operation(left, negated, word, context, least)

    def _item(self, left: nodes.Expression) -> nodes.Expression:
        self.position += 1
        index = self.expression()
        self.expect("]")
        item: nodes.Expression = nodes.ItemAccess(left, index, span=self._span_to_here(left))
        while self.keys[self.position] == "." and self.keys[self.position + 1] in IDENTIFIER_KEYS:
            self.position += 1
            item = nodes.FieldAccess(item, self.name(), span=self._span_to_here(left))
        return item

    def _is(self, left: nodes.Expression, context: Context, least: int) -> nodes.Expression | None:
        negated = self.keys[self.position + 1] == "NOT"
        after = self.position + (2 if negated else 1)
        test = self.keys[after]
        if test == "DISTINCT":
            if least >= COMPARISON:
                return None
            self._check_value(context)
            self.position = after + 1
            self.expect("FROM")
            right = self._binary(Context.SUB_QUERY, COMPARISON)
            operator = "IS NOT DISTINCT FROM" if negated else "IS DISTINCT FROM"
            return nodes.BinaryOperation(operator, left, right, span=self._span_over(left, right))
        if test not in _TESTS:
            if least >= POSTFIX or self.keys[self.position + 1] != "NOT":
                self.looked_ahead_at = self.position
                return None
            self.position = after
            self.fail()
        if least >= POSTFIX:
            return None
        self._check_value(context)
        self.position = after + 1
        if test == "A":
            self.expect("SET")
            test = "A SET"
        elif test == "JSON":
            test = f"JSON {self.accept_any('VALUE', 'OBJECT', 'ARRAY', 'SCALAR') or 'VALUE'}"
        return nodes.IsTest(left, test, negated, span=self._span_to_here(left))

    def _quantified(self, left: nodes.Expression, key: str, context: Context, least: int) -> nodes.Expression | None:
        if least >= MEMBERSHIP or self.keys[self.position + 2] != "(":
            return None
        self._check_value(context)
        self.position += 1
        if key == "!=":
            raise self.error_at_last("Bang equal '!=' is not allowed under the current SQL conformance level")
        quantifier = "ALL" if self.expect_any("SOME", "ANY", "ALL") == "ALL" else "SOME"
        return nodes.QuantifiedComparison(left, key, quantifier, self._list_or_query(), span=self._span_to_here(left))

    def _list_or_query(self) -> tuple[nodes.Expression, ...] | nodes.Query:
        items = self.query_list(Context.NONCURSOR)
        if len(items) == 1:
            item = items[0]
            if isinstance(item, nodes.Query):
                return item
            if isinstance(item, nodes.Subquery):
                return item.query
        return tuple(nodes.Subquery(item, span=item.span) if isinstance(item, nodes.Query) else item for item in items)

    def _in(self, left: nodes.Expression, negated: bool, context: Context, least: int) -> nodes.Expression | None:
        if least >= MEMBERSHIP:
            return None
        if not negated and self.keys[self.position + 1] != "(":
            self.looked_ahead_at = self.position
            return None
        self._check_value(context)
        self.position += 1 + negated
        return nodes.In(left, self._list_or_query(), negated, span=self._span_to_here(left))

    def _between(self, left: nodes.Expression, negated: bool, context: Context, least: int) -> nodes.Expression | None:
        if least >= MEMBERSHIP:
            return None
        if not negated and self.keys[self.position + 1] == END:
            self.looked_ahead_at = self.position
            return None
        self._check_value(context)
        self.position += 1 + negated
        symmetric = self.accept_any("SYMMETRIC", "ASYMMETRIC") == "SYMMETRIC"
        low = self._low_bound()
        high = self._binary(Context.SUB_QUERY, MEMBERSHIP)
        return nodes.Between(left, low, high, negated, symmetric, span=self._span_over(left, high))

    def _low_bound(self) -> nodes.Expression:
        """Parse the low bound of BETWEEN and AND after it; unlike the high one, it may be a disjunction."""
        low = self._binary(Context.SUB_QUERY, AND)
        while self.at("OR") and self.can_begin(self.position + 1):
            self.position += 1
            right = self._binary(Context.SUB_QUERY, AND)
            low = nodes.BinaryOperation("OR", low, right, span=self._span_over(low, right))
        if not (self.at("AND") and self.can_begin(self.position + 1)):
            after = Span(self.tokens.text, low.span.end - 1, low.span.end)
            error = self.error_at("BETWEEN operator has no terminating AND", after)
            raise SqlParserError(str(error), error.line, error.column + 1)
        self.position += 1
        return low

    def _like(
        self, left: nodes.Expression, negated: bool, word: str, context: Context, least: int
    ) -> nodes.Expression | None:
        after = self.position + 1 + negated
        if least > MEMBERSHIP:
            return None
        if word == "LIKE" and not negated and self.keys[after] in ("ANY", "ALL"):
            self.name_tried_at = self.position
            return None
        operator = word
        if word == "SIMILAR":
            operator = "SIMILAR TO"
            after += 1
        if not negated and word != "SIMILAR" and not self.can_begin(after, 1):
            self.looked_ahead_at = self.position
            return None
        self._check_value(context)
        self.position = after - (word == "SIMILAR")
        if word == "SIMILAR":
            self.expect("TO")
        # Unlike other operators, LIKE takes further ones of its kind to its right.
        pattern = self._binary(Context.SUB_QUERY, MEMBERSHIP - 1)
        escape = None
        if self.at("ESCAPE") and self.can_begin(self.position + 1, 1):
            self.position += 1
            escape = self.primary(Context.SUB_QUERY)
        return nodes.Like(left, pattern, escape, operator, negated, span=self._span_over(left, escape or pattern))

    def _collection_operation(
        self, left: nodes.Expression, negated: bool, word: str, context: Context, least: int
    ) -> nodes.Expression | None:
        precedence, words, operator = self._collection_operator(negated, word)
        if not words or precedence <= least or not self.can_begin(self.position + words, 1):
            if precedence > least:
                self.looked_ahead_at = self.position
            return None
        self.position += words
        self._check_value(context)
        right = self._binary(Context.SUB_QUERY, precedence)
        return nodes.BinaryOperation(operator, left, right, span=self._span_over(left, right))

    def _collection_operator(self, negated: bool, word: str) -> tuple[int, int, str]:
        """Return precedence, number of tokens and name of an operator on collections or periods."""
        position = self.position + 1 + negated
        following = self.keys[position]
        if word in ("MEMBER", "SUBMULTISET") and following == "OF" and not (negated and word == "MEMBER"):
            return COMPARISON, 2 + negated, f"{'NOT ' if negated else ''}{word} OF"
        if word == "IMMEDIATELY" and following in ("PRECEDES", "SUCCEEDS") and not negated:
            return COMPARISON, 2, f"IMMEDIATELY {following}"
        if word == "MULTISET" and following in _MULTISET and not negated:
            quantifier = self.keys[position + 1]
            distinct = " DISTINCT" if quantifier == "DISTINCT" else " ALL"
            words = 3 if quantifier in ("ALL", "DISTINCT") else 2
            return _MULTISET[following], words, f"MULTISET {following}{distinct}"
        return COMPARISON, 0, ""
