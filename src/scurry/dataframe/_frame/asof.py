"""Joins with the version of a row that was valid at a time."""

from __future__ import annotations

from typing import Any, Self

from scurry.dataframe._frame.base import column_of, identifier, refuse_unknown, require_frame, unused
from scurry.dataframe._frame.joining import JoinMethods, keys_of, names_in, refuse_common
from scurry.errors import ArgumentError, ArgumentTypeError
from scurry.sql.syntax import nodes
from scurry.table.expression import Expression
from scurry.table.expressions import col

_MISSING = "on is required: pf.proctime(), or a time column of the left DataFrame"


class AsOfMethods(JoinMethods, check_arguments=False):
    """Joins with the version of a row that was valid at a time."""

    def join_asof(
        self,
        other: Self,
        *,
        how: str = "inner",
        on: Any = None,
        by: Any = None,
        left_by: Any = None,
        right_by: Any = None,
    ) -> Self:
        """Return each row with the version of the other DataFrame's row that was valid at its time.

        That is SQL's `JOIN ... FOR SYSTEM_TIME AS OF`: with the event time of this one, the other one has versions (a
        primary key and an event time); with processing time it is a table that can be looked up.

        Args:
            other: The other DataFrame.
            how: `inner`, or `left` to keep rows without a partner.
            on: The time: the event-time or processing-time column of this one, or `proctime()`.
            by: The key or keys that both have, or a condition with an equality.
            left_by: The key or keys of this one, where they have other names.
            right_by: Those of the other one.

        Raises:
            TypeError: An argument is something else.
            ValueError: The arguments do not go together, or a column does not exist.
        """
        require_frame(other, type(self), "other must be a pyflink.dataframe.DataFrame")
        if not isinstance(how, str):
            raise ArgumentTypeError("how must be a string")
        if how not in ("inner", "left"):
            raise ArgumentError('how must be one of "inner" or "left"')
        if other._table._environment is not self._table._environment:
            raise ArgumentError("DataFrames must belong to the same TableEnvironment")
        if not isinstance(on, str | Expression):
            raise ArgumentTypeError(_MISSING)
        left, right = self._names, other._names
        keys = keys_of(left, right, by, left_by, right_by, ("by", "left_by", "right_by"))
        refuse_common(left, right, keys.shared, "join_asof()")
        if isinstance(on, Expression) and _is_now(on):
            name = unused("__pf_proctime", [*left, *right])
            frame = self._of(self._table.add_columns(on.alias(name)))
            joined = frame._pairs(other, keys, how.upper(), identifier(name))
            return self._of(joined._table.drop_columns(col(name)))
        time = column_of(on)
        if time is None:
            raise ArgumentError(_MISSING)
        refuse_unknown("on", time, left)
        used = {name for one, _ in keys.pairs for name in names_in(one._node)}
        if time in used:
            raise ArgumentError(f"the time column '{time}' must not be a key")
        return self._pairs(other, keys, how.upper(), identifier(time))


def _is_now(on: Expression) -> bool:
    return isinstance(on._node, nodes.Call) and on._node.name.last == "PROCTIME"


def proctime() -> Expression:
    """Return the processing time, for `join_asof`."""
    from scurry.table.expressions import call

    return call("PROCTIME")
