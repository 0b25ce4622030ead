"""Arguments of calls, and the clauses after them: FILTER, OVER, WITHIN GROUP."""

from __future__ import annotations

from typing import Final, NamedTuple

from scurry.sql.syntax import nodes
from scurry.sql.syntax.lexer import IDENTIFIER_KEYS
from scurry.sql.syntax.parser.contexts import Context
from scurry.sql.syntax.parser.operators import OperatorParser


class AfterCall(NamedTuple):
    """The clauses after the parentheses of a call."""

    null_treatment: str | None = None
    within_distinct: tuple[nodes.Expression, ...] = ()
    within_group: tuple[nodes.OrderItem, ...] = ()
    filter: nodes.Expression | None = None
    over: nodes.Identifier | nodes.WindowSpecification | None = None


NOTHING: Final = AfterCall()
_AFTER_CALL: Final = frozenset({"IGNORE", "RESPECT", "WITHIN", "FILTER", "OVER"})


class ArgumentParser(OperatorParser):
    """Parses the arguments of calls, and the clauses after them."""

    def query_or_expression(self, context: Context) -> nodes.Expression | nodes.Query:
        """Parse a query, with ORDER BY and limits, or an expression."""
        raise NotImplementedError

    def order_by(self) -> tuple[nodes.OrderItem, ...]:
        """Parse ORDER BY."""
        raise NotImplementedError

    def window_specification(self) -> nodes.WindowSpecification:
        """Parse a window in parentheses."""
        raise NotImplementedError

    def arguments(self) -> tuple[str | None, tuple[nodes.Expression, ...], tuple[nodes.OrderItem, ...]]:
        """Parse the arguments of a call in parentheses.

        Returns:
            DISTINCT or ALL, the arguments, and the keys of ORDER BY.
        """
        self.expect("(")
        if self.accept(")"):
            return None, (), ()
        if self.accept("*"):
            star = nodes.Star(span=self.span_of(self.position - 1))
            self.expect(")")
            return None, (star,), ()
        quantifier = self.accept_any("DISTINCT", "ALL")
        items = [self.argument(Context.NONCURSOR)]
        while self.accept(","):
            items.append(self.argument(Context.SUB_QUERY))
        self.expect(")")
        return quantifier, tuple(items), ()

    def argument(self, context: Context) -> nodes.Expression:
        """Parse an argument of a call."""
        start = self.position
        keys = self.keys
        key = keys[start]
        if keys[start + 1] == "=>" and key in IDENTIFIER_KEYS:
            name = self.name()
            self.position += 1
            return nodes.NamedArgument(name, self._value_of_argument(context), span=self.span_from(start))
        return self._value_of_argument(context)

    def _value_of_argument(self, context: Context) -> nodes.Expression:
        start = self.position
        key = self.keys[start]
        if key == "DEFAULT":
            self.position += 1
            return nodes.Default(span=self.span_of(start))
        if key == "DESCRIPTOR" and self.keys[start + 1] == "(":
            self.position += 1
            columns = () if self.accept_all("(", ")") else self.parenthesized_list(self.compound_name)
            return nodes.Descriptor(columns, span=self.span_from(start))
        if key == "MODEL" and self.keys[start + 1] in IDENTIFIER_KEYS:
            self.position += 1
            return nodes.ModelArgument(self.compound_name(), span=self.span_from(start))
        if key == "TABLE":
            self.position += 1
            name = self.compound_name()
            return self._partitioned(nodes.TableReference(name, span=name.span), start)
        written = self._written_argument()
        if written is not None:
            return written
        if not context.takes_query:
            value: nodes.Expression | nodes.Query = self.expression(context)
        else:
            value = self.query_or_expression(context)
        if isinstance(value, nodes.Query):
            return nodes.Subquery(value, span=value.span)
        if isinstance(value, nodes.Subquery):
            query = value.query
            if isinstance(query, nodes.ExplicitTable):
                return self._partitioned(nodes.TableReference(query.name, span=query.name.span), start)
            if context.takes_query and self.keys[self.position] in ("PARTITION", "ORDER"):
                return self._partitioned(query, start)
        return value

    def _written_argument(self) -> nodes.Expression | None:
        """Parse a partitioned table or a model in parentheses: Flink writes them so, but does not read them."""
        start = self.position
        if not self.at("(") or self.keys[start + 1] not in ("TABLE", "MODEL"):
            return None
        if self.keys[start + 2] not in IDENTIFIER_KEYS:
            return None
        self.position += 2
        name = self.compound_name()
        written: nodes.Expression | None = None
        if self.keys[start + 1] == "MODEL":
            written = nodes.ModelArgument(name, span=self.span_from(start + 1))
        elif self.keys[self.position] in ("PARTITION", "ORDER"):
            written = self._partitioned(nodes.TableReference(name, span=name.span), start + 1)
        if written is None or not self.accept(")"):
            self.position = start
            return None
        return written

    def _partitioned(self, table: nodes.TableReference | nodes.Query, start: int) -> nodes.TableArgument:
        partition: tuple[nodes.Expression, ...] | None = None
        order: tuple[nodes.OrderItem, ...] = ()
        if self.accept("PARTITION"):
            self.expect("BY")
            partition = self.names() if self.at("(") else (self.name(),)
        if self.accept("ORDER"):
            self.expect("BY")
            if self.accept("("):
                order = self.order_items()
                self.expect(")")
            else:
                order = (self.order_item(),)
        return nodes.TableArgument(table, partition, order, span=self.span_from(start))

    def expressions(self, context: Context) -> tuple[nodes.Expression, ...]:
        """Parse expressions separated by commas, up to a comma that no expression follows."""
        items = [self.expression(context)]
        while self.another():
            items.append(self.expression(Context.SUB_QUERY))
        return tuple(items)

    def order_items(self) -> tuple[nodes.OrderItem, ...]:
        """Parse keys of ORDER BY."""
        items = [self.order_item()]
        while self.another():
            items.append(self.order_item())
        return tuple(items)

    def order_item(self) -> nodes.OrderItem:
        """Parse a key of ORDER BY."""
        start = self.position
        value = self.expression()
        descending = self.accept_any("ASC", "DESC") == "DESC"
        nulls = None
        if self.accept("NULLS"):
            nulls = self.expect_any("FIRST", "LAST")
        return nodes.OrderItem(value, descending, nulls, span=self.span_from(start))

    def after_call(self) -> AfterCall:
        """Parse the clauses after the parentheses of a call."""
        if self.keys[self.position] not in _AFTER_CALL:
            return NOTHING
        null_treatment = self._null_treatment()
        distinct: tuple[nodes.Expression, ...] = ()
        if self.accept_all("WITHIN", "DISTINCT"):
            distinct = self.parenthesized_list(self.expression)
        group = self.within_group()
        condition = None
        if self.accept("FILTER"):
            self.expect("(", "WHERE")
            condition = self.expression()
            self.expect(")")
        return AfterCall(null_treatment, distinct, group, condition, self.over())

    def _null_treatment(self) -> str | None:
        key = self.keys[self.position]
        if key in ("IGNORE", "RESPECT") and self.keys[self.position + 1] == "NULLS":
            self.position += 2
            return f"{key} NULLS"
        return None

    def within_group(self) -> tuple[nodes.OrderItem, ...]:
        """Parse WITHIN GROUP, if there is one."""
        if not self.accept("WITHIN"):
            return ()
        self.expect("GROUP", "(")
        items = self.order_by()
        self.expect(")")
        return items

    def over(self) -> nodes.Identifier | nodes.WindowSpecification | None:
        """Parse OVER, if there is one."""
        if not self.accept("OVER"):
            return None
        return self.window_specification() if self.at("(") else self.name()
