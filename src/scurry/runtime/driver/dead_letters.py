"""Samples of dead letters, for the web page and REST."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping

from scurry._dataclasses import dataclass
from scurry.common.redaction import without_secrets
from scurry.graph.plan import JobPlan
from scurry.runtime.exchange.report import DeadLetterSample

#: The number of latest samples that a job keeps.
KEPT_SAMPLES = 50


@dataclass(frozen=True)
class SampledDeadLetter:
    """A dead letter, without secrets.

    Attributes:
        timestamp_ms: When the micro-batch that had it was committed, in milliseconds since the epoch.
        operator: Label of the operator or source.
        record: The record as text, shortened.
        error: Name of the exception's class.
        message: The exception's message.
        place: Of a source, the file, or topic, partition and offset; else None.
        line: Of a source, the line in the file; else None.
    """

    timestamp_ms: int
    operator: str
    subtask: int
    record: str
    error: str
    message: str
    place: str | None
    line: int | None


class DeadLetters:
    """The latest samples of a job.

    Args:
        plan: A plan of the program.
        clock: Returns seconds since the epoch.
    """

    def __init__(self, plan: JobPlan, clock: Callable[[], float] = time.time) -> None:
        self._labels = plan.labels()
        self._configuration: Mapping[str, str] = plan.settings.configuration
        self._clock = clock
        #: the oldest first
        self.latest: deque[SampledDeadLetter] = deque(maxlen=KEPT_SAMPLES)

    def add(self, subtask: int, sample: DeadLetterSample) -> None:
        record, message = (without_secrets(text, self._configuration) for text in (sample.record, sample.message))
        self.latest.append(
            SampledDeadLetter(
                int(self._clock() * 1000),
                self._labels[sample.operator],
                subtask,
                record,
                sample.error,
                message,
                sample.place,
                sample.line,
            )
        )
