"""Windows of aggregates, and hints."""

from __future__ import annotations

from scurry.sql.syntax import nodes
from scurry.sql.syntax.lexer import IDENTIFIER_KEYS, STRING
from scurry.sql.syntax.parser.contexts import Context
from scurry.sql.syntax.parser.json import JsonParser
from scurry.sql.syntax.parser.literals import NUMBERS


class WindowParser(JsonParser):
    """Parses windows and hints."""

    def window_definitions(self) -> tuple[nodes.WindowDefinition, ...]:
        """Parse WINDOW, if there is one."""
        if not self.accept("WINDOW"):
            return ()
        definitions = [self._window_definition()]
        while self.at(",") and self.keys[self.position + 1] in IDENTIFIER_KEYS:
            self.position += 1
            definitions.append(self._window_definition())
        return tuple(definitions)

    def _window_definition(self) -> nodes.WindowDefinition:
        start = self.position
        name = self.name()
        self.expect("AS")
        return nodes.WindowDefinition(name, self.window_specification(), span=self.span_from(start))

    def window_specification(self) -> nodes.WindowSpecification:
        """Parse a window in parentheses."""
        start = self.position
        self.expect("(")
        base: nodes.Identifier | None = self.name() if self.at_name() else None
        partition: tuple[nodes.Expression, ...] = ()
        if self.accept("PARTITION"):
            self.expect("BY")
            partition = self.expressions(Context.NON_QUERY)
        order: tuple[nodes.OrderItem, ...] = self.order_by() if self.at("ORDER") else ()
        frame = self._frame()
        partial = self.accept_any("ALLOW", "DISALLOW")
        if partial is not None:
            self.expect("PARTIAL")
        self.expect(")")
        return nodes.WindowSpecification(
            base, partition, order, frame, partial != "DISALLOW", span=self.span_from(start)
        )

    def _frame(self) -> nodes.WindowFrame | None:
        start = self.position
        units = self.accept_any("ROWS", "RANGE")
        if units is None:
            return None
        upper = None
        if self.accept("BETWEEN"):
            lower = self._bound()
            self.expect("AND")
            upper = self._bound()
        else:
            lower = self._bound()
        return nodes.WindowFrame(units, lower, upper, span=self.span_from(start))

    def _bound(self) -> nodes.FrameBound:
        start = self.position
        if self.accept_all("CURRENT", "ROW"):
            return nodes.CurrentRow(span=self.span_from(start))
        if self.at("UNBOUNDED") and self.keys[start + 1] in ("PRECEDING", "FOLLOWING"):
            self.position += 2
            span = self.span_from(start)
            before = self.keys[start + 1] == "PRECEDING"
            return nodes.UnboundedPreceding(span=span) if before else nodes.UnboundedFollowing(span=span)
        distance = self.expression(Context.NON_QUERY)
        before = self.expect_any("PRECEDING", "FOLLOWING") == "PRECEDING"
        span = self.span_from(start)
        return nodes.Preceding(distance, span=span) if before else nodes.Following(distance, span=span)

    def hints(self) -> tuple[nodes.Hint, ...]:
        """Parse ``/*+ ... */``, if there is one."""
        if not self.accept("/*+"):
            return ()
        hints = self.comma_list(self._hint)
        self.expect("*/")
        return hints

    def _hint(self) -> nodes.Hint:
        start = self.position
        name = self.name().last
        options: tuple[nodes.HintOption, ...] = ()
        if self.accept("("):
            if not self.at(")"):
                options = self._hint_options()
            self.expect(")")
        return nodes.Hint(name, options, span=self.span_from(start))

    def _hint_options(self) -> tuple[nodes.HintOption, ...]:
        key, following = self.keys[self.position], self.keys[self.position + 1]
        if following == "=" and (key == STRING or key in IDENTIFIER_KEYS):
            return self.comma_list(self._key_value)
        if key in IDENTIFIER_KEYS:
            return self.comma_list(self._name_option)
        return self.comma_list(self._literal_option)

    def _key_value(self) -> nodes.HintOption:
        start = self.position
        is_string = self.keys[start] == STRING
        key = self.literal_text() if is_string else self.name().last
        self.expect("=")
        value = self.string_literal()
        assert isinstance(value, nodes.StringLiteral)
        return nodes.HintOption(value, key, is_string, span=self.span_from(start))

    def _name_option(self) -> nodes.HintOption:
        name = self.name()
        return nodes.HintOption(name, span=name.span)

    def _literal_option(self) -> nodes.HintOption:
        start = self.position
        if self.keys[start] in NUMBERS or self.keys[start] in ("+", "-"):
            return nodes.HintOption(self.signed_number(), span=self.span_from(start))
        value = self.string_literal()
        assert isinstance(value, nodes.StringLiteral)
        return nodes.HintOption(value, span=self.span_from(start))
