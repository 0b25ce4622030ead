"""Parts of table definitions: columns, constraints, watermarks, options, partitions."""

from __future__ import annotations

from typing import Final

from scurry.sql.syntax import nodes
from scurry.sql.syntax.lexer import DECIMAL
from scurry.sql.syntax.parser.contexts import Context
from scurry.sql.syntax.parser.tables import TableParser

_STRATEGIES: Final = ("INCLUDING", "EXCLUDING", "OVERWRITING")
_FEATURES: Final = tuple("ALL CONSTRAINTS DISTRIBUTION GENERATED METADATA OPTIONS PARTITIONS WATERMARKS".split())

Element = nodes.Column | nodes.TableConstraint | nodes.Watermark


class ColumnParser(TableParser):
    """Parses parts of table definitions."""

    def if_exists(self) -> bool:
        """Parse IF EXISTS, if it is there."""
        return self.accept_all("IF", "EXISTS")

    def if_not_exists(self) -> bool:
        """Parse IF NOT EXISTS, if it is there."""
        return self.accept_all("IF", "NOT", "EXISTS")

    def comment(self) -> str | None:
        """Parse COMMENT, if it is there."""
        return self.string() if self.accept("COMMENT") else None

    def string_node(self) -> nodes.StringLiteral:
        """Parse a string of one part."""
        start = self.position
        value = self.literal_text()
        return nodes.StringLiteral(value, span=self.span_from(start))

    def properties(self) -> tuple[nodes.Property, ...]:
        """Parse ``('key' = 'value', ...)``."""
        self.expect("(")
        found = () if self.at(")") else self.comma_list(self._property)
        self.expect(")")
        return found

    def with_properties(self) -> tuple[nodes.Property, ...] | None:
        """Parse WITH, if it is there."""
        return self.properties() if self.accept("WITH") else None

    def _property(self) -> nodes.Property:
        start = self.position
        key = self.string_node()
        self.expect("=")
        return nodes.Property(key, self.string_node(), span=self.span_from(start))

    def property_keys(self) -> tuple[nodes.StringLiteral, ...]:
        """Parse ``('key', ...)``."""
        self.expect("(")
        keys = () if self.at(")") else self.comma_list(self.string_node)
        self.expect(")")
        return keys

    def partition_fields(self) -> tuple[nodes.PartitionField, ...]:
        """Parse ``(column = value, ...)``."""
        return self.parenthesized_list(self._partition_field)

    def partition_fields_or_names(self) -> tuple[nodes.PartitionField, ...]:
        """Parse ``(column = value, column, ...)``."""
        return self.parenthesized_list(self._partition_field_or_name)

    def _partition_field(self) -> nodes.PartitionField:
        start = self.position
        column = self.name()
        self.expect("=")
        return nodes.PartitionField(column, self.literal(), span=self.span_from(start))

    def _partition_field_or_name(self) -> nodes.PartitionField:
        start = self.position
        column = self.name()
        value = self.literal() if self.accept("=") else None
        return nodes.PartitionField(column, value, span=self.span_from(start))

    def distribution(self) -> nodes.Distribution:
        """Parse ``BY HASH(columns) INTO n BUCKETS`` after DISTRIBUTED or DISTRIBUTION."""
        start = self.position - 1
        kind = None
        columns: tuple[nodes.Identifier, ...] = ()
        buckets = None
        if self.at("INTO"):
            buckets = self._buckets()
        else:
            self.expect("BY")
            kind = self.accept_any("HASH", "RANGE")
            columns = self.names()
            buckets = self._buckets() if self.at("INTO") else None
        return nodes.Distribution(kind, columns, buckets, span=self.span_from(start))

    def _buckets(self) -> int:
        self.position += 1
        if self.keys[self.position] == DECIMAL:
            self.position += 1
            raise self.error_at_last("Bucket count must be a positive integer.")
        count = self.unsigned_integer()
        self.expect("BUCKETS")
        return count

    def table_schema(self, names_allowed: bool = True) -> nodes.TableSchema:
        """Parse columns, constraints and a watermark in parentheses."""
        start = self.position
        self.expect("(")
        if names_allowed and self.keys[self.position + 1] in (",", ")", "."):
            columns = self.comma_list(self._name_only)
            self.expect(")")
            return nodes.TableSchema(columns, span=self.span_from(start))
        elements = [self.element(positions=False)]
        while self.accept(","):
            self._check_watermark(elements)
            elements.append(self.element(positions=False))
        self._check_watermark(elements)
        self.expect(")")
        return self.schema_of(elements, start)

    def _name_only(self) -> nodes.NameOnlyColumn:
        name = self.compound_name()
        return nodes.NameOnlyColumn(name, span=name.span)

    def _check_watermark(self, elements: list[Element]) -> None:
        """Refuse a second watermark as soon as it is read."""
        last = elements[-1]
        if isinstance(last, nodes.Watermark) and any(isinstance(each, nodes.Watermark) for each in elements[:-1]):
            raise self.error_at("Multiple WATERMARK declarations are not supported yet.", last.span)

    def schema_of(self, elements: list[Element], start: int) -> nodes.TableSchema:
        """Return a schema of columns, constraints and watermarks in any order."""
        columns = tuple(each for each in elements if isinstance(each, nodes.Column))
        constraints = tuple(each for each in elements if isinstance(each, nodes.TableConstraint))
        watermark = next((each for each in elements if isinstance(each, nodes.Watermark)), None)
        return nodes.TableSchema(columns, constraints, watermark, span=self.span_from(start))

    def altered_schema(self) -> nodes.TableSchema:
        """Parse the element after ADD or MODIFY of a table, or several in parentheses."""
        start = self.position
        if not self.accept("("):
            return self.schema_of([self.element(positions=True)], start)
        elements = [self.element(positions=True)]
        while self.accept(","):
            self._check_watermark(elements)
            elements.append(self.element(positions=True))
        self._check_watermark(elements)
        self.expect(")")
        return self.schema_of(elements, start)

    def element(self, positions: bool) -> Element:
        """Parse a column, a constraint or a watermark.

        Args:
            positions: Whether FIRST or AFTER may follow a column.
        """
        key = self.keys[self.position]
        if key == "WATERMARK" and (positions or self.keys[self.position + 1] == "FOR"):
            return self._watermark()
        if key in ("CONSTRAINT", "PRIMARY", "UNIQUE"):
            return self.table_constraint()
        column = self._column()
        return self._positioned(column) if positions else column

    def _watermark(self) -> nodes.Watermark:
        start = self.position
        self.expect("WATERMARK", "FOR")
        column = self.compound_name()
        self.expect("AS")
        value = self.expression(Context.NON_QUERY)
        return nodes.Watermark(column, value, span=self.span_from(start))

    def _positioned(self, column: nodes.Column) -> nodes.Column:
        start = self.position
        if self.accept("FIRST"):
            return nodes.replace(column, position=nodes.ColumnPosition(span=self.span_from(start)))
        if self.accept("AFTER"):
            after = self.compound_name()
            return nodes.replace(column, position=nodes.ColumnPosition(after, span=self.span_from(start)))
        return column

    def _column(self) -> nodes.Column:
        start = self.position
        if self.keys[start + 1] == "AS":
            return self._computed_column()
        name = self.compound_name()
        spec = self.nullable_type()
        if self.accept("METADATA"):
            key = self.literal_text() if self.accept("FROM") else None
            virtual = self.accept("VIRTUAL")
            comment = self._column_comment()
            return nodes.MetadataColumn(name, spec, key, virtual, comment=comment, span=self.span_from(start))
        constraint = self._column_constraint()
        return nodes.PhysicalColumn(name, spec, constraint, comment=self._column_comment(), span=self.span_from(start))

    def _column_comment(self) -> str | None:
        return self.literal_text() if self.accept("COMMENT") else None

    def _computed_column(self) -> nodes.ComputedColumn:
        start = self.position
        name = self.name()
        self.expect("AS")
        value = self.expression(Context.NON_QUERY)
        return nodes.ComputedColumn(name, value, comment=self._column_comment(), span=self.span_from(start))

    def _column_constraint(self) -> nodes.ColumnConstraint | None:
        start = self.position
        if self.keys[start] not in ("CONSTRAINT", "PRIMARY", "UNIQUE"):
            return None
        name = self.name() if self.accept("CONSTRAINT") else None
        kind = self._constraint_kind()
        return nodes.ColumnConstraint(kind, name, self._enforced(), span=self.span_from(start))

    def table_constraint(self) -> nodes.TableConstraint:
        """Parse a constraint with its columns."""
        start = self.position
        name = self.name() if self.accept("CONSTRAINT") else None
        kind = self._constraint_kind()
        columns = self.names()
        return nodes.TableConstraint(kind, columns, name, self._enforced(), span=self.span_from(start))

    def _constraint_kind(self) -> str:
        if self.expect_any("PRIMARY", "UNIQUE") == "UNIQUE":
            return "UNIQUE"
        self.expect("KEY")
        return "PRIMARY KEY"

    def _enforced(self) -> bool | None:
        if self.accept("ENFORCED"):
            return True
        if self.accept("NOT"):
            self.expect("ENFORCED")
            return False
        return None

    def table_like(self) -> nodes.TableLikeClause:
        """Parse the table after LIKE in CREATE TABLE."""
        start = self.position - 1
        table = self.compound_name()
        options = []
        if self.accept("("):
            options.append(self._like_option())
            while not self.at(")"):
                options.append(self._like_option())
            self.position += 1
        return nodes.TableLikeClause(table, tuple(options), span=self.span_from(start))

    def _like_option(self) -> nodes.TableLikeOption:
        start = self.position
        strategy = self.expect_any(*_STRATEGIES)
        return nodes.TableLikeOption(strategy, self.expect_any(*_FEATURES), span=self.span_from(start))
