"""Parts of a savepoint that stores read by themselves, so that restored state takes no exchange."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from scurry._dataclasses import dataclass
from scurry.graph.plan import JobPlan
from scurry.runtime.exchange.wire import RESTORE, WireRow, pack
from scurry.runtime.savepoint.entries import EntryFile

if TYPE_CHECKING:
    from scurry.runtime.savepoint.restore import StateDistributor

#: A store: that of an operator, by its number, in one of its subtasks.
Target = tuple[int, int]


@dataclass(frozen=True)
class RestoreShare:
    """Share of one store in a file of pages, which its task reads.

    Attributes:
        distributor: Converts entries, and says which of them the store takes.
        row_groups: Those with entries for the store.
    """

    distributor: StateDistributor
    target: Target
    file: EntryFile
    row_groups: tuple[int, ...]

    def rows(self, plan: JobPlan) -> Iterator[WireRow]:
        operator, subtask = self.target
        yield WireRow(plan.subtask_ids[subtask], operator, RESTORE, 0, 0, pack(self))

    def entries(self) -> Iterator[tuple[str, int, bytes]]:
        """Yield kind, id and content of the entries."""
        return self.distributor.taken_by(self.target, self.file.read(self.row_groups))


class RowGroup(NamedTuple):
    """A row group of a file, and the stores that read it."""

    file: EntryFile
    number: int
    readers: list[Target]


def limited(row_groups: Iterable[RowGroup], limit: int) -> Iterator[list[RowGroup]]:
    """Yield row groups in lists of limited size, a larger one by itself."""
    some: list[RowGroup] = []
    size = 0
    for each in row_groups:
        bytes_of_it = each.file.row_groups[each.number]
        if some and size + bytes_of_it > limit:
            yield some
            some, size = [], 0
        some.append(each)
        size += bytes_of_it
    if some:
        yield some


def shares(distributor: StateDistributor, row_groups: Iterable[RowGroup]) -> Iterator[RestoreShare]:
    """Yield the share of each store in each file."""
    found: dict[tuple[str, Target], list[RowGroup]] = {}
    for each in row_groups:
        for target in each.readers:
            found.setdefault((each.file.path, target), []).append(each)
    for (_, target), some in found.items():
        yield RestoreShare(distributor, target, some[0].file, tuple(each.number for each in some))
