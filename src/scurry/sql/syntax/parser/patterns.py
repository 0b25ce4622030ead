"""MATCH_RECOGNIZE, PIVOT and UNPIVOT."""

from __future__ import annotations

from scurry.sql.syntax import nodes
from scurry.sql.syntax.lexer import IDENTIFIER_KEYS
from scurry.sql.syntax.parser.contexts import Context
from scurry.sql.syntax.parser.queries import QueryParser


class PatternParser(QueryParser):
    """Parses MATCH_RECOGNIZE, PIVOT and UNPIVOT after a table."""

    def match_recognize(self, table: nodes.TableExpression) -> nodes.TableExpression:
        """Parse MATCH_RECOGNIZE after its input."""
        start = self.position
        self.position += 1
        self.expect("(")
        partition: tuple[nodes.Expression, ...] = ()
        if self.accept("PARTITION"):
            self.expect("BY")
            partition = self.expressions(Context.NON_QUERY)
        order: tuple[nodes.OrderItem, ...] = self.order_by() if self.at("ORDER") else ()
        measures = self.comma_list(self._measure) if self.accept("MEASURES") else ()
        rows = self._rows_per_match()
        after = self._after_match()
        self.expect("PATTERN", "(")
        first_row = self.accept("^")
        pattern = self._pattern()
        last_row = self.accept("$")
        self.expect(")")
        within = self.interval(expressions=False) if self.accept("WITHIN") else None
        subsets = self.comma_list(self._subset) if self.accept("SUBSET") else ()
        self.expect("DEFINE")
        definitions = self.comma_list(self._definition)
        self.expect(")")
        return nodes.MatchRecognize(
            table,
            pattern,
            definitions,
            partition,
            order,
            measures,
            rows,
            after,
            first_row,
            last_row,
            within,
            subsets,
            span=self.span_from(start),
        )

    def _measure(self) -> nodes.Measure:
        start = self.position
        value = self.expression(Context.NON_QUERY)
        self.expect("AS")
        return nodes.Measure(value, self.name(), span=self.span_from(start))

    def _rows_per_match(self) -> str | None:
        if self.accept("ONE"):
            self.expect("ROW", "PER", "MATCH")
            return "ONE ROW PER MATCH"
        if self.accept("ALL"):
            self.expect("ROWS", "PER", "MATCH")
            return "ALL ROWS PER MATCH"
        return None

    def _after_match(self) -> nodes.SkipAfterMatch | None:
        start = self.position
        if not self.accept("AFTER"):
            return None
        self.expect("MATCH", "SKIP")
        if self.expect_any("TO", "PAST") == "PAST":
            self.expect("LAST", "ROW")
            return nodes.SkipAfterMatch("PAST LAST ROW", span=self.span_from(start))
        if self.accept_all("NEXT", "ROW"):
            return nodes.SkipAfterMatch("TO NEXT ROW", span=self.span_from(start))
        names_follow = self.keys[self.position + 1] in IDENTIFIER_KEYS
        if self.keys[self.position] in ("FIRST", "LAST") and not names_follow:
            self.name_tried_at = self.position + 1
        to = self.accept_any("FIRST", "LAST") if names_follow else None
        return nodes.SkipAfterMatch(f"TO {to or 'LAST'}", self.name(), span=self.span_from(start))

    def _pattern(self) -> nodes.Pattern:
        start = self.position
        left = self._pattern_term()
        while self.accept("|"):
            left = nodes.PatternAlternation(left, self._pattern_term(), span=self.span_from(start))
        return left

    def _pattern_term(self) -> nodes.Pattern:
        start = self.position
        left = self._pattern_factor()
        while self._at_pattern_primary():
            left = nodes.PatternConcatenation(left, self._pattern_factor(), span=self.span_from(start))
        return left

    def _at_pattern_primary(self) -> bool:
        key = self.keys[self.position]
        return key in IDENTIFIER_KEYS or key in ("(", "{", "PERMUTE")

    def _pattern_factor(self) -> nodes.Pattern:
        start = self.position
        operand = self._pattern_primary()
        key = self.accept_any("*", "+", "?")
        if key is not None:
            low, high = {"*": (0, -1), "+": (1, -1), "?": (0, 1)}[key]
        elif self.at("{") and self.keys[self.position + 1] != "-":
            self.position += 1
            low, high = self._repetitions()
        elif self.at_all("{", "-"):
            exclusion = self._pattern_primary()
            return nodes.PatternConcatenation(operand, exclusion, span=self.span_from(start))
        else:
            return operand
        reluctant = self.accept("?") and low != high
        return nodes.PatternQuantifier(operand, low, high, reluctant, span=self.span_from(start))

    def _repetitions(self) -> tuple[int, int]:
        if self.accept(","):
            low, high = -1, self.unsigned_integer()
        else:
            low = high = self.unsigned_integer()
            if self.accept(","):
                high = self.unsigned_integer() if self.at_integer() else -1
        self.expect("}")
        return low, high

    def _pattern_primary(self) -> nodes.Pattern:
        start = self.position
        if self.accept("("):
            pattern = self._pattern()
            self.expect(")")
            return pattern
        if self.accept("{"):
            self.expect("-")
            pattern = self._pattern()
            self.expect("-", "}")
            return nodes.PatternExclusion(pattern, span=self.span_from(start))
        if self.accept("PERMUTE"):
            operands = self.parenthesized_list(self._pattern)
            return nodes.PatternPermutation(operands, span=self.span_from(start))
        name = self.name()
        return nodes.PatternVariable(name, span=name.span)

    def _subset(self) -> nodes.PatternSubset:
        start = self.position
        name = self.name()
        self.expect("=")
        return nodes.PatternSubset(name, self.names(), span=self.span_from(start))

    def _definition(self) -> nodes.PatternDefinition:
        start = self.position
        name = self.name()
        self.expect("AS")
        return nodes.PatternDefinition(name, self.expression(), span=self.span_from(start))

    def pivot(self, table: nodes.TableExpression) -> nodes.TableExpression:
        """Parse PIVOT after its input."""
        self.position += 1
        self.expect("(")
        aggregates = self.comma_list(self._pivot_aggregate)
        self.expect("FOR")
        columns = self.names() if self.at("(") else (self.name(),)
        self.expect("IN")
        values: tuple[nodes.PivotItem, ...] = ()
        self.expect("(")
        if not self.at(")"):
            values = self.comma_list(self._pivot_value)
        self.expect(")", ")")
        span = table.span.to(self.span_of(self.position - 1))
        return nodes.Pivot(table, aggregates, columns, values, span=span)

    def _pivot_aggregate(self) -> nodes.PivotItem:
        start = self.position
        call = self.call()
        return nodes.PivotItem((call,), self.alias(), span=self.span_from(start))

    def _pivot_value(self) -> nodes.PivotItem:
        start = self.position
        row = self._values_row()
        return nodes.PivotItem(row.values, self.alias(), span=self.span_from(start))

    def unpivot(self, table: nodes.TableExpression) -> nodes.TableExpression:
        """Parse UNPIVOT after its input."""
        self.position += 1
        nulls = self.accept_any("INCLUDE", "EXCLUDE")
        if nulls is not None:
            self.expect("NULLS")
        self.expect("(")
        measures = self.names() if self.at("(") else (self.name(),)
        self.expect("FOR")
        axes = self.names() if self.at("(") else (self.name(),)
        self.expect("IN", "(")
        items = self.comma_list(self._unpivot_item)
        self.expect(")", ")")
        span = table.span.to(self.span_of(self.position - 1))
        return nodes.Unpivot(table, measures, axes, items, nulls == "INCLUDE", span=span)

    def _unpivot_item(self) -> nodes.PivotItem:
        start = self.position
        columns = self.names() if self.at("(") else (self.name(),)
        values = self._values_row().values if self.accept("AS") else ()
        return nodes.PivotItem(columns, None, values, span=self.span_from(start))
