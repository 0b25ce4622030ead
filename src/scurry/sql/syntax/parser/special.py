"""Functions whose arguments are separated by keywords."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from scurry.sql.syntax import nodes
from scurry.sql.syntax.keywords import STANDARD_FUNCTIONS
from scurry.sql.syntax.lexer import IDENTIFIER_KEYS
from scurry.sql.syntax.parser.calls import CallParser
from scurry.sql.syntax.parser.contexts import Context

_UNITS: Final = frozenset(
    """NANOSECOND MICROSECOND MILLISECOND SECOND MINUTE HOUR DAY DOW DOY ISODOW ISOYEAR WEEK MONTH QUARTER YEAR EPOCH
    DECADE CENTURY MILLENNIUM""".split()
)


class SpecialFunctionParser(CallParser):
    """Parses CASE, CAST and other functions with a syntax of their own."""

    def json_function(self, key: str) -> nodes.Expression:
        """Parse a JSON function."""
        raise NotImplementedError

    def special(self, key: str) -> nodes.Expression | None:
        """Parse an expression that begins with a keyword of its own, if there is one for this keyword."""
        if key == "CASE":
            return self._case()
        if key == "RUNNING" and self.keys[self.position + 1] != "." or key == "FINAL" and self._at_call():
            return self._running(key)
        parse = _PARSERS.get(key)
        if parse is None or self.keys[self.position + 1] != "(":
            return None
        return parse(self)

    def _open(self) -> int:
        """Go past the name and the parenthesis of a function, and return where the name is."""
        self.position += 2
        return self.position - 2

    def _case(self) -> nodes.Expression:
        start = self.position
        self.position += 1
        operand = None if self.at("WHEN") else self.expression()
        branches = []
        while self.accept("WHEN"):
            branches.append(self._when(operand, self.position - 1))
        if not branches:
            self.fail()
        default: nodes.Expression = nodes.NullLiteral()
        if self.accept("ELSE"):
            default = self.expression()
        self.expect("END")
        return nodes.Case(tuple(branches), default, span=self.span_from(start))

    def _when(self, operand: nodes.Expression | None, start: int) -> nodes.WhenClause:
        conditions = [self.expression()]
        while self.another():
            conditions.append(self.expression())
        span = self.span_from(start + 1)
        condition = conditions[0]
        if operand is not None and len(conditions) > 1:
            condition = nodes.In(operand, tuple(conditions), span=span)
        elif operand is not None:
            condition = nodes.BinaryOperation("=", operand, condition, span=span)
        elif len(conditions) > 1:
            condition = nodes.RowConstructor(tuple(conditions), explicit=False, span=span)
        self.expect("THEN")
        return nodes.WhenClause(condition, self.expression(), span=self.span_from(start))

    def _at_call(self) -> bool:
        """Return whether an operand follows the current token: otherwise FINAL, which is not reserved, is a name."""
        following, after = self.keys[self.position + 1 : self.position + 3]
        if following in ("FINAL", "RUNNING"):
            return True
        return (following.isidentifier() and after == "(") or (following in IDENTIFIER_KEYS and after == ".")

    def _running(self, key: str) -> nodes.Expression:
        start = self.position
        self.position += 1
        following = self.keys[self.position]
        after = self.keys[self.position + 1]
        if following in ("FINAL", "RUNNING"):
            operand = self._running(following)
        elif following in IDENTIFIER_KEYS and after != "(":
            operand = self.compound_name()
        else:
            operand = self._navigation() if following in ("FIRST", "LAST") else self.call()
        return nodes.UnaryOperation(key, operand, span=self.span_from(start))

    def _cast(self) -> nodes.Expression:
        start = self._open()
        operand = self.expression()
        self.expect("AS")
        target: nodes.TypeSpec
        if self.at("INTERVAL"):
            self.position += 1
            unit = self.interval_qualifier()
            target = nodes.IntervalTypeSpec(unit, span=unit.span)
        else:
            target = self.data_type()
        self.expect(")")
        return nodes.Cast(operand, target, self.keys[start], span=self.span_from(start))

    def _unit(self) -> nodes.IntervalQualifier:
        """Parse a unit, or the name of a time frame."""
        position = self.position
        key = self.keys[position]
        if key in _UNITS:
            self.position += 1
            return nodes.IntervalQualifier(key, span=self.span_of(position))
        name = self.name()
        return nodes.IntervalQualifier(name.last, named=True, span=name.span)

    def _extract(self) -> nodes.Expression:
        start = self._open()
        unit = self._unit()
        self.expect("FROM")
        operand = self.expression()
        self.expect(")")
        return nodes.Extract(unit, operand, span=self.span_from(start))

    def _position(self) -> nodes.Expression:
        start = self._open()
        substring = self._atom(self.keys[self.position])
        self.expect("IN")
        operand = self.expression()
        from_ = self.expression() if self.accept("FROM") else None
        self.expect(")")
        return nodes.Position(substring, operand, from_, span=self.span_from(start))

    def _convert(self) -> nodes.Expression:
        start = self._open()
        operand = self.expression()
        self.expect("USING")
        charset = self.name()
        self.expect(")")
        return nodes.Convert(operand, charset, span=self.span_from(start))

    def _translate(self) -> nodes.Expression:
        start = self._open()
        operand = self.expression()
        if self.accept("USING"):
            charset = self.name()
            self.expect(")")
            return nodes.Translate(operand, charset, span=self.span_from(start))
        arguments = [operand]
        while self.accept(","):
            arguments.append(self.expression())
        self.expect(")")
        return self._plain_call(start, tuple(arguments))

    def _plain_call(self, start: int, arguments: tuple[nodes.Expression, ...], name: str = "") -> nodes.Call:
        span = self.span_of(start)
        written = name or self.image(start)
        written = written.upper() if written.upper() in STANDARD_FUNCTIONS else written
        identifier = nodes.Identifier((written,), quoted=(False,), part_spans=(span,), span=span)
        return nodes.Call(identifier, arguments, call_span=self.span_from(start), span=self.span_from(start))

    def _overlay(self) -> nodes.Expression:
        start = self._open()
        operand = self.expression()
        self.expect("PLACING")
        replacement = self.expression()
        self.expect("FROM")
        from_ = self.expression()
        length = self.expression() if self.accept("FOR") else None
        self.expect(")")
        return nodes.Overlay(operand, replacement, from_, length, span=self.span_from(start))

    def _substring(self) -> nodes.Expression:
        start = self._open()
        operand = self.expression()
        self.expect_any("FROM", ",")
        from_ = self.expression()
        length = self.expression() if self.accept_any("FOR", ",") else None
        self.expect(")")
        return nodes.Substring(operand, from_, length, span=self.span_from(start))

    def _trim(self) -> nodes.Expression:
        start = self._open()
        side = self.accept_any("BOTH", "LEADING", "TRAILING")
        characters: nodes.Expression = nodes.StringLiteral(" ")
        if side is not None and self.accept("FROM"):
            operand = self.expression()
        else:
            if self.at("FROM"):
                self.fail()
            operand = self.expression()
            if self.accept("FROM"):
                characters, operand = operand, self.expression()
        self.expect(")")
        return nodes.Trim(side or "BOTH", characters, operand, span=self.span_from(start))

    def _floor(self) -> nodes.Expression:
        start = self._open()
        floor = self.keys[start] == "FLOOR"
        arguments = [self.expression()]
        if self.accept("TO"):
            unit = self._unit()
            self.expect(")")
            call_span = self.span_from(start)
            over = self.over()
            make = nodes.Floor if floor else nodes.Ceil
            return make(arguments[0], unit, over=over, call_span=call_span, span=self.span_from(start))
        if self.accept(","):
            arguments.append(self.expression())
        self.expect(")")
        call = self._plain_call(start, tuple(arguments), "FLOOR" if floor else "CEIL")
        over = self.over()
        if over is None:
            return call
        return nodes.Call(call.name, call.arguments, over=over, call_span=call.call_span, span=self.span_from(start))

    def _timestamp_add(self) -> nodes.Expression:
        start = self._open()
        unit = self._unit()
        self.expect(",")
        count = self.expression()
        self.expect(",")
        operand = self.expression()
        self.expect(")")
        return nodes.TimestampAdd(unit, count, operand, span=self.span_from(start))

    def _timestamp_diff(self) -> nodes.Expression:
        start = self._open()
        unit = self._unit()
        self.expect(",")
        first = self.expression()
        self.expect(",")
        second = self.expression()
        self.expect(")")
        return nodes.TimestampDiff(unit, first, second, span=self.span_from(start))

    def _with_unit(self) -> nodes.Expression:
        """Parse a call whose last argument may be a unit, as DATE_TRUNC(x, MONTH)."""
        start = self._open()
        arguments = [self.expression()]
        while self.accept(","):
            key = self.keys[self.position]
            is_unit = key in _UNITS and self.keys[self.position + 1] == ")"
            arguments.append(self._unit() if is_unit else self.expression())
        self.expect(")")
        return self._plain_call(start, tuple(arguments), self.keys[start])

    def _navigation(self) -> nodes.Expression:
        """Parse FIRST, LAST, PREV or NEXT of a row pattern."""
        start = self._open()
        default = "0" if self.keys[start] in ("FIRST", "LAST") else "1"
        value = self.expression()
        offset: nodes.Expression = nodes.NumericLiteral(default)
        if self.accept(","):
            offset = self.signed_number()
        self.expect(")")
        return self._plain_call(start, (value, offset), self.keys[start])

    def _without_arguments(self) -> nodes.Expression:
        start = self._open()
        self.expect(")")
        return self._plain_call(start, (), self.keys[start])

    def _group_window(self) -> nodes.Expression:
        """Parse a group window, whose call has neither FILTER nor OVER."""
        start = self.position
        self.position += 1
        _, arguments, _ = self.arguments()
        return self._plain_call(start, arguments)

    def _period(self) -> nodes.Expression:
        start = self._open()
        first = self.expression()
        self.expect(",")
        second = self.expression()
        self.expect(")")
        return nodes.RowConstructor((first, second), span=self.span_from(start))

    def _reserved_call(self) -> nodes.Expression:
        """Parse a call of a reserved word that is the name of no function elsewhere."""
        start = self.position
        self.position += 1
        span = self.span_of(start)
        name = nodes.Identifier((self.image(start),), quoted=(False,), part_spans=(span,), span=span)
        return self._call_of(name, start)

    def _array_aggregate(self) -> nodes.Expression:
        """Parse ARRAY_AGG, which takes an ORDER BY in its parentheses."""
        start = self._open()
        quantifier = self.accept_any("DISTINCT", "ALL")
        arguments = [self.argument(Context.SUB_QUERY)]
        while self.accept(","):
            arguments.append(self.argument(Context.SUB_QUERY))
        nulls = self._null_treatment()
        order = self.order_by() if self.at("ORDER") else ()
        self.expect(")")
        call_span = self.span_from(start)
        span = self.span_of(start)
        name = nodes.Identifier(("ARRAY_AGG",), quoted=(False,), part_spans=(span,), span=span)
        after = self.after_call()
        return nodes.Call(
            name,
            tuple(arguments),
            quantifier,
            order,
            null_treatment=nulls or after.null_treatment,
            within_distinct=after.within_distinct,
            within_group=after.within_group,
            filter=after.filter,
            over=after.over,
            call_span=call_span,
            span=self.span_from(start),
        )

    def _json(self) -> nodes.Expression:
        return self.json_function(self.keys[self.position])


_Parse = Callable[[SpecialFunctionParser], nodes.Expression]
_PARSERS: Final[dict[str, _Parse]] = {
    "CAST": SpecialFunctionParser._cast,
    "TRY_CAST": SpecialFunctionParser._cast,
    "SAFE_CAST": SpecialFunctionParser._cast,
    "EXTRACT": SpecialFunctionParser._extract,
    "POSITION": SpecialFunctionParser._position,
    "CONVERT": SpecialFunctionParser._convert,
    "TRANSLATE": SpecialFunctionParser._translate,
    "OVERLAY": SpecialFunctionParser._overlay,
    "SUBSTRING": SpecialFunctionParser._substring,
    "TRIM": SpecialFunctionParser._trim,
    "FLOOR": SpecialFunctionParser._floor,
    "CEIL": SpecialFunctionParser._floor,
    "CEILING": SpecialFunctionParser._floor,
    "TIMESTAMPADD": SpecialFunctionParser._timestamp_add,
    "TIMESTAMPDIFF": SpecialFunctionParser._timestamp_diff,
    **dict.fromkeys(
        ("DATE_TRUNC", "TIMESTAMP_TRUNC", "DATETIME_TRUNC", "TIME_TRUNC"), SpecialFunctionParser._with_unit
    ),
    **dict.fromkeys(("DATE_DIFF", "DATETIME_DIFF", "TIMESTAMP_DIFF", "TIME_DIFF"), SpecialFunctionParser._with_unit),
    **dict.fromkeys(("FIRST", "LAST", "PREV", "NEXT"), SpecialFunctionParser._navigation),
    **dict.fromkeys(("CLASSIFIER", "MATCH_NUMBER"), SpecialFunctionParser._without_arguments),
    **dict.fromkeys(("TUMBLE", "HOP", "SESSION"), SpecialFunctionParser._group_window),
    **dict.fromkeys(("DATE", "TIME", "TIMESTAMP", "DATETIME", "IF"), SpecialFunctionParser._reserved_call),
    **dict.fromkeys(
        ("JSON_EXISTS", "JSON_VALUE", "JSON_QUERY", "JSON_OBJECT", "JSON_OBJECTAGG", "JSON_ARRAY", "JSON_ARRAYAGG"),
        SpecialFunctionParser._json,
    ),
    "PERIOD": SpecialFunctionParser._period,
    "ARRAY_AGG": SpecialFunctionParser._array_aggregate,
}
