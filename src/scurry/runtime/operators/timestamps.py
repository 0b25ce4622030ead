"""The operator that assigns timestamps and generates watermarks."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from itertools import repeat
from operator import countOf, itemgetter
from typing import Any

from scurry.common.time import checked_time
from scurry.errors import TimestampError
from scurry.runtime.exchange.collector import Timestamps, Values
from scurry.runtime.exchange.record_columns import TakenApart
from scurry.runtime.exchange.wire import MAX_TIME, MIN_TIME
from scurry.runtime.failure import last_taken, operator_error
from scurry.runtime.functions.context import method
from scurry.runtime.functions.fields import time_field
from scurry.runtime.operators.base import RuntimeOperator

#: Bounds of timestamps that are days of 1970 in milliseconds, and of 1985 to 2096 in seconds.
_EARLIEST_SECONDS, _LATEST_SECONDS = 500_000_000, 4_000_000_000

_CONVERSIONS = {
    "None": "returned nothing: return the record's time in milliseconds",
    "datetime": "returned a datetime: return int(x.timestamp() * 1000); one without a time zone is local time",
    "int": "must return milliseconds: divide microseconds by 1000, and nanoseconds by 1_000_000",
    "number": "returned no int: return int(x), or int(x * 1000) if x is seconds",
    "other": "must return the time as an int: parse text with datetime.fromisoformat(x) and int(x.timestamp() * 1000)",
}


def _ints_of(values: Values, field: int) -> list[int] | None:
    """Return a field of records if it is an int in all; an assigner that returns it fails, too, at the user's line."""
    with suppress(Exception):
        found = list(map(itemgetter(field), values))
        if countOf(map(type, found), int) == len(found):
            return found
    return None


def _kind_of(time: Any) -> str:
    if time is None:
        return "None"
    if hasattr(time, "timestamp"):  # pandas has its own class for them
        return "datetime"
    if type(time) is int:
        return "int"
    return "number" if hasattr(time, "__float__") else "other"


def _hint_for(error: Exception) -> str:
    if isinstance(error, TypeError) and " positional argument" in str(error):
        return "a timestamp assigner takes two arguments: (value, record_timestamp)"
    return "the timestamp assigner failed"


#: An aligned source emits a watermark when event time has advanced by this share of the drift, and so many records on.
_SHARE_OF_DRIFT, _RECORDS_AT_LEAST = 8, 128


class AssignTimestampsOperator(RuntimeOperator):
    """Assign timestamps and generate watermarks (Flink's TimestampsAndWatermarksOperator).

    Upstream watermarks stop here, except the one that ends the input.

    The task calls `emit_periodic` each time the auto-watermark interval has passed. If the source is aligned with
    others, watermarks follow event time, too: the records of a backlog would else wait in state for the interval.
    """

    #: set by a source task: makes a watermark that a record caused hold directly after that record
    punctuate: Callable[[], None] | None = None
    #: set by a task: has the fields of records, and keeps times for its writers
    taken_apart: TakenApart | None = None
    #: the highest timestamp at the last watermark of an aligned source, and the number of records since
    _stepped, _since = MIN_TIME, 0

    def functions(self) -> list[Any]:
        return []

    def open(self) -> None:
        strategy = self.plan.operator.function
        assigner = strategy.timestamp_assigner
        self._extract = method(assigner, "extract_timestamp") if assigner is not None else None
        #: the position of the field that the assigner returns, None if it does anything else than return one
        self._field = time_field(self._extract)
        self._bound: int | None = strategy.max_out_of_orderness_ms
        alignment = strategy.alignment
        self._step = None if alignment is None else max(1, alignment.drift_ms // _SHARE_OF_DRIFT)
        self._stepped, self._since = MIN_TIME, 0
        self._batch = -1
        #: whether no timestamps were assigned yet
        self._expects_first = self._extract is not None
        #: the watermark so far, and its value when the batch began
        self.last = self._before = MIN_TIME
        self.begin()

    def begin(self) -> None:
        """Begin a batch with a new generator, so that a replay generates the same watermarks.

        This loses nothing: the receiving gate keeps the highest watermark of each channel. The operators chained behind
        must not see time go back either, so a repeated batch begins with the watermark of its first run.
        """
        if self.info.batch_id != self._batch:
            self._batch, self._before = self.info.batch_id, self.last
        self.last, self._highest = self._before, MIN_TIME
        strategy = self.plan.operator.function
        # BATCH has only the last watermark: unless event time stops where they say, generators are not called at all
        self._cuts = self.info.mode != "BATCH"
        #: whether event time ends with the input, so that the highest timestamp does not matter
        self._ends_time = not (self._cuts or self.info.saves_state)
        custom = self._bound is None and strategy.generates_watermarks
        self._generator = strategy.create_generator() if custom and (self._cuts or self.info.saves_state) else None
        self._pending = MIN_TIME
        #: whether the generator has declared itself idle
        self.idle = False

    def carried(self, batch_id: int) -> tuple[int, ...]:
        """Return the part of the watermarks that a batch takes over from those before it, for `carry`."""
        last = self._before if batch_id == self._batch else self.last
        return last, self._stepped, self._since

    def carry(self, carried: tuple[int, ...]) -> None:
        """Continue with the watermarks of another instance."""
        self.last, self._stepped, self._since = carried

    def process(self, values: Values, timestamps: Timestamps) -> None:
        kept = False
        if self._extract is not None:
            timestamps, kept = self._assigned(values, timestamps)
            if self._expects_first:
                self._expects_first = False
                self._look_at(timestamps)
        if timestamps and not (kept and self._ends_time):
            highest = max(timestamps)
            if highest > MAX_TIME:
                self._checked(highest, values[timestamps.index(highest)])
            if self._step is not None and self._cuts and self.punctuate is not None:
                self._emit_in_steps(values, timestamps)
                return
            self._highest = max(self._highest, highest)
        self._emit(values, timestamps)

    def _assigned(self, values: Values, before: Timestamps) -> tuple[list[int], bool]:
        """Return the times that the assigner gives records, and whether they are kept for writers."""
        taken_apart, times = self.taken_apart, None
        if self._field is not None:
            if taken_apart is not None and (times := taken_apart.times_in(values, self._field)) is not None:
                return times, True
            times = _ints_of(values, self._field)
        are_ints = times is not None
        if times is None:
            times = self._extracted(values, before)
        kept = taken_apart is not None and taken_apart.keep_times(times, are_ints)
        if not kept and (set(map(type, times)) != {int} or min(times) < MIN_TIME):
            times = [self._checked(time, value) for time, value in zip(times, values, strict=True)]
        return times, kept

    def _extracted(self, values: Values, before: Timestamps) -> list[int]:
        extract: Any = self._extract
        source = iter(values)
        try:
            given: Any = before or repeat(MIN_TIME)
            return [extract(value, time) for value, time in zip(source, given, strict=False)]
        except Exception as error:
            raise operator_error(self.plan, error, last_taken(values, source), _hint_for(error)) from error

    def _emit(self, values: Values, timestamps: Timestamps) -> None:
        if self._generator is not None:
            self._process_with_generator(values, timestamps)
            return
        self.collector.emit(values, timestamps)

    def _emit_in_steps(self, values: Values, timestamps: list[int]) -> None:
        """Emit a block, with a watermark wherever event time has advanced by a step."""
        assert self._step is not None and self.punctuate is not None
        start, size = 0, len(values)
        while start < size:
            end = min(start + max(1, _RECORDS_AT_LEAST - self._since), size)
            times = timestamps[start:end]
            self._highest = max(self._highest, max(times))
            self._emit(values[start:end], times)
            self._since += end - start
            if self._since >= _RECORDS_AT_LEAST:
                self._since = 0
                if self._highest >= self._stepped + self._step:
                    self._stepped = self._highest
                    self.emit_periodic()
                    self.punctuate()
            start = end

    def _look_at(self, first: list[int]) -> None:
        if all(_EARLIEST_SECONDS <= time < _LATEST_SECONDS for time in first):
            in_seconds, in_millis = (datetime.fromtimestamp(at, UTC).date() for at in (first[0], first[0] / 1000))
            self.info.report.notes.append(
                f"the timestamps of {self.plan.name!r} ({self.plan.origin}) look like seconds: {first[0]} is "
                f"{in_millis} in milliseconds and {in_seconds} in seconds; return milliseconds, value * 1000",
            )

    def _checked(self, time: Any, value: Any) -> int:
        try:
            return checked_time(time)
        except TimestampError as error:
            hint = f"extract_timestamp {_CONVERSIONS[_kind_of(time)]}"
            raise operator_error(self.plan, error, value, hint) from error

    def _process_with_generator(self, values: Values, timestamps: Timestamps) -> None:
        """Process a block with a custom generator; cut the block where the generator emits a watermark."""
        start, cuts = 0, self._cuts
        for position, value in enumerate(values):
            time = timestamps[position] if timestamps is not None else MIN_TIME
            self._user_call(self._generator.on_event, value, time, self)  # type: ignore[union-attr]
            if cuts and self._pending > self.last:
                end = position + 1
                self.collector.emit(values[start:end], timestamps and timestamps[start:end])
                start = end
                self._forward(self._pending)
                if self.punctuate is not None:
                    self.punctuate()
        self.collector.emit(values[start:], timestamps and timestamps[start:])

    def _user_call(self, hook: Any, *args: Any) -> None:
        try:
            hook(*args)
        except Exception as error:
            raise operator_error(self.plan, error, args[0], "the watermark generator failed") from error

    def emit_periodic(self) -> None:
        """Emit the current watermark; called when the auto-watermark interval has passed."""
        if self._generator is not None:
            self._user_call(self._generator.on_periodic_emit, self)
            self._forward(self._pending)
        elif self._bound is not None and self._highest > MIN_TIME:
            self._forward(self._highest - self._bound - 1)

    def _forward(self, watermark: int) -> None:
        if watermark > self.last:
            self.last = watermark
            self.collector.watermark(watermark)

    def watermark(self, watermark: int) -> None:
        if watermark == MAX_TIME:
            self._forward(MAX_TIME)

    # ---------------------------------------------------------------- WatermarkOutput, for custom generators

    def emit_watermark(self, watermark: Any) -> None:
        """Accept a watermark from the generator."""
        self.idle = False
        self._pending = max(self._pending, checked_time(getattr(watermark, "timestamp", watermark), "a watermark"))

    def mark_idle(self) -> None:
        """Exclude this stream from the combined watermark; called by a generator."""
        self.idle = True

    def mark_active(self) -> None:
        """Include this stream again; called by a generator."""
        self.idle = False
