"""PrintSink: prints records as lines on standard output."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from scurry.connectors.sink import Committer, Sink, SinkWriter, WriterContext


class PrintSink(Sink):
    """Write the text of every record to the standard output of the driver, as Flink's `print()` does.

    A line begins with `identifier:subtask> `; an empty identifier is omitted, and the subtask
    (counted from 1) if there is only one. A batch repeated after a crash is printed again.
    """

    staged = False

    def __init__(self, identifier: str | None = None, to_error: bool = False) -> None:
        self.identifier = identifier
        self.to_error = to_error

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer that formats the lines of a task."""
        parts = [self.identifier] if self.identifier else []
        if context.parallelism > 1:
            parts.append(str(context.subtask_index + 1))
        prefix = ":".join(parts) + "> " if parts else ""
        return _LineWriter(prefix, str if context.input_type is None else context.input_type.to_string)

    def create_committer(self, sink_id: str) -> Committer:
        """Return a committer that prints."""
        return _Printer(self.to_error)


class _LineWriter(SinkWriter):
    def __init__(self, prefix: str, text: Callable[[Any], str]) -> None:
        self._prefix = prefix
        self._text = text
        self._lines: list[str] = []

    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        prefix = self._prefix
        self._lines += [f"{prefix}{text}\n" for text in map(self._text, values)]

    def prepare_commit(self) -> list[Any]:
        return ["".join(self._lines)] if self._lines else []


class _Printer(Committer):
    is_lasting = False

    def __init__(self, to_error: bool) -> None:
        self._to_error = to_error

    def commit(self, batch_id: int, committables: Sequence[Any]) -> None:
        if committables:
            stream = sys.stderr if self._to_error else sys.stdout
            stream.write("".join(committables))
            stream.flush()
