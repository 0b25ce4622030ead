"""Data types."""

from __future__ import annotations

from typing import Final

from scurry.sql.syntax import nodes
from scurry.sql.syntax.lexer import INTEGER, STRING
from scurry.sql.syntax.parser.cursor import Cursor

# Types without arguments, by the keyword, under the name that Calcite gives them.
_PLAIN: Final = {
    **{name: name for name in "BOOLEAN INTEGER TINYINT SMALLINT BIGINT REAL DOUBLE FLOAT DATE STRING BYTES".split()},
    "INT": "INTEGER",
    "VARIANT": "VARIANT",
    "BITMAP": "BITMAP",
}
_WITH_PRECISION: Final = {"VARBINARY": "VARBINARY", "VARCHAR": "VARCHAR", "TIMESTAMP_LTZ": "TIMESTAMP_LTZ"}
_WITH_SCALE: Final = {"DECIMAL": "DECIMAL", "DEC": "DECIMAL", "NUMERIC": "DECIMAL", "ANY": "ANY"}
_VARYING: Final = {"BINARY": ("BINARY", "VARBINARY"), "CHAR": ("CHAR", "VARCHAR"), "CHARACTER": ("CHAR", "VARCHAR")}

_UNITS: Final = {
    name: unit
    for unit in ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND")
    for name in (unit, f"{unit}S")
}
_LATER_UNITS: Final = {
    "YEAR": ("MONTH",),
    "DAY": ("HOUR", "MINUTE", "SECOND"),
    "HOUR": ("MINUTE", "SECOND"),
    "MINUTE": ("SECOND",),
}


class TypeParser(Cursor):
    """Parses types, and the units of intervals."""

    def string_literal(self) -> nodes.Expression:
        """Parse a string, of one or more parts."""
        raise NotImplementedError

    def literal_text(self) -> str:
        """Parse a string of one part and return its value."""
        literal = self.string_literal()
        if not isinstance(literal, nodes.StringLiteral):
            raise self.error_at("a character string in one part is needed here", literal.span)
        return literal.value

    def nullable_type(self) -> nodes.TypeSpec:
        """Parse a type that NULL or NOT NULL may follow, here and within it."""
        start = self.position
        spec = self.type_name()
        while True:
            nullable = self._peek_nullable()
            after = self.position + (0 if nullable is None else 1 if nullable else 2)
            if self.keys[after] not in ("ARRAY", "MULTISET"):
                break
            self.position = after
            spec = self._collection_of(nodes.replace(spec, nullable=nullable is not False), start)
        nullable = self.nullability()
        if nullable is None:
            return spec
        return nodes.replace(spec, nullable=nullable, span=self.span_from(start))

    def data_type(self) -> nodes.TypeSpec:
        """Parse a type without NULL or NOT NULL after it."""
        start = self.position
        spec = self.type_name()
        while self.keys[self.position] in ("ARRAY", "MULTISET"):
            spec = self._collection_of(spec, start)
        return spec

    def _collection_of(self, element: nodes.TypeSpec, start: int) -> nodes.TypeSpec:
        kind = self.expect_any("ARRAY", "MULTISET")
        span = self.span_from(start)
        if kind == "ARRAY":
            return nodes.ArrayTypeSpec(element, standard=True, span=span)
        return nodes.MultisetTypeSpec(element, standard=True, span=span)

    def _peek_nullable(self) -> bool | None:
        if self.at("NULL"):
            return True
        return False if self.at_all("NOT", "NULL") else None

    def nullability(self) -> bool | None:
        """Parse NULL or NOT NULL, if there is one of them."""
        if self.accept("NULL"):
            return True
        if self.accept("NOT"):
            self.expect("NULL")
            return False
        return None

    def type_name(self) -> nodes.TypeSpec:
        """Parse a type without suffixes."""
        start = self.position
        key = self.keys[start]
        following = self.keys[start + 1]
        if key in _PLAIN:
            self.position += 1
            if key == "DOUBLE":
                self.accept("PRECISION")
            return nodes.BasicTypeSpec(_PLAIN[key], span=self.span_from(start))
        if key in _WITH_PRECISION or key in _WITH_SCALE or key in _VARYING:
            return self._type_with_arguments(key)
        if key in ("TIME", "TIMESTAMP"):
            return self._time_type(key)
        if key in ("ARRAY", "MULTISET") and following == "<":
            return self._collection_type(key)
        if key == "MAP" and following == "<":
            return self._map_type()
        if key == "ROW" and following in ("<", "(", "<>"):
            return self._row_type()
        if key == "RAW" and following == "(":
            return self._raw_type()
        if key == "STRUCTURED" and following == "<":
            return self._structured_type()
        name = self.compound_name()
        return nodes.NamedTypeSpec(name, span=name.span)

    def _type_with_arguments(self, key: str) -> nodes.TypeSpec:
        start = self.position
        self.position += 1
        if key in _WITH_SCALE:
            precision, scale = self._precision_and_scale()
            return nodes.BasicTypeSpec(_WITH_SCALE[key], precision, scale, span=self.span_from(start))
        if key in _VARYING:
            name = _VARYING[key][self.accept("VARYING")]
        else:
            name = _WITH_PRECISION[key]
        precision = self.optional_precision()
        charset = None
        if name.endswith("CHAR") and self.accept("CHARACTER"):
            self.expect("SET")
            charset = self.name().last
        return nodes.BasicTypeSpec(name, precision, charset=charset, span=self.span_from(start))

    def optional_precision(self) -> int | None:
        """Parse a number in parentheses, if there is one."""
        if not self.accept("("):
            return None
        precision = self.unsigned_integer()
        self.expect(")")
        return precision

    def _precision_and_scale(self) -> tuple[int | None, int | None]:
        if not self.accept("("):
            return None, None
        precision, scale = self.unsigned_integer(), None
        if self.accept(","):
            scale = self.unsigned_integer()
        self.expect(")")
        return precision, scale

    def _time_type(self, key: str) -> nodes.TypeSpec:
        start = self.position
        self.position += 1
        precision = self.optional_precision()
        zone = None
        if self.accept_all("WITHOUT", "TIME", "ZONE"):
            pass
        elif self.accept("WITH"):
            self.expect("LOCAL", "TIME", "ZONE")
            zone = "WITH LOCAL TIME ZONE"
        return nodes.BasicTypeSpec(key, precision, time_zone=zone, span=self.span_from(start))

    def _collection_type(self, key: str) -> nodes.TypeSpec:
        start = self.position
        self.position += 2
        element = self.nullable_type()
        self.expect(">")
        if key == "ARRAY":
            return nodes.ArrayTypeSpec(element, span=self.span_from(start))
        return nodes.MultisetTypeSpec(element, span=self.span_from(start))

    def _map_type(self) -> nodes.TypeSpec:
        start = self.position
        self.position += 2
        key = self.nullable_type()
        self.expect(",")
        value = self.nullable_type()
        self.expect(">")
        return nodes.MapTypeSpec(key, value, span=self.span_from(start))

    def _row_type(self) -> nodes.TypeSpec:
        start = self.position
        self.position += 1
        if self.accept("<>"):
            return nodes.RowTypeSpec((), span=self.span_from(start))
        parentheses = self.expect_any("<", "(") == "("
        fields = self._row_fields(")" if parentheses else ">")
        return nodes.RowTypeSpec(fields, parentheses, span=self.span_from(start))

    def _row_fields(self, close: str) -> tuple[nodes.RowFieldSpec, ...]:
        fields: tuple[nodes.RowFieldSpec, ...] = ()
        if self.at_name():
            fields = self.comma_list(self._row_field)
        self.expect(close)
        return fields

    def _row_field(self) -> nodes.RowFieldSpec:
        start = self.position
        name = self.name()
        spec = self.nullable_type()
        comment = self.string() if self.keys[self.position] == STRING else None
        return nodes.RowFieldSpec(name, spec, comment, span=self.span_from(start))

    def _raw_type(self) -> nodes.TypeSpec:
        start = self.position
        self.position += 2
        class_name = self.literal_text()
        self.expect(",")
        serializer = self.literal_text()
        self.expect(")")
        return nodes.RawTypeSpec(class_name, serializer, span=self.span_from(start))

    def _structured_type(self) -> nodes.TypeSpec:
        start = self.position
        self.position += 2
        class_name = self.literal_text()
        fields: tuple[nodes.RowFieldSpec, ...] = ()
        if self.accept(","):
            fields = self._row_fields(">")
        else:
            self.expect(">")
        return nodes.StructuredTypeSpec(class_name, fields, span=self.span_from(start))

    def interval_qualifier(self) -> nodes.IntervalQualifier:
        """Parse a unit or a range of units."""
        start = self.position
        first = _UNITS.get(self.keys[start])
        if first is None:
            self.fail()
        self.position += 1
        precision = fractional = end = None
        if first == "SECOND":
            precision, fractional = self._precision_and_scale()
        else:
            precision = self.optional_precision()
            later = _LATER_UNITS.get(first, ())
            if self.at("TO") and _UNITS.get(self.keys[self.position + 1]) in later:
                self.position += 1
                end = _UNITS[self.keys[self.position]]
                self.position += 1
                if end == "SECOND":
                    fractional = self.optional_precision()
            elif self.at("TO"):
                self.looked_ahead_at = self.position
        return nodes.IntervalQualifier(first, end, precision, fractional, span=self.span_from(start))

    def interval_start(self) -> nodes.IntervalQualifier:
        """Parse a unit that no TO can follow."""
        start = self.position
        unit = _UNITS.get(self.keys[start])
        if unit is None:
            self.fail()
        self.position += 1
        fractional = None
        if unit == "SECOND":
            precision, fractional = self._precision_and_scale()
        else:
            precision = self.optional_precision()
        return nodes.IntervalQualifier(unit, None, precision, fractional, span=self.span_from(start))

    def at_integer(self) -> bool:
        """Return whether the next token is an integer."""
        return self.keys[self.position] == INTEGER
