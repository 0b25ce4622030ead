"""The layout of printed results: that of Flink's `TableauStyle`."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from scurry.common.types import RowKind
from scurry.sql import types
from scurry.sql.catalog.schema import ResolvedSchema
from scurry.sql.statements.display.values import shown_value

_NULL = "<NULL>"
_WIDEST = 30
_CUT = "..."
_WIDTHS: dict[type[types.DataType], int] = {
    types.TinyIntType: 4,
    types.SmallIntType: 6,
    types.IntType: 11,
    types.BigIntType: 20,
    types.BooleanType: 5,
    types.DateType: 10,
}

Rows = Iterable[tuple[int, Sequence[Any]]]


def query_lines(
    schema: ResolvedSchema, rows: Rows, with_kinds: bool, time_zone: str, widest: int = _WIDEST
) -> Iterator[str]:
    """Yield the lines of a query's result; columns are as wide as their types need.

    Args:
        rows: The kind of change and the values of each row.
        with_kinds: Whether the kinds are shown.
        widest: Width of columns whose type limits no width.
    """
    names = schema.get_column_names()
    widths = [
        max(len(name), len(_NULL), column_width(kind, widest))
        for name, kind in zip(names, schema.get_column_data_types(), strict=True)
    ]
    if with_kinds:
        names, widths = ["op", *names], [2, *widths]
    texts = _texts(schema, time_zone)
    return _table(names, widths, (_shown(row, texts, with_kinds) for row in rows))


def data_lines(schema: ResolvedSchema, rows: Rows, time_zone: str) -> Iterator[str]:
    """Yield the lines of any other result; columns are as wide as their values, and NULL is empty.

    Args:
        rows: The kind of change and the values of each row.
    """
    texts = _texts(schema, time_zone)
    shown = [["" if v is None else t(v) for v, t in zip(values, texts, strict=True)] for _, values in rows]
    names = schema.get_column_names()
    widths = [max([display_width(name), *(display_width(row[i]) for row in shown)]) for i, name in enumerate(names)]
    return _table(names, widths, shown)


def _texts(schema: ResolvedSchema, time_zone: str) -> list[Callable[[Any], str]]:
    return [shown_value(kind, time_zone) for kind in schema.get_column_data_types()]


def _shown(row: tuple[int, Sequence[Any]], texts: Sequence[Callable[[Any], str]], with_kinds: bool) -> list[str]:
    cells = [_NULL if value is None else text(value) for value, text in zip(row[1], texts, strict=True)]
    return [str(RowKind(row[0])), *cells] if with_kinds else cells


def column_width(data_type: types.DataType, widest: int) -> int:
    """Return the width of a query's column: the width of its type, or `widest` without a limit."""
    if isinstance(data_type, types.DecimalType):
        return data_type.precision + 2
    if isinstance(data_type, types.TimeType):
        return 8 if data_type.precision == 0 else data_type.precision + 9
    if isinstance(data_type, types.TimestampType | types.LocalZonedTimestampType):
        # As wide as whole groups of three digits, as in Flink.
        return 19 if data_type.precision == 0 else 20 + 3 * math.ceil(data_type.precision / 3)
    return _WIDTHS.get(type(data_type), widest)


def _table(names: Sequence[str], widths: Sequence[int], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    border = border_line(widths)
    count = 0
    for row in rows:
        if count == 0:
            yield from (border, cells_line(names, widths), border)
        yield cells_line(row, widths)
        count += 1
    if count == 0:
        yield "Empty set"
        return
    yield border
    yield f"{count} row{'s' * (count != 1)} in set"


def border_line(widths: Sequence[int]) -> str:
    """Return the line above and below the names of columns of some widths."""
    return "+" + "".join("-" * (width + 2) + "+" for width in widths)


def cells_line(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Return the line of a row; texts too long for their column are cut."""
    return "|" + "".join(f" {_cell(cell, width)} |" for cell, width in zip(cells, widths, strict=True))


def _cell(text: str, width: int) -> str:
    free = width - display_width(text)
    return " " * free + text if free >= 0 else _cut(text, width - len(_CUT)) + _CUT


def _cut(text: str, width: int) -> str:
    """Return the beginning of a text, filled up with blanks on the left where a wide character does not fit."""
    used, end = 0, 0
    for char in text:
        used += _char_width(char)
        if used > width:
            break
        end += 1
    part = text[:end]
    return " " * (width - display_width(part)) + part


def display_width(text: str) -> int:
    """Return how many columns of a terminal a text takes, as Flink counts: UTF-16 units, one more for wide ones."""
    return len(text) if text.isascii() else sum(map(_char_width, text))


def _char_width(char: str) -> int:
    return 1 + (char > "\uffff") + (unicodedata.east_asian_width(char) in "FW")
