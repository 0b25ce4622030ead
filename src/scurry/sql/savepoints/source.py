"""SavepointSource: the keys of an operator in a savepoint, each a row with the values of its states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from scurry._dataclasses import dataclass
from scurry.runtime.keys import original_key
from scurry.runtime.savepoint.contents import keys_in, states_in, unexpired
from scurry.runtime.savepoint.entries import EntryFile
from scurry.runtime.savepoint.format import Entry
from scurry.runtime.savepoint.naming import no_state
from scurry.runtime.savepoint.reading import Savepoint, open_savepoint
from scurry.runtime.state.expiry import Lifetime
from scurry.runtime.state.layout import GROUP_SHIFT
from scurry.sql.connectors.contract import Changes, TableSource
from scurry.sql.savepoints.columns import StateColumn
from scurry.sql.types.values import batch_of_columns

#: Rows of a batch of columns.
_ROWS = 4096
#: Bytes of state that a task holds at once, unless one key group has more: all runs of a group are needed to know the
#: newest entry of a key.
SPLIT_BYTES = 32 << 20


class Split(NamedTuple):
    """Some key groups of an operator in a file of a savepoint.

    Attributes:
        row_groups: Its row groups that have entries of these key groups.
        end: The key group after the last one.
    """

    file: EntryFile
    row_groups: tuple[int, ...]
    first: int
    end: int


@dataclass(frozen=True)
class SavepointSource(TableSource):
    """Read the keyed state of an operator.

    Attributes:
        lifetimes: The lifetimes of states with a time to live, by name.
        now: When the savepoint was taken, in milliseconds; state that had expired by then has no rows.
        allow_untrusted: Whether it is read although other users could have written it.
        names_are_known: Whether the names of states were compared with the schemas of the savepoint; one that was
            written without descriptors has none.
    """

    path: str
    uid: str
    declared: tuple[StateColumn, ...]
    lifetimes: Mapping[str, Lifetime]
    now: int
    max_parallelism: int
    allow_untrusted: bool = False
    names_are_known: bool = True

    def splits(self) -> list[Any]:
        """Compare all files with the savepoint's manifest; return ranges of key groups of those with state.

        Raises:
            SavepointError: It is damaged, or others could have written it.
            StateNotFoundError: No key has a state of the table.
        """
        savepoint = open_savepoint(self.path, self.allow_untrusted)
        if not self.names_are_known:
            self._check_names(savepoint)
        return [split for file in savepoint.files_of("page") for split in self._splits(file)]

    def _check_names(self, savepoint: Savepoint) -> None:
        """Read keys until each state of the table was among theirs: all of them only if one is not."""
        missing, seen = {column.state for column in self.declared if column.state is not None}, set[str]()
        for _, entry in keys_in(savepoint.entries({self.uid}, ("page",))):
            states = states_in(entry)
            seen.update(states)
            missing.difference_update(states)
            if not missing:
                return
        if seen:
            raise no_state(self.uid, min(missing), sorted(seen))

    def _splits(self, file: EntryFile) -> Iterator[Split]:
        spans = file.digest.spans
        if not spans:  # of an earlier release
            yield Split(file, tuple(range(len(file.row_groups))), 0, self.max_parallelism)
            return
        own = sorted((spans[number][self.uid], number) for number in range(len(spans)) if self.uid in spans[number])
        if not own:
            return
        last = max(high for (_, high), _ in own)
        first, held = own[0][0][0], 0
        for (_, high), number in own:
            held += file.row_groups[number]
            if held >= SPLIT_BYTES and first <= high < last:
                yield self._split(file, first, high + 1)
                first, held = high + 1, 0
        yield self._split(file, first, last + 1)

    def _split(self, file: EntryFile, first: int, end: int) -> Split:
        within = [
            number
            for number, spans in enumerate(file.digest.spans)
            if self.uid in spans and spans[self.uid][0] < end and spans[self.uid][1] >= first
        ]
        return Split(file, tuple(within), first, end)

    def read(self, split: Split, columns: Sequence[str]) -> Iterator[Changes]:
        """Yield the keys of some key groups that have any of the table's states.

        Raises:
            SavepointError: The file has changed, or a class of its values is not found.
            TypeMismatchError: A value is none of the type of its column.
        """
        by_name = {column.name: column for column in self.declared}
        wanted = [by_name[name] for name in columns]
        rows = self._rows(split, wanted)
        while some := list(islice(rows, _ROWS)):
            arrays = [
                column.array(values, self.uid) for column, values in zip(wanted, zip(*some, strict=True), strict=True)
            ]
            yield Changes(batch_of_columns(arrays, columns, len(some)))

    def _rows(self, split: Split, wanted: Sequence[StateColumn]) -> Iterator[list[Any]]:
        shown = {column.state for column in self.declared if column.state is not None}
        for key, entry in keys_in(self._entries(split)):
            states = states_in(unexpired(entry, self.lifetimes, self.now))
            if not shown.isdisjoint(states) if shown else states:
                yield [column.value(original_key(key), states) for column in wanted]

    def _entries(self, split: Split) -> Iterator[Entry]:
        for entry in split.file.read(split.row_groups):
            if entry.uid == self.uid and split.first <= entry.id >> GROUP_SHIFT < split.end:
                yield entry
