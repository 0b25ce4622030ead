"""The nodes of TO_CHANGELOG and FROM_CHANGELOG, which make a column of the kinds of changes, and back."""

from __future__ import annotations

from scurry._dataclasses import dataclass
from scurry.sql.plan import builders
from scurry.sql.plan.expressions import Expression, Literal
from scurry.sql.plan.nodes import OneInput, Plan, Values
from scurry.sql.plan.schema import Schema


@dataclass(frozen=True)
class ChangelogFunction(OneInput):
    """A call of one of the two functions.

    Attributes:
        codes: The codes of kinds with the kinds, values of `RowKind`, that they stand for.
        op: The argument `op`, the name of the column of codes; None without one.
        mapping: The argument `op_mapping`; None without one.
        time: The position in the input of the column that `on_time` names; None without one.
        uid: The argument `uid`; None without one.
    """

    codes: tuple[tuple[str, int], ...]
    op: str | None
    mapping: Expression | None
    time: int | None
    uid: str | None
    output: Schema

    @property
    def schema(self) -> Schema:
        return self.output


@dataclass(frozen=True)
class ToChangelog(ChangelogFunction):
    """Changes as inserted rows: the code of the kind, then the columns; changes of kinds without a code are dropped."""


@dataclass(frozen=True)
class FromChangelog(ChangelogFunction):
    """Inserted rows as the changes that their codes say, without the column of codes."""

    @property
    def place(self) -> int:
        """Return the position of the column of codes in the input."""
        return self.input.schema.names.index(self.op or OP)

    @property
    def columns_kept(self) -> list[int]:
        """Return the positions of the other columns in the input."""
        return [place for place in range(len(self.input.schema)) if place != self.place]


#: The column of codes without the argument `op`.
OP = "op"
_INSERT = 0


def of_insertions(plan: ToChangelog) -> Plan:
    """Return the rows of TO_CHANGELOG on bounded input, all of which are inserted."""
    code = {kind: code for code, kind in plan.codes}.get(_INSERT)
    if code is None:
        return Values(plan.schema, ())
    columns = builders.columns(plan.input)
    times = [] if plan.time is None else [columns[plan.time]]
    codes = Literal(code, plan.schema[0].type)
    return builders.project(plan.input, [codes, *columns, *times], plan.schema.names)
