"""The log of a job: records of the standard library's loggers `scurry.job`, `scurry.savepoint`, ...

A library's loggers are silent until the program configures them. A job also has its own handlers: its progress display
and, with `scurry.log.file`, a file. They get all records of the job, regardless of the loggers' levels. Nothing is
logged per data record.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from logging import DEBUG, ERROR, INFO, WARNING
from typing import Any

from scurry.common.config_options import LOG_FILE, LOG_FORMAT
from scurry.common.redaction import without_secrets
from scurry.connectors.files.filesystem import file_system
from scurry.errors import ConfigError
from scurry.graph.settings import JobSettings
from scurry.runtime.clock import Clock
from scurry.runtime.json_log import JsonFormatter

__all__ = ["DEBUG", "ERROR", "INFO", "WARNING", "JobLog", "bytes_text"]

logging.getLogger("scurry").addHandler(logging.NullHandler())

#: The number of latest records that are kept for displays that start later.
KEPT_RECORDS = 100
#: Maximum bytes of a log file; then it is renamed to `FILE.1`, and a new one begins.
LOG_BYTES = 64 << 20
#: Maximum number of earlier log files.
EARLIER_LOGS = 9
#: The form of lines of text.
_TEXT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
#: Interval in seconds in which something that may happen in every batch is logged once.
_QUIET_SECONDS = 60.0


class JobLog:
    """Log the events of one job.

    Records have the attributes `job` (its name), `job_id`, `event` (a word or two), `operator` (the name of the one
    that the event is about, else None) and `shown`: whether a user who watches the job should see the record.

    Raises:
        ConfigError: The configured file cannot be written.
    """

    def __init__(self, settings: JobSettings, job_id: str, clock: Clock) -> None:
        self._clock = clock.monotonic
        self._name, self._job_id, self._configuration = settings.job_name, job_id, settings.configuration
        #: the latest records
        self.records: deque[logging.LogRecord] = deque(maxlen=KEPT_RECORDS)
        #: the job's own handlers
        self.handlers: list[logging.Handler] = []
        self._file = _file_handler(settings.configuration)
        if self._file is not None:
            self.handlers.append(self._file)
        self._logged: dict[str, float] = {}
        self._noted: set[str] = set()

    def write(
        self,
        event: str,
        text: str,
        level: int = INFO,
        logger: str = "job",
        shown: bool = False,
        operator: str | None = None,
    ) -> None:
        """Log an event.

        Args:
            event: The kind of event, such as `restarted`.
            text: The message; secrets are removed.
            level: One of the levels of `logging`.
            logger: Name of the logger below `scurry`.
            shown: Whether a user who watches the job should see it.
            operator: Name of the operator that it is about, if it is about one.
        """
        target = logging.getLogger(f"scurry.{logger}")
        text = without_secrets(text, self._configuration)
        extra = {
            "job": self._name,
            "job_id": self._job_id,
            "event": event,
            "text": text,
            "shown": shown,
            "operator": operator,
        }
        message = (self._name, text)
        record = target.makeRecord(target.name, level, "scurry", 0, "%s: %s", message, None, extra=extra)
        self.records.append(record)
        for handler in list(self.handlers):
            handler.handle(record)
        if target.isEnabledFor(level):
            target.handle(record)

    def note(
        self, text: str, event: str = "note", level: int = INFO, logger: str = "job", operator: str | None = None
    ) -> None:
        """Log something that a user who watches the job should see, such as where it resumes."""
        self.write(event, text, level, logger, shown=True, operator=operator)

    def note_once(self, text: str) -> None:
        """Note something that several tasks may report, or one task after each restart."""
        if text not in self._noted:
            self._noted.add(text)
            self.note(text, level=WARNING)

    @property
    def notes(self) -> list[str]:
        """The latest texts that were shown to a user who watches the job."""
        return [vars(record)["text"] for record in list(self.records) if vars(record)["shown"]]

    def write_seldom(self, event: str, text: str, operator: str | None = None) -> None:
        """Log a warning about something that may happen in every batch: once a minute for each operator."""
        now, key = self._clock(), f"{event} {operator or ''}"
        if now - self._logged.get(key, -_QUIET_SECONDS) >= _QUIET_SECONDS:
            self._logged[key] = now
            self.write(event, text, WARNING, operator=operator)

    @contextmanager
    def savepoint(self, path: str, asked_by: str) -> Iterator[None]:
        """Log when a savepoint begins, and whether it succeeded."""
        self.write("savepoint begun", f"taking the savepoint {path}, requested by {asked_by}", logger="savepoint")
        began = self._clock()
        try:
            yield
        except BaseException as error:
            text = f"the savepoint {path} was not taken: {type(error).__name__}: {error}"
            self.write("savepoint failed", text, WARNING, "savepoint", shown=True)
            raise
        text = f"savepoint taken: {path} ({_size_of(path)} in {self._clock() - began:.1f} s)"
        self.write("savepoint taken", text, logger="savepoint", shown=True)

    @contextmanager
    def rescaling(self, before: int, after: int, asked_by: str) -> Iterator[None]:
        """Log that the job is being rescaled, and that it continues at the new parallelism."""
        what = f"from {before} to {after} subtasks"
        self.write("rescaling", f"rescaling {what}, requested by {asked_by}")
        began = self._clock()
        yield
        self.write("rescaled", f"rescaled {what} in {self._clock() - began:.1f} s", shown=True)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self.handlers.remove(self._file)
            self._file = None


def bytes_text(amount: float) -> str:
    """Return a number of bytes for people, such as `1.2 GB`."""
    for unit in ("bytes", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}"
        amount /= 1000
    return f"{amount:,.1f} GB"


def _size_of(path: str) -> str:
    try:
        fs, root = file_system(path)
        return bytes_text(sum(file.size for file in fs.files(root)))
    except Exception:  # the savepoint exists, even if its size cannot be determined
        return "size unknown"


def _file_handler(configuration: Mapping[str, str]) -> logging.Handler | None:
    path = configuration.get(LOG_FILE.key)
    if path is None:
        return None
    from logging.handlers import RotatingFileHandler  # not needed by jobs without a log file

    try:
        handler: Any = RotatingFileHandler(path, maxBytes=LOG_BYTES, backupCount=EARLIER_LOGS, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{LOG_FILE.key} = {path!r} cannot be written: {error.strerror}") from None
    as_json = LOG_FORMAT.parse(configuration.get(LOG_FORMAT.key, "text")) == "json"
    handler.setFormatter(JsonFormatter() if as_json else logging.Formatter(_TEXT))
    return handler  # type: ignore[no-any-return]
