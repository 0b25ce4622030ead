"""Collections as rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from scurry.dataframe._frame.base import FrameBase, as_expression, identifier, unused
from scurry.errors import ArgumentError, ArgumentTypeError
from scurry.sql.syntax import nodes
from scurry.sql.types import ArrayType, DataType, MapType, MultisetType, RowType
from scurry.table.expression import Expression, expression_of
from scurry.table.expressions import call, col, null_of

_ORDINAL = "__pf_ordinality"


class ExplodeMethods(FrameBase, check_arguments=False):
    """Collections as rows."""

    def explode(
        self,
        column: str | Expression,
        *,
        output_column: str | list[str] | None = None,
        ignore_empty_and_null: bool = False,
    ) -> Self:
        """Return a row for each element of an array or multiset, or for each entry of a map.

        A column is replaced in place by the elements. Those of another expression are the last column.

        Args:
            column: The column or expression.
            output_column: The name of the elements; of a map, those of keys and values. None for the column's own.
            ignore_empty_and_null: Whether rows without elements are left out; otherwise they have NULL as the element.

        Raises:
            TypeError: The column is no collection, or an argument is something else.
            ValueError: The names do not fit, or it is not one expression over the columns.
        """
        if not isinstance(column, str | Expression):
            raise ArgumentTypeError("column must be a column name or expression")
        if not isinstance(ignore_empty_and_null, bool):
            raise ArgumentTypeError("ignore_empty_and_null must be a boolean")
        expression = as_expression(column)
        known = self._names
        kind = _kind(self._table, expression)
        plain = expression._node.names[0] if isinstance(expression._node, nodes.Identifier) else None
        own = expression._names[0] if expression._names else plain
        names = _output_names(output_column, kind, own)
        retained = [name for name in known if name != plain]
        if set(names) & set(retained):
            raise ArgumentError(f"output_column names conflict with retained input columns {retained}")
        table = self._table
        source = plain
        if source is None:
            source = unused("__pf_collection", known)
            table = table.add_columns(expression.alias(source))
        found = self._unnested(table, source, kind, ignore_empty_and_null)
        elements = _elements(kind, names)
        places = known if plain is not None else [*known, source]
        chosen = [each for name in places for each in (elements if name == source else [col(name)])]
        return self._of(found._table.select(*chosen))

    def _unnested(self, table: Any, source: str, kind: DataType, inner: bool) -> Self:
        """Return each row with the elements of a column, in columns with names of their own."""

        def query(made: Any) -> nodes.Query:
            unnest: nodes.TableExpression = nodes.Unnest((identifier(source),), with_ordinality=_is_of_rows(kind))
            unnest = nodes.Alias(unnest, identifier("__pf_elements"), tuple(map(identifier, _unnested_names(kind))))
            condition = None if inner else expression_of(True)._node
            join = nodes.Join("CROSS" if inner else "LEFT", made.table(table._plan), unnest, condition=condition)
            return nodes.Select((nodes.SelectItem(nodes.Star()),), join)

        return self._of(table)._queried(query)


def _kind(table: Any, expression: Expression) -> DataType:
    from scurry.table._operations.fields import operation

    made = operation(table._session, [expression])
    if made.has_aggregates(expression._node):
        raise ArgumentError("column must be a row-wise expression, not an aggregation")
    columns = made.columns(expression._node, table._plan.schema)
    if len(columns) != 1:
        raise ArgumentError("column must select a single column")
    kind = made.type(columns[0], table._plan.schema)
    if not isinstance(kind, ArrayType | MapType | MultisetType):
        raise ArgumentTypeError("column must have an ARRAY, MAP, or MULTISET type")
    return kind


def _output_names(given: Any, kind: DataType, own: str | None) -> list[str]:
    wanted = 2 if isinstance(kind, MapType) else 1
    if given is None:
        if wanted > 1:
            raise ArgumentError("output_column is required for multiple output fields")
        if own is None:
            raise ArgumentError("output_column is required for an expression without an alias")
        return [own]
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, list):
        raise ArgumentTypeError("output_column must be a string or list of strings")
    if not all(isinstance(each, str) for each in names):
        raise ArgumentTypeError("output_column must contain only strings")
    if len(names) != wanted:
        raise ArgumentError(f"output_column must contain {wanted} name(s)")
    if not all(names) or len(set(names)) != len(names):
        raise ArgumentError("output_column names must be non-empty and unique")
    return names


def _is_of_rows(kind: DataType) -> bool:
    return isinstance(kind, ArrayType | MultisetType) and isinstance(kind.element_type, RowType)


def _unnested_names(kind: DataType) -> list[str]:
    if isinstance(kind, ArrayType | MultisetType) and isinstance(kind.element_type, RowType):
        return [*(f"__pf_field_{place}" for place in range(len(kind.element_type.fields))), _ORDINAL]
    return ["__pf_key", "__pf_value"] if isinstance(kind, MapType) else ["__pf_element"]


def _elements(kind: DataType, names: Sequence[str]) -> list[Expression]:
    """Return the elements as columns; the fields of rows, which UNNEST makes columns, are rows again."""
    columns = [col(each) for each in _unnested_names(kind)]
    if isinstance(kind, ArrayType | MultisetType) and isinstance(kind.element_type, RowType):
        row_type = kind.element_type.nullable()
        row = call("ROW", *columns[:-1]).cast(row_type)
        columns = [call("CASE", columns[-1].is_null, null_of(row_type), row)]
    return [column.alias(name) for column, name in zip(columns, names, strict=True)]
