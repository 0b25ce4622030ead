"""Methods that assign windows of time to rows: the windowing table-valued functions of SQL."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any, Self

from scurry.dataframe._frame.base import FrameBase, as_expression, column_of, identifier, unused
from scurry.errors import ArgumentError, ArgumentTypeError
from scurry.sql.syntax import nodes
from scurry.sql.values.literals import interval_text
from scurry.table._expression.syntax import parsed
from scurry.table.expression import Expression
from scurry.table.expressions import col


class WindowMethods(FrameBase, check_arguments=False):
    """Methods that assign windows of time to rows.

    Each appends the columns `window_start`, `window_end` (the first time after it) and `window_time` (the last time in
    it, the event time of what follows). `group_by("window_start", "window_end", ...)` aggregates by windows.
    """

    def tumble(self, *, on: str | Expression, size: datetime.timedelta | Expression) -> Self:
        """Assign windows of one size, one after the other.

        Args:
            on: The time column.
            size: The size: a timedelta, or an interval such as `pf.lit(10).minutes`.

        Raises:
            TypeError: An argument is something else.
            ValidationError: The column is no time column.
        """
        return self._windowed("TUMBLE", on, [size])

    def hop(
        self, *, on: str | Expression, slide: datetime.timedelta | Expression, size: datetime.timedelta | Expression
    ) -> Self:
        """Assign windows of one size that begin at regular times: a row may be in several, or in none.

        Args:
            on: The time column.
            slide: The time between two beginnings: a timedelta, or an interval.
            size: The size, as well.

        Raises:
            TypeError: An argument is something else.
            ValidationError: The column is no time column.
        """
        return self._windowed("HOP", on, [slide, size])

    def cumulate(
        self, *, on: str | Expression, step: datetime.timedelta | Expression, size: datetime.timedelta | Expression
    ) -> Self:
        """Assign windows that grow in steps up to a size, and then begin anew.

        Args:
            on: The time column.
            step: By how much they grow: a timedelta, or an interval.
            size: The greatest size, a multiple of the step.

        Raises:
            TypeError: An argument is something else.
            ValidationError: The column is no time column.
        """
        return self._windowed("CUMULATE", on, [step, size])

    def session(self, *, on: str | Expression, gap: datetime.timedelta | Expression, partition_by: Any = None) -> Self:
        """Assign windows of rows that follow each other with less than a gap of time between them.

        Args:
            on: The time column.
            gap: The gap that ends a window: a timedelta, or an interval.
            partition_by: Columns or expressions of keys, each with windows of its own; None for windows of all rows.

        Raises:
            TypeError: An argument is something else.
            ValidationError: The column is no time column.
        """
        keys = (
            [] if partition_by is None else partition_by if isinstance(partition_by, list | tuple) else [partition_by]
        )
        if not all(isinstance(each, str | Expression) for each in keys):
            raise ArgumentTypeError("partition_by must be a column name, expression, or a list of them")
        return self._windowed("SESSION", on, [gap], list(map(as_expression, keys)))

    def _windowed(self, kind: str, on: Any, lengths: Sequence[Any], keys: Sequence[Expression] = ()) -> Self:
        if not isinstance(on, str | Expression):
            raise ArgumentTypeError("on must be a column name or expression")
        intervals = list(map(_interval, lengths))
        time = column_of(on)
        if time is None:
            raise ArgumentError(f"on must be a time column, got {on}: windows are of rowtime or proctime columns")
        names, table = self._names, self._table
        computed = [each for each in keys if column_of(each) is None]
        added = [each.alias(unused(f"__pf_key_{place}", names)) for place, each in enumerate(computed)]
        if added:
            table = table.add_columns(*added)
        plain = [identifier(column_of(each) or "") for each in keys if column_of(each) is not None]
        partition = (*plain, *(identifier(each._names[0]) for each in added))

        def query(made: Any) -> nodes.Query:
            given = nodes.TableArgument(made.table(table._plan), partition or None)
            arguments = (given, nodes.Descriptor((identifier(time),)), *(each._node for each in intervals))
            function = nodes.TableFunction(nodes.Call(identifier(kind), arguments))
            return nodes.Select((nodes.SelectItem(nodes.Star()),), function)

        found = self._of(table)._queried(query, intervals)
        return self._of(found._table.drop_columns(*(col(each._names[0]) for each in added))) if added else found


def _interval(length: Any) -> Expression:
    """Return a length of time as an interval, of whole milliseconds."""
    if isinstance(length, datetime.timedelta):
        return Expression(parsed(interval_text(length // datetime.timedelta(milliseconds=1))))
    if isinstance(length, Expression):
        return length
    raise ArgumentTypeError("interval must be a datetime.timedelta or Expression")
