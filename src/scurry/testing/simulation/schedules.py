"""Schedules: the input of a simulated run and its faults, drawn from a seed or written down in a test."""

from __future__ import annotations

import random
from dataclasses import replace

from scurry._dataclasses import dataclass

__all__ = ["KINDS", "KINDS_OF_STORES", "Fault", "Schedule"]

#: Kind of a fault -> how often it is drawn.
KINDS = {
    "kill": 5,
    "crash": 3,
    "fail": 4,
    "tear": 2,
    "full": 1,
    "clock": 2,
    "savepoint": 2,
    "rescale": 3,
    "stop": 2,
    "second": 1,
    "change": 1,
}
#: Those of programs whose files are in an object store.
KINDS_OF_STORES = {**KINDS, "old": 5}
#: Maximum of the faults of a run, and of the partitions of its input.
_MOST_FAULTS, _MOST_PARTITIONS = 6, 4
#: Maximum of the number of a version that a `change` draws.
_MOST_VERSIONS = 3
#: Bounds of a jump of the clock, in seconds: a day.
_JUMP = 86_400
#: Age of a listing, in operations.
_OLDEST = 150
#: Parallelism of a job that is rescaled.
_MOST_SUBTASKS = 5


@dataclass(frozen=True, order=True)
class Fault:
    """A fault or request of a schedule.

    Attributes:
        at: The number of the operation at which it happens, or the first one after it to which it can happen.
        kind: `kill`: the process dies; `crash`: the machine does, with all that was not forced to its disk; `fail`: a
            file, source or sink raises an error; `tear`: a file is written in part, then the process dies; `full`: the
            disk is full once; `clock`: the wall clock jumps; `savepoint`: one is taken, and restored at the end;
            `rescale`: the job goes on at another parallelism; `stop`: it ends with a savepoint, and another job goes on
            from it; `second`: another driver starts on the checkpoint directory, and has to be refused; `change`: the
            process dies, and the next one has another version of the program; `old`: an object store lists the objects
            of some operations ago.
        amount: Seconds of a jump of the clock, the parallelism of `rescale`, the version of `change`, the operations
            of `old`.
    """

    at: int
    kind: str
    amount: int = 0

    def __str__(self) -> str:
        """Return the expression that makes the fault, in a test."""
        return f"Fault({self.at}, {self.kind!r}{f', {self.amount}' if self.amount else ''})"


@dataclass(frozen=True)
class Schedule:
    """A simulated run: the same one always does the same.

    Attributes:
        seed: Decides what is left to chance: how much a source gives, how much of a file is written.
        records: The number of records of the input.
        partitions: The number of partitions of its source.
        parallelism: The parallelism at the start.
        faults: The faults.
    """

    seed: int
    records: int = 20
    partitions: int = 2
    parallelism: int = 2
    faults: tuple[Fault, ...] = ()

    @classmethod
    def of_seed(cls, seed: int, records: int, operations: int, kinds: dict[str, int] | None = None) -> Schedule:
        """Draw a schedule.

        Args:
            seed: Decides all.
            records: The largest number of records.
            operations: About how many operations the job has without faults.
            kinds: Kind of a fault -> its weight; all kinds if not given.
        """
        chance, kinds = random.Random(seed), KINDS if kinds is None else kinds
        faults = []
        for kind in chance.choices(list(kinds), list(kinds.values()), k=chance.randint(0, _MOST_FAULTS)):
            amount = 0
            if kind == "clock":
                amount = chance.randint(-_JUMP, _JUMP)
            elif kind == "rescale":
                amount = chance.randint(1, _MOST_SUBTASKS)
            elif kind == "change":
                amount = chance.randint(0, _MOST_VERSIONS)
            elif kind == "old":
                amount = chance.randint(1, _OLDEST)
            faults.append(Fault(chance.randint(1, max(1, operations)), kind, amount))
        return cls(
            seed,
            chance.randint(1, records),
            chance.randint(1, _MOST_PARTITIONS),
            chance.randint(1, _MOST_SUBTASKS - 1),
            tuple(sorted(faults)),
        )

    def smaller(self) -> list[Schedule]:
        """Return schedules that are simpler in one respect, the simplest first."""
        faults, found = self.faults, []
        if len(faults) > 1:
            half = len(faults) // 2
            found += [replace(self, faults=faults[half:]), replace(self, faults=faults[:half])]
        found += [replace(self, faults=faults[:i] + faults[i + 1 :]) for i in range(len(faults))]
        found += [replace(self, records=n) for n in sorted({self.records // 2, self.records - 1}) if n > 0]
        found += [replace(self, partitions=n) for n in range(1, self.partitions)]
        found += [replace(self, parallelism=n) for n in range(1, self.parallelism)]
        for i, fault in enumerate(faults):
            earlier = sorted({fault.at // 2, fault.at - 1} - {0, fault.at})
            found += [replace(self, faults=(*faults[:i], replace(fault, at=at), *faults[i + 1 :])) for at in earlier]
            if fault.kind in ("clock", "old") and fault.amount // 2:
                smaller = replace(fault, amount=int(fault.amount / 2))
                found.append(replace(self, faults=(*faults[:i], smaller, *faults[i + 1 :])))
        return found

    def __str__(self) -> str:
        """Return the expression that makes the schedule, in a test."""
        faults = "".join(f"{each}, " for each in self.faults)
        sizes = f"records={self.records}, partitions={self.partitions}, parallelism={self.parallelism}"
        return f"Schedule({self.seed}, {sizes}, faults=({faults.rstrip()}))"
