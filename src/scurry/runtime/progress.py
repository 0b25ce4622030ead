"""The progress of `execute()`: lines or a bar in a terminal, a panel in a notebook."""

from __future__ import annotations

import contextvars
import datetime
import importlib
import logging
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Literal, TextIO

from scurry.common._process import threads
from scurry.common.config_options import PROGRESS
from scurry.common.redaction import one_line, printable
from scurry.runtime.driver.job import BatchReport, JobExecution
from scurry.runtime.driver.job_log import bytes_text
from scurry.runtime.exchange.wire import MAX_TIME, MIN_TIME

_SECONDS = 0.5


def in_notebook() -> bool:
    """Return whether this process executes the cells of a notebook."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return getattr(shell, "kernel", None) is not None


class ProgressPanel:
    """A panel that shows lines of text and is updated twice a second, until it shows the last ones.

    A screen reader announces its changes.
    """

    def __init__(self, status: Callable[[], Sequence[str]]) -> None:
        """Prepare the panel.

        Args:
            status: Returns its lines.
        """
        self._status = status
        self._over = threading.Event()
        self._display: Any = importlib.import_module("IPython.display")  # its functions have no types
        # The kernel finds the cell that an output belongs to in the context of the thread.
        context = contextvars.copy_context()
        self._thread = threading.Thread(target=context.run, args=(self._update,), daemon=True, name="progress")

    def start(self) -> None:
        self._handle = self._display.display(self._html(self._status(), "<progress></progress>"), display_id=True)
        if threads.THREADS:
            self._thread.start()

    def stop(self, last: str) -> None:
        """Show a last line instead of the progress."""
        self._over.set()
        if threads.THREADS:
            self._thread.join()
        self._handle.update(self._html([last], ""))

    def _update(self) -> None:
        while not self._over.wait(_SECONDS):
            self._handle.update(self._html(self._status(), "<progress></progress>"))

    def _html(self, lines: Sequence[str], bar: str) -> Any:
        from html import escape  # whose entities take time to load, and only notebooks need them

        text = "<br>".join(map(escape, lines))
        return self._display.HTML(f'<div class="scurry-progress" role="status">{bar} <small>{text}</small></div>')


PLAIN_INTERVAL = 5.0
"""Seconds between plain lines; a job that is over earlier has only its summary."""

#: Seconds after which a job at a terminal shows the address of its page; one that is over earlier needs none.
_PAGE_SECONDS = 1.0
_RATE_SECONDS = 10.0
_SPANS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s"), (1, "ms"))


class ProgressDisplay:
    """Show the progress of a job while a `with` block waits for it, and a summary at its end.

    For a job on Spark, one or two live lines are shown if `stream` is a terminal. Otherwise a plain line is printed at
    most every 5 seconds when a batch ends, so that an idle job is silent. The in-process runner always prints plain
    lines, because users set breakpoints in it. In notebooks, a panel below the cell is shown for both. Nothing is shown
    if `scurry.progress` is off, or auto in a pytest run.
    """

    def __init__(
        self, job: JobExecution, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Prepare to show a job.

        Args:
            job: The job; its batches are observed from `__enter__` on.
            stream: Where to write, standard error by default.
            clock: Returns the seconds of the clock that `job.started` was read from.
        """
        self._job = job
        self._name = one_line(job.plan.settings.job_name)
        self._stream = sys.stderr if stream is None else stream
        self._clock = clock
        self._style = _style(job, self._stream)
        self._rates = _Rates(clock)
        self._live: Any = None
        self._panel: ProgressPanel | None = None
        self._handler = _ShownRecords(self._say)
        self._spoken = clock()
        self._page_shown: threading.Timer | None = None

    def __enter__(self) -> ProgressDisplay:
        """Begin to show the job."""
        if self._style != "off":
            self._job.log.handlers.append(self._handler)
            for record in list(self._job.log.records):
                self._handler.handle(record)
            self._job.listeners.append(self._on_batch)
        if self._style == "live":
            self._live = _live_lines(self._status, self._stream)
            self._live.start()
        elif self._style == "panel":
            self._panel = ProgressPanel(self._status)
            self._panel.start()
        if self._style in ("live", "plain") and self._stream.isatty() and self._job.page is not None:
            # Not a live line, which would be cut to the width of the terminal.
            self._page_shown = threading.Timer(_PAGE_SECONDS, lambda: self._say(self.page_text() or ""))
            self._page_shown.daemon = True
            self._page_shown.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        """End with the summary."""
        if self._page_shown is not None:
            self._page_shown.cancel()
        if self._live is not None:
            self._live.stop()
            self._live = None
        if self._style != "off":
            self._job.listeners.remove(self._on_batch)
            self._job.log.handlers.remove(self._handler)
            if self._panel is None:
                self._say(self.summary(error))
            else:
                self._panel.stop(self.summary(error))

    # ------------------------------------------------------------------ texts

    def status(self) -> str:
        """Return the current activity of the job, in one line."""
        return ", ".join(self._status())

    def _status(self) -> list[str]:
        """Return the job's activity and, if known, its lag and watermark."""
        totals, settings = self._job.totals, self._job.plan.settings
        if settings.mode == "BATCH":
            return [f"{self._name}: batch, {self._batch_progress()}"]
        if not totals.batches:
            return [f"{self._name}: {settings.mode.lower()}, first batch"]
        read, written = self._rates.per_second()
        work = f"{self._name}: {settings.mode.lower()}, batch {totals.batches}, {read:,.0f}/s in, {written:,.0f}/s out"
        time = self._behind()
        if self._job.totals.watermark > MIN_TIME:
            time.append(f"watermark {self._watermark_text(self._job.totals.watermark)}")
        if totals.late_records:
            time.append(f"{totals.late_records:,} late dropped")
        return [work, ", ".join(time)] if time else [work]

    def _batch_progress(self) -> str:
        read, written = self._job.totals.rows_so_far()
        rows = f"{_count(read, 'record')} in, {written:,} out"
        ended, known = self._job.tasks or (0, 0)
        return f"{rows}, {ended:,} of {_count(known, 'task')}" if known else rows

    def page_text(self) -> str | None:
        """Return the address of the job's web page, None if it has none; with the token at a terminal only."""
        if self._job.page is None:
            return None
        url, token = self._job.page
        return f"page: {url}/#token={token}" if token is not None and self._stream.isatty() else f"page: {url}"

    def _behind(self) -> list[str]:
        """Return how far the sources are behind, if they may not read all available input."""
        backlog = self._job.backlog
        if not backlog.held_back:
            return []
        left, seconds = backlog.backlog, backlog.seconds
        amounts = [] if left.records is None else [_count(left.records, "record")]
        amounts += [] if left.bytes is None else [bytes_text(left.bytes)]
        if not amounts:
            return ["back pressure"]
        when = "not catching up" if seconds is None else f"caught up in {_span(seconds * 1000)}"
        return [f"{' and '.join(amounts)} behind ({when})"]

    def summary(self, error: BaseException | None = None) -> str:
        """Return how the job ended and its counts, always with those of dropped records and dead letters."""
        job, totals = self._job, self._job.totals
        stopped = job.stopping.is_set() or isinstance(error, KeyboardInterrupt)
        by = f" by {job.stopped_by}" if job.stopped_by not in (None, "the program", "Ctrl-C") else ""
        ending = f"stopped{by}" if stopped else "finished" if error is None else "failed"
        rows = f"{_count(totals.records_in, 'record')} in, {totals.records_out:,} out"
        if not totals.counts_input:
            rows = f"{_count(totals.records_out, 'record')} out"
        seconds, batches = self._clock() - job.started, _count(totals.batches, "batch")
        text = f"{self._name}: {ending} after {seconds:.1f} s, {batches}: {rows}"
        if job.attempt:
            text += f", {_count(job.attempt, 'restart')}"
        for operator, count in totals.late.items():
            text += f"; {_count(count, 'late record')} dropped by {operator}"
        for source, count in totals.malformed.items():
            text += f"; {_count(count, 'malformed record')} dropped by {source}"
        for operator, count in totals.dead_letters.items():
            text += f"; {_count(count, 'dead letter')} of {operator}"
        return text

    def _watermark_text(self, watermark: int) -> str:
        if watermark == MAX_TIME:
            return "at the end of input"
        text, lag = _iso(watermark), time.time() * 1000 - watermark
        speed = self._rates.event_time_speed()
        # Replayed history is weeks behind by nature: its speed is more useful.
        if lag > 60_000 and speed > 2:
            return f"{text} ({_span(speed * 1000)} of data per s)"
        if lag > 86_400_000 and not speed:
            return text
        return f"{text} ({_span(abs(lag))} {'behind' if lag >= 0 else 'ahead'})"

    # ------------------------------------------------------------------ when they are shown

    def _on_batch(self, report: BatchReport) -> None:
        self._rates.add(report)
        if self._style == "plain" and self._clock() - self._spoken >= PLAIN_INTERVAL:
            self._spoken = self._clock()
            self._say(self.status())

    def _say(self, text: str) -> None:
        # With live lines, rich replaces sys.stderr and prints this above them.
        stream = sys.stderr if self._live is not None else self._stream
        print(printable(text), file=stream, flush=True)


class _ShownRecords(logging.Handler):
    """Print the log records that a user who watches the job should see."""

    def __init__(self, say: Callable[[str], None]) -> None:
        super().__init__()
        self._say_text = say

    def emit(self, record: logging.LogRecord) -> None:
        if vars(record)["shown"]:
            self._say_text(record.getMessage())


class _Rates:
    """Compute rates over the last seconds from the reports of batches."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._reports: deque[tuple[float, BatchReport]] = deque()

    def add(self, report: BatchReport) -> None:
        now = self._clock()
        self._reports.append((now, report))
        while self._reports[0][0] < now - _RATE_SECONDS and len(self._reports) > 2:
            self._reports.popleft()

    def _seconds(self) -> float:
        """Return the time since the batch of the first report began, including idle time."""
        if not self._reports:
            return 1.0
        ended, report = self._reports[0]
        return max(self._clock() - ended + report.seconds, 0.001)

    def per_second(self) -> tuple[float, float]:
        reports = [report for _, report in list(self._reports)]
        seconds = self._seconds()
        return sum(r.records_in for r in reports) / seconds, sum(r.records_out for r in reports) / seconds

    def event_time_speed(self) -> float:
        """Return the seconds of event time per second."""
        known = [(at, r.watermark) for at, r in list(self._reports) if MIN_TIME < r.watermark < MAX_TIME]
        if len(known) < 2:
            return 0.0
        (first, low), (last, high) = known[0], known[-1]
        return (high - low) / 1000 / max(last - first, 0.001)


def _style(job: JobExecution, stream: TextIO) -> Literal["off", "plain", "live", "panel"]:
    settings = job.plan.settings
    wanted = PROGRESS.parse(settings.configuration.get(PROGRESS.key, str(PROGRESS.default)))
    if wanted == "off" or (wanted == "auto" and "PYTEST_CURRENT_TEST" in os.environ):
        return "off"
    if wanted == "auto" and in_notebook():
        return "panel"
    return "live" if wanted == "auto" and settings.runner == "spark" and stream.isatty() else "plain"


def _live_lines(status: Callable[[], list[str]], stream: TextIO) -> Any:
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    # The program's own output passes through here and must not be wrapped or coloured.
    console = Console(file=stream, soft_wrap=True, highlight=False)
    return Live(
        get_renderable=lambda: Text("\n  ".join(status()), style="dim", no_wrap=True, overflow="ellipsis"),
        console=console,
        transient=True,
        # Only output to a terminal may pass through rich, which writes it to standard error.
        redirect_stdout=sys.stdout.isatty(),
    )


def _count(number: int, what: str) -> str:
    plural = "es" if what.endswith("ch") else "s"
    return f"{number:,} {what}{'' if number == 1 else plural}"


def _iso(millis: int) -> str:
    try:
        return datetime.datetime.fromtimestamp(millis / 1000, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, ValueError, OSError):
        return f"{millis} ms"  # probably timestamps in another unit


def _span(millis: float) -> str:
    for length, unit in _SPANS:
        if millis >= length:
            amount = millis / length
            return f"{amount:.0f} {unit}" if amount >= 10 else f"{amount:.1f} {unit}"
    return "0 ms"
