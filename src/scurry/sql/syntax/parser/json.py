"""JSON functions."""

from __future__ import annotations

from scurry.sql.syntax import nodes
from scurry.sql.syntax.parser.contexts import Context
from scurry.sql.syntax.parser.special import SpecialFunctionParser


class JsonParser(SpecialFunctionParser):
    """Parses JSON functions."""

    def json_function(self, key: str) -> nodes.Expression:
        """Parse a JSON function.

        Args:
            key: Its name, which is the next token; a parenthesis follows.
        """
        start = self.position
        self.position += 2
        if key == "JSON_OBJECT":
            return self._object(start)
        if key == "JSON_ARRAY":
            return self._array(start)
        if key == "JSON_OBJECTAGG":
            return self._object_aggregate(start)
        if key == "JSON_ARRAYAGG":
            return self._array_aggregate_of_json(start)
        context = self.expression(Context.NON_QUERY)
        self.expect(",")
        path = self.expression(Context.NON_QUERY)
        self._passing()
        if key == "JSON_EXISTS":
            return self._exists(context, path, start)
        returning = self.data_type() if self.accept("RETURNING") else None
        if key == "JSON_VALUE":
            on_empty, on_error = self._behaviors(self._value_behavior)
            self.expect(")")
            return nodes.JsonValue(context, path, returning, on_empty, on_error, span=self.span_from(start))
        return self._query(context, path, returning, start)

    def _passing(self) -> None:
        """Go past PASSING, which Flink parses and ignores."""
        if self.accept("PASSING"):
            self.comma_list(self._passed)

    def _passed(self) -> None:
        self.expression(Context.NON_QUERY)
        self.expect("AS")
        self.name()

    def _exists(self, context: nodes.Expression, path: nodes.Expression, start: int) -> nodes.Expression:
        on_error = None
        key = self.accept_any("TRUE", "FALSE", "UNKNOWN", "ERROR")
        if key is not None:
            on_error = nodes.JsonBehavior(key, span=self.span_of(self.position - 1))
            self.expect("ON", "ERROR")
        self.expect(")")
        return nodes.JsonExists(context, path, on_error, span=self.span_from(start))

    def _query(
        self, context: nodes.Expression, path: nodes.Expression, returning: nodes.TypeSpec | None, start: int
    ) -> nodes.Expression:
        wrapper = self._wrapper()
        on_empty, on_error = self._behaviors(self._query_behavior)
        self.expect(")")
        null = nodes.JsonBehavior("NULL")
        return nodes.JsonQuery(
            context, path, returning, wrapper, on_empty or null, on_error or null, span=self.span_from(start)
        )

    def _wrapper(self) -> str:
        if self.accept("WITHOUT"):
            wrapper = "WITHOUT ARRAY"
        elif self.accept("WITH"):
            kind = self.accept_any("CONDITIONAL", "UNCONDITIONAL") or "UNCONDITIONAL"
            wrapper = f"WITH {kind} ARRAY"
        else:
            return "WITHOUT ARRAY"
        self.accept("ARRAY")
        self.expect("WRAPPER")
        return wrapper

    def _behaviors(self, parse: object) -> tuple[nodes.JsonBehavior | None, nodes.JsonBehavior | None]:
        """Parse the behaviours ON EMPTY and ON ERROR."""
        assert callable(parse)
        found: dict[str, nodes.JsonBehavior] = {}
        while self.keys[self.position] in ("NULL", "ERROR", "DEFAULT", "EMPTY"):
            behavior: nodes.JsonBehavior = parse()
            self.expect("ON")
            found[self.expect_any("EMPTY", "ERROR")] = behavior
        return found.get("EMPTY"), found.get("ERROR")

    def _value_behavior(self) -> nodes.JsonBehavior:
        start = self.position
        key = self.expect_any("NULL", "ERROR", "DEFAULT")
        default = self.expression(Context.NON_QUERY) if key == "DEFAULT" else None
        return nodes.JsonBehavior(key, default, span=self.span_from(start))

    def _query_behavior(self) -> nodes.JsonBehavior:
        start = self.position
        key = self.expect_any("NULL", "ERROR", "EMPTY")
        if key == "EMPTY":
            key = f"EMPTY {self.expect_any('ARRAY', 'OBJECT')}"
        return nodes.JsonBehavior(key, span=self.span_from(start))

    def _entry(self) -> nodes.JsonEntry:
        start = self.position
        keyword = self.at("KEY") and self.keys[self.position + 1] not in (":", "VALUE", ".", "(")
        if keyword:
            self.position += 1
        key = self.expression(Context.NON_QUERY)
        if self.accept(":"):
            if keyword:
                raise self.error_at_last("Illegal use of ':' in a KEY VALUE pair")
        else:
            self.expect("VALUE")
        value = self.expression(Context.NON_QUERY)
        return nodes.JsonEntry(key, value, span=self.span_from(start))

    def _at_null_clause(self) -> bool:
        return self.at_all("NULL", "ON", "NULL") or self.at_all("ABSENT", "ON", "NULL")

    def _null_clause(self, absent: bool) -> bool:
        """Parse NULL ON NULL or ABSENT ON NULL, and return whether NULL values are left out."""
        key = self.accept_any("NULL", "ABSENT")
        if key is None:
            return absent
        self.expect("ON", "NULL")
        return key == "ABSENT"

    def _object(self, start: int) -> nodes.Expression:
        entries: tuple[nodes.JsonEntry, ...] = ()
        if not self.at(")") and not self._at_null_clause():
            entries = self.comma_list(self._entry)
        absent = self._null_clause(False)
        self.expect(")")
        return nodes.JsonObject(entries, absent, span=self.span_from(start))

    def _array(self, start: int) -> nodes.Expression:
        values: tuple[nodes.Expression, ...] = ()
        if not self.at(")") and not self._at_null_clause():
            values = self.comma_list(lambda: self.expression(Context.NON_QUERY))
        absent = self._null_clause(True)
        self.expect(")")
        return nodes.JsonArray(values, absent, span=self.span_from(start))

    def _object_aggregate(self, start: int) -> nodes.Expression:
        entry = self._entry()
        absent = self._null_clause(False)
        self.expect(")")
        span = self.span_from(start)
        return nodes.JsonObjectAggregate(entry, absent, call_span=span, span=span)

    def _array_aggregate_of_json(self, start: int) -> nodes.Expression:
        value = self.expression(Context.NON_QUERY)
        order = self.order_by() if self.at("ORDER") else ()
        absent = self._null_clause(True)
        self.expect(")")
        call_span = self.span_from(start)
        if self.at("WITHIN") and order:
            raise self.error_at_last(
                "Including both WITHIN GROUP(...) and inside ORDER BY in a single JSON_ARRAYAGG call is not allowed"
            )
        group = self.within_group() or order
        return nodes.JsonArrayAggregate(
            value, absent, within_group=group, call_span=call_span, span=self.span_from(start)
        )
