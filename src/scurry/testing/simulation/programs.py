"""A simulated job with its right output, and the results of its runs."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any

from scurry._dataclasses import dataclass
from scurry.datastream import StreamExecutionEnvironment
from scurry.testing.simulation.endpoints import Endpoints
from scurry.testing.simulation.schedules import Fault, Schedule

__all__ = ["FoundFault", "Program", "Run"]


class FoundFault(AssertionError):
    """A run that went wrong.

    Attributes:
        schedule: The schedule, shrunk.
        reason: The difference.
    """

    def __init__(self, schedule: Schedule, reason: str, test: str, events: Sequence[str]) -> None:
        super().__init__(f"{reason}\n\n{test}\nthe latest events:\n  " + "\n  ".join(events))
        self.schedule, self.reason = schedule, reason


@dataclass(frozen=True)
class Program:
    """A job and its right output.

    Attributes:
        name: The name of the function that returns it, for the test that is printed.
        records: Returns the input of a size: key, record and time in milliseconds of each, in the order of arrival.
        build: Builds the job from its source and its sink. The same program is built for each process.
        expected: Returns the output for an input, in any order.
        check: Raises AssertionError for a wrong output; by default it is compared with `expected`.
        settings: Settings of the job.
        endpoints: Make the source and the sink.
        versions: Other versions of the job, which have the same output; a `change` goes on with one of them.
    """

    name: str
    records: Callable[[int, random.Random], list[tuple[Any, Any, int]]]
    build: Callable[[StreamExecutionEnvironment, Any, Any], object]
    expected: Callable[[list[tuple[Any, Any, int]]], list[Any]]
    check: Callable[[list[tuple[Any, Any, int]], list[Any]], None] | None = None
    settings: dict[str, str] = field(default_factory=dict)
    endpoints: Endpoints = field(default_factory=Endpoints)
    versions: tuple[Callable[[StreamExecutionEnvironment, Any, Any], object], ...] = ()


@dataclass(frozen=True)
class Run:
    """A run that has ended as it should.

    Attributes:
        digest: The hash of its events.
        operations: Their number.
        processes: How many processes the job had.
        dealt: The faults that happened.
        output: What was committed.
    """

    digest: str
    operations: int
    processes: int
    dealt: tuple[Fault, ...]
    output: list[Any]
