"""Log records as JSON, one object in a line, with the job, operator and subtask that they are about."""

from __future__ import annotations

import datetime
import json
import logging
import traceback
from contextvars import ContextVar
from typing import Any, NamedTuple

from scurry.common.redaction import without_secrets


class RunningTask(NamedTuple):
    """The task whose functions run in a thread.

    Attributes:
        operator: Name of the source, or of the operator that begins the task.
    """

    job: str
    job_id: str
    operator: str
    subtask: int


#: The task of this thread, None outside of tasks.
running_task: ContextVar[RunningTask | None] = ContextVar("running_task", default=None)

#: Attributes of a record, if it has them.
_OWN = ("job", "job_id", "event", "operator", "subtask")


class JsonFormatter(logging.Formatter):
    """Write records as JSON objects.

    All have `timestamp` (UTC, ISO 8601), `level`, `logger` and `message`; those of jobs `job`, `job_id` and `event`;
    those about an operator `operator`, and those of functions `subtask`; those of errors `exception`.
    """

    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.datetime.fromtimestamp(record.created, datetime.UTC)
        entry: dict[str, Any] = {
            "timestamp": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname,
            "logger": record.name,
            "message": without_secrets(vars(record).get("text") or record.getMessage()),
        }
        task, known = running_task.get(), vars(record)
        if task is not None:
            entry |= task._asdict()
        entry |= {name: known[name] for name in _OWN if known.get(name) is not None}
        if record.exc_info:
            entry["exception"] = without_secrets("".join(traceback.format_exception(*record.exc_info)))
        return json.dumps(entry, ensure_ascii=False, default=str)
