"""Level 0: a source with the operators chained behind it, over the splits assigned to one channel."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from scurry.common.output_tag import DeadLetter
from scurry.common.time import checked_time
from scurry.connectors.source import (
    FETCHED,
    MAX_RECORD_BYTES,
    MEASURED,
    NOTE_ONCE,
    SKIPPED,
    BatchLimits,
    ChunkSizer,
    MalformedRecords,
)
from scurry.errors import MalformedRecordError, TimestampError
from scurry.graph.plan import JobPlan, SourcePlan
from scurry.runtime.clock import ProcessingClock, wall_clock_ms
from scurry.runtime.exchange.collector import Collector
from scurry.runtime.exchange.report import ChannelProgress
from scurry.runtime.exchange.wire import MAX_TIME, MIN_TIME, SEQ_BITS, WireRow
from scurry.runtime.failure import operator_error
from scurry.runtime.functions.context import TaskInfo
from scurry.runtime.replay.batch import Batch
from scurry.runtime.replay.recording import Recorder
from scurry.runtime.tasks.source_lags import SourceLags
from scurry.runtime.tasks.task import Task


class MalformedInput:
    """Collector of the malformed records of one reader of a source.

    Args:
        collector: Its outputs.
        info: Where it runs.
    """

    def __init__(self, plan: SourcePlan, collector: Collector, info: TaskInfo) -> None:
        self._plan = plan
        self._collector = collector
        self._info = info

    def take(self, records: MalformedRecords) -> None:
        """Count malformed records; fail with the first if the source declares neither dropping nor dead letters."""
        tag, errors = self._plan.dead_letters, records.errors
        if records.dropped:
            self.skipped(len(errors))
        elif tag is not None:
            self._info.count(self._plan.id, "numRecordsInErrors", len(errors))
            letters = list(map(self._letter, errors))
            self._info.dead_letters(self._plan.id, letters)
            self._collector.emit_side(tag, letters, records.timestamps)
        else:
            raise errors[0]

    def skipped(self, count: int) -> None:
        """Count records that were dropped."""
        for metric in ("numMalformedRecordsDropped", "numRecordsInErrors"):
            self._info.count(self._plan.id, metric, count)

    def _letter(self, error: MalformedRecordError) -> DeadLetter:
        details = "".join(traceback.format_exception(error))
        return DeadLetter(
            error.record,
            type(error).__name__,
            str(error),
            self._plan.name,
            self._plan.uid,
            details,
            error.place,
            error.line,
        )


#: Records of the first chunk that a BATCH task processes at once; it adapts the next ones to the time they take.
FIRST_RECORDS = 64
#: As many records BATCH processes at once at level 0: their fields stay in the processor's caches.
_CHUNK_RECORDS = 2048
#: A source task closes its blocks after this many records even if the auto-watermark interval has not passed.
SEGMENT_RECORDS = 16384


class SourceTask:
    """Run a source's chain over the splits assigned to one of its channels.

    Args:
        source: One of its sources.
        wall_clock: Returns the wall clock time, in milliseconds.
        clock: Returns the seconds of a clock that does not go back.
        lag_clock: The wall clock of metrics, `wall_clock` unless given: a replay has recorded what others looked at.
    """

    def __init__(
        self,
        plan: JobPlan,
        source: SourcePlan,
        instance: int,
        wall_clock: Callable[[], int] = wall_clock_ms,
        clock: Callable[[], float] = time.monotonic,
        lag_clock: Callable[[], int] | None = None,
    ) -> None:
        settings = plan.settings
        self._lags = SourceLags(lag_clock or wall_clock)
        self._recorder: Recorder | None = None
        if settings.capturing is not None:
            self._recorder = Recorder(plan, wall_clock, clock)
            wall_clock, clock = self._recorder.wall_clock, self._recorder.clock or clock
        self.info = TaskInfo(
            instance,
            source.parallelism,
            settings.max_parallelism,
            mode=settings.mode,
            job_parameters=settings.job_parameters,
            clock=ProcessingClock(wall_clock),
            job_key=settings.job_key,
            attempt=settings.attempt,
            saves_state=settings.saves_state,
        )
        self._source = source
        self._wall_clock, self._clock = wall_clock, clock
        self._interval = settings.auto_watermark_interval_ms or 200
        limit = settings.configuration.get("scurry.record.max-bytes", BatchLimits.max_record_bytes)
        self._max_record_bytes = int(limit)
        self.task = Task(plan, source.id, instance, self.info)
        outputs = self.task.collector(source, converts=source.assigner is None)
        self._malformed = MalformedInput(source, outputs, self.info)
        self._entry = self.task.entry(source, outputs)
        strategy = source.watermark_strategy
        aligned = strategy is not None and strategy.alignment is not None
        self._aligned = self.task.assigners[-1] if aligned and self.task.assigners else None
        #: whether code outside of scurry makes the timestamps
        readers = getattr(source.source, "sources", (source.source,))  # a hybrid source has several
        own = ("scurry.connectors.", "scurry.sql.")
        self._foreign = any(not type(each).__module__.startswith(own) for each in readers)
        self._read = source.source.read if self._recorder is None else self._read_recorded
        #: the batch that is captured
        self._recorded = Batch(source.id, instance, 0)
        self._seq = 0
        #: measurements of readers in this batch
        self._read_records = self._read_bytes = 0
        self._rows: list[WireRow] = []
        for each in self.task.assigners:
            each.punctuate = self._end_segment
        self.task.open()

    def run(self, seq: int, works: Iterable[Any], final: bool, batch_id: int = 0) -> Iterator[list[WireRow]]:
        """Read splits one after another; yield rows whose positions ascend from `seq`.

        Args:
            seq: Position of the first block: higher than that of any earlier batch of this channel.
            works: The splits of the channel's assignments in this batch, None for an assignment with nothing to read.
            final: Whether the channel ends here.
            batch_id: The micro-batch.
        """
        if self._recorder is None:
            return self._run(seq, works, final, batch_id)
        batch = Batch(self._source.id, self.info.subtask, batch_id, chunks=[], seq=seq, final=final)
        return self._record(batch, lambda: self._run(seq, works, final, batch_id))

    def _record(self, batch: Batch, run: Callable[[], Iterator[list[WireRow]]]) -> Iterator[list[WireRow]]:
        """Run a batch that is captured."""
        recorder = self._recorder
        assert recorder is not None
        with recorder.recording(batch, self.info.subtask):
            recorder.begin(self.task, batch)
            self._recorded = batch
            for rows in run():
                for row in rows:
                    recorder.emitted(row, batch)
                yield rows

    def _run(self, seq: int, works: Iterable[Any], final: bool, batch_id: int) -> Iterator[list[WireRow]]:
        task, info, entry = self.task, self.info, self._entry
        task.begin(batch_id)
        self._seq, self._rows = seq, []
        self._read_records = self._read_bytes = 0
        self._lags.begin()
        sizer = ChunkSizer()
        task.point(seq, self._wall_clock())
        records, due = 0, self._clock() + self._interval / 1000
        for values, timestamps in self._chunks(works, sizer):
            info.clock.advance_to(self._wall_clock())
            self._lags.emitted(timestamps)
            entry.emit(values, timestamps)
            task.forget()
            records += len(values)
            now = self._clock()
            if now >= due or records >= SEGMENT_RECORDS:
                due, records = now + self._interval / 1000, 0
                for assigner in task.assigners:
                    assigner.emit_periodic()
                self._end_segment()
                yield self._take_rows()
            elif sizer.size == 1 and len(task.writers) > 1:
                self._seq += 1  # few or slow records: keep their order visible across edges
                self._rows += task.flush(self._seq)
                yield self._take_rows()
        for assigner in task.assigners:
            assigner.emit_periodic()
        self._lags.advanced(task.assigners)
        if final and not self.info.saves_state:
            if task.assigners:
                self._end_segment()  # a gate holds the end back, but not the last watermark before it
            entry.watermark(MAX_TIME)
        task.drain()
        self._report_progress()
        self._end_segment()
        assert self._seq - seq < 1 << SEQ_BITS, f"a micro-batch of channel {info.subtask} has too many positions"
        yield [*self._take_rows(), *task.progress(), *task.report()]

    def _report_progress(self) -> None:
        report, number, channel = self.info.report, self._source.id, self.info.subtask
        watermark = None if self._aligned is None else self._aligned.last
        record_bytes = None
        if self._read_bytes:
            report.counters[number, "numBytesIn"] = self._read_bytes
        if self._read_records:
            record_bytes = self._read_bytes / self._read_records
        lags = self._lags.values()
        if watermark is not None or record_bytes is not None or lags:
            report.channels[number, channel] = ChannelProgress(watermark, record_bytes, lags)

    def _end_segment(self) -> None:
        """Close the current blocks; the current watermark and clock hold after them."""
        self._seq += 1
        self._rows += self.task.flush(self._seq)
        self.task.point(self._seq, self._wall_clock())

    def _take_rows(self) -> list[WireRow]:
        rows, self._rows = self._rows, []
        return rows

    def run_unordered(self, work: Any, batch_id: int) -> Iterator[list[WireRow]]:
        """Read a part of a batch that several tasks read at once as one channel.

        The tasks do not know each other's order. So time moves only at the end of the batch, to the highest watermark
        of all tasks.
        """
        if self._recorder is None:
            return self._run_unordered(work, batch_id)
        batch = Batch(self._source.id, self.info.subtask, batch_id, chunks=[])
        return self._record(batch, lambda: self._run_unordered(work, batch_id))

    def _run_unordered(self, work: Any, batch_id: int) -> Iterator[list[WireRow]]:
        task = self.task
        task.begin(batch_id)
        seq, records = batch_id << SEQ_BITS, 0
        for values, timestamps in self._chunks([work], ChunkSizer()):
            self.info.clock.advance_to(self._wall_clock())
            self._entry.emit(values, timestamps)
            records += len(values)
            if records >= SEGMENT_RECORDS:
                seq, records = seq + 1, 0
                yield task.flush(seq)
        for assigner in task.assigners:
            assigner.emit_periodic()
        task.drain()
        yield task.flush(seq + 1)
        task.point((batch_id + 1 << SEQ_BITS) - 1, self._wall_clock())
        yield [*task.progress(), *task.report()]

    def read_all(self, works: Iterable[Any]) -> Iterator[int]:
        """BATCH: run the chain over all splits; yield the number of records of each chunk after it was processed.

        There is only the last watermark: the end of time, or that of the generators if state is saved.
        """
        self.task.begin(0)
        for values, timestamps in self._chunks(works, ChunkSizer(FIRST_RECORDS, _CHUNK_RECORDS)):
            self._entry.emit(values, timestamps)
            count = len(values)
            del values, timestamps
            self.task.forget()
            yield count
        if self.info.saves_state:
            self.task.drain()
            for assigner in self.task.assigners:
                assigner.emit_periodic()
        else:
            self._entry.watermark(MAX_TIME)
        self.task.drain()

    def _chunks(self, works: Iterable[Any], sizer: ChunkSizer) -> Iterator[Any]:
        """Yield the chunks of all splits; a failing reader is reported like a failing operator."""
        MAX_RECORD_BYTES.set(self._max_record_bytes)
        NOTE_ONCE.set(self._note)
        SKIPPED.set(self._malformed.skipped)
        MEASURED.set(self._measured)
        FETCHED.set(self._lags.fetched)
        for work in works:
            if work is not None:
                try:
                    for chunk in self._read(work, sizer):
                        if isinstance(chunk, MalformedRecords):
                            self._malformed.take(chunk)
                            continue
                        if self._foreign and chunk[1] is not None:
                            self._require_times(*chunk)
                        yield chunk
                        del chunk  # before the next is made, which takes its place in memory
                except Exception as error:
                    raise operator_error(self._source, error) from error

    def _read_recorded(self, work: Any, sizer: ChunkSizer) -> Iterator[Any]:
        """Read a split; record each chunk before a function can change it, and the error of the reader."""
        recorder, batch = self._recorder, self._recorded
        assert recorder is not None
        try:
            for chunk in self._source.source.read(work, sizer):
                recorder.chunk(chunk, sizer.size, batch)
                yield chunk
        except Exception as error:
            recorder.chunk(error, 0, batch)
            raise

    def _measured(self, records: int, size: int) -> None:
        self._read_records += records
        self._read_bytes += size

    def _note(self, text: str) -> None:
        note = f"source {self._source.name!r} ({self._source.origin}): {text}"
        if note not in self.info.report.notes:
            self.info.report.notes.append(note)

    def _require_times(self, values: list[Any], timestamps: list[Any]) -> None:
        if set(map(type, timestamps)) == {int} and min(timestamps) >= MIN_TIME and max(timestamps) <= MAX_TIME:
            return
        for timestamp, value in zip(timestamps, values, strict=True):
            try:
                checked_time(timestamp)
            except TimestampError as error:
                raise operator_error(self._source, error, value) from error

    def close(self) -> None:
        """Close the user's functions."""
        self.task.close()

    def abandon(self) -> None:
        """Close the user's functions after a failure."""
        self.task.abandon()
