"""Evolution: changes of the columns of captured tables, and how sinks follow them, as Flink CDC's behaviors say."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

from scurry._dataclasses import dataclass
from scurry.connectors.cdc.capture import TableId
from scurry.errors import ValidationError
from scurry.sql import types
from scurry.sql.pipelines.changes import ColumnHistory
from scurry.sql.pipelines.columns import TableColumns
from scurry.sql.types import DataType
from scurry.sql.types.common_type import find_common_type

BEHAVIORS = ("lenient", "evolve", "try_evolve", "ignore", "exception")
#: The kinds of changes, as `include.schema.changes` names them.
CHANGES = (
    "add.column",
    "alter.column.type",
    "create.table",
    "drop.column",
    "drop.table",
    "rename.column",
    "truncate.table",
)
_ADD, _ALTER, _DROP, _RENAME = "add.column", "alter.column.type", "drop.column", "rename.column"
_STRING = types.VarCharType(types.MAX_LENGTH)
_TEXTS = (types.VarCharType, types.CharType)


def changes_of(tags: Sequence[str]) -> frozenset[str]:
    """Return the kinds of changes that tags name: a kind, or a part of some, such as `drop` or `column`.

    Raises:
        ValueError: A tag names none.
    """
    found = set[str]()
    for tag in tags:
        wanted = tag.strip().lower().removesuffix(".event")
        named = {each for each in CHANGES if wanted in ("all", each) or wanted in each.split(".")}
        if not named and wanted != "none":
            raise ValueError(f"'{tag}' is no change of schemas; there are {', '.join(CHANGES)}")
        found |= named
    return frozenset(found)


@dataclass(frozen=True)
class Evolution:
    """The columns with which the rows of a table go on.

    Attributes:
        source: The columns of the table now.
        columns: Those of rows before the transform.
        former: Names of columns that are renamed, with their earlier names, which earlier changes have.
        version: Counts the changes.
    """

    source: TableColumns
    columns: TableColumns
    former: tuple[tuple[str, str], ...] = ()
    version: int = 0

    @staticmethod
    def of(columns: TableColumns) -> Evolution:
        """Return the beginning."""
        return Evolution(columns, columns)

    def to_json(self) -> list[Any]:
        """Return JSON-able data."""
        return [self.source.to_json(), self.columns.to_json(), list(map(list, self.former)), self.version]

    def earlier_names(self, name: str) -> Iterator[str]:
        """Yield the names that a column had, the last one first."""
        known = dict(self.former)
        while (earlier := known.pop(name, None)) is not None:
            yield earlier
            name = earlier

    @staticmethod
    def of_json(data: Sequence[Any]) -> Evolution:
        """Return the evolution that some data describe."""
        source, columns, former, version = data
        pairs = tuple((name, earlier) for name, earlier in former)
        return Evolution(TableColumns.of_json(source), TableColumns.of_json(columns), pairs, version)


@dataclass(frozen=True)
class Rules:
    """The consequences of a change of columns.

    Attributes:
        behavior: One of `BEHAVIORS`.
        accepted: The kinds of changes that go on to the sink.
    """

    behavior: str = "lenient"
    accepted: frozenset[str] = frozenset(CHANGES)

    def evolved(
        self,
        table: TableId,
        known: Evolution,
        now: TableColumns,
        able: Collection[str],
        alters: Callable[[DataType, DataType], bool],
        is_shared: bool = False,
    ) -> Evolution:
        """Return the columns with which rows go on, after those of the table are others.

        Args:
            table: The table.
            known: The columns until now.
            now: The columns of the table.
            able: The kinds of changes that the sink can follow.
            alters: Whether the sink can change a type to another one.
            is_shared: Whether other tables go to the same table of the sink, which then only gets more columns.

        Raises:
            ValidationError: The job does not go on with the change.
        """
        step = _Step(self, table, known, now, able, alters, is_shared)
        return step.evolution()


class _Step:
    def __init__(
        self,
        rules: Rules,
        table: TableId,
        known: Evolution,
        now: TableColumns,
        able: Collection[str],
        alters: Callable[[DataType, DataType], bool],
        is_shared: bool,
    ) -> None:
        self._rules, self._table, self._known, self._now = rules, table, known, now
        self._able, self._alters, self._is_shared = able, alters, is_shared
        source = known.source
        self._renamed = _renamed(source, now)
        names = dict(self._renamed)
        kept = [names.get(each, each) for each in source.names]
        self._lost = [each for each in source.names if each not in now.names and each not in names]
        self._new = [each for each in now.names if each not in kept]
        self._other = [
            name
            for earlier in source.names
            if (name := names.get(earlier, earlier)) in now.names and source.type_of(earlier) != now.type_of(name)
        ]

    def evolution(self) -> Evolution:
        known, columns, former = self._known, self._known.columns, dict(self._known.former)
        if not (self._renamed or self._lost or self._new or self._other):
            return replace(known, source=self._now)
        if self._rules.behavior == "exception":
            self._refuse("'schema.change.behavior' is exception")
        if self._rules.behavior == "ignore":
            return replace(known, source=self._now)
        for earlier, name in self._renamed:
            if earlier in columns.names and self._follows(_RENAME):
                columns = columns.renamed(earlier, name)
                former[name] = earlier
            elif self._accepts(_RENAME):
                self._new.append(name)
                self._lost.append(earlier)
        for name in self._lost:
            if name in columns.names and name in columns.key:
                self._refuse(f"'{name}' is of the primary key")
            if name in columns.names and self._follows(_DROP):
                columns = columns.without(name)
        for name in self._new:
            if name not in columns.names and (self._accepts(_ADD) or name in dict(self._renamed).values()):
                columns = columns.added(name, self._now.type_of(name).nullable())
            former.pop(name, None)
        for name in self._other:
            if name in columns.names:
                columns = columns.altered(name, self._type_after(name, columns.type_of(name)))
        return Evolution(self._now, columns, tuple(former.items()), known.version + (columns != known.columns))

    def _accepts(self, kind: str) -> bool:
        return kind in self._rules.accepted

    def _follows(self, kind: str) -> bool:
        """Return whether a column is renamed or dropped in the sink."""
        if not self._accepts(kind) or self._rules.behavior == "lenient" or self._is_shared:
            return False
        if kind in self._able:
            return True
        if self._rules.behavior == "evolve":
            self._refuse(f"the sink has no {kind}")
        return False

    def _type_after(self, name: str, earlier: DataType) -> DataType:
        wanted = self._now.type_of(name)
        common = find_common_type([earlier, wanted])
        if common is None and (isinstance(earlier, _TEXTS) or isinstance(wanted, _TEXTS)):
            common = _STRING
        if common is not None and common.nullable() == earlier.nullable():
            return earlier  # it holds the values of the new type
        if not self._accepts(_ALTER) or self._is_shared:
            return earlier
        if common is not None and _ALTER in self._able and self._alters(earlier, common):
            return common
        if self._rules.behavior == "evolve":
            self._refuse(f"the sink cannot change {earlier} to {wanted}")
        return earlier

    def _refuse(self, why: str) -> None:
        renamed = [f"{earlier} to {name}" for earlier, name in self._renamed]
        what = [
            ("has new columns", self._new),
            ("has lost columns", self._lost),
            ("has renamed columns", renamed),
            ("has other types of columns", self._other),
        ]
        listed = "; ".join(f"{text} {', '.join(names)}" for text, names in what if names)
        raise ValidationError(f"table {self._table.path} {listed}: {why}").with_hint(
            "'schema.change.behavior': lenient goes on: new columns are added, lost ones get NULL"
        )


def _renamed(earlier: TableColumns, now: TableColumns) -> list[tuple[str, str]]:
    """Return the columns that have another name, by their ids.

    Without ids, columns of other names between the same two columns are the same ones if their types are.
    """
    if earlier.ids and now.ids:
        names = dict(zip(now.ids, now.names, strict=True))
        pairs = [(name, names.get(id, name)) for id, name in zip(earlier.ids, earlier.names, strict=True)]
        return [(old, new) for old, new in pairs if old != new]
    found = list[tuple[str, str]]()
    gaps, other_gaps = _gaps(earlier, now), _gaps(now, earlier)
    for before, gap in gaps.items():
        other = other_gaps.get(before, [])
        if list(map(earlier.type_of, gap)) == list(map(now.type_of, other)):
            found += zip(gap, other, strict=True)
    return found


def _gaps(columns: TableColumns, others: TableColumns) -> dict[str, list[str]]:
    """Return the columns that others lack, by the column before them that others have."""
    gaps, before = dict[str, list[str]](), ""
    for name in columns.names:
        if name in others.names:
            before = name
        else:
            gaps.setdefault(before, []).append(name)
    return gaps


def history_of(earlier: TableColumns, now: TableColumns, evolution: Evolution) -> ColumnHistory:
    """Return how the columns of a sink change.

    Args:
        earlier: The columns until now.
        now: The columns that there are to be.
        evolution: The names that columns had.
    """
    lost = [name for name in earlier.names if name not in now.names]
    names = {
        old: name
        for name in now.names
        if name not in earlier.names and (old := next(filter(lost.__contains__, evolution.earlier_names(name)), None))
    }
    altered = [
        new
        for old in earlier.names
        if (new := names.get(old, old)) in now.names and earlier.type_of(old).nullable() != now.type_of(new).nullable()
    ]
    dropped = tuple(name for name in lost if name not in names)
    return ColumnHistory(tuple(names.items()), dropped, tuple(altered))
