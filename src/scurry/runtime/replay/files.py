"""The files of captures: tasks write them, and a replay reads them.

    DIRECTORY/                  `replay` in the checkpoint directory, or one of its own
        000003-5c1e0f7a/        one directory for each start of a job, with the beginning of its id
            job.json            what the job is
            sources.json        the text of the program's files, for debuggers
            plan                the job's plan, pickled
            4-0-17.capture      operator or source, subtask, micro-batch: a line of JSON, then the pickled batch

What is JSON is without secrets, and harmless. What is pickled runs code of whoever wrote it, as state does, and is
read only if no other user could have written it.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import posixpath
import re
import shlex
import sys
import uuid
import zlib
from collections.abc import Iterator
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from scurry import __version__
from scurry._dataclasses import dataclass
from scurry.common._process.replaced_files import replace_file
from scurry.common.redaction import one_line, without_secrets
from scurry.connectors.files.filesystem import FileSystem, file_system, local_path
from scurry.errors import OperatorError, ReplayError
from scurry.graph.settings import Capturing
from scurry.runtime.clock import wall_clock_ms
from scurry.runtime.replay.batch import Batch, hash_seed

if TYPE_CHECKING:
    from scurry.graph.plan import JobPlan

VERSION = 1
PLAN, JOB, SOURCES = "plan", "job.json", "sources.json"

_MAGIC = b"scurry capture "
#: The name of the directory of a start.
START = re.compile(r"(\d{6,})-\w+")
_NAME = re.compile(r"(\d+)-(\d+)-(\d+)\.capture")
#: The longest first line of a capture: a longer one is of something else.
_LINE_BYTES = 1 << 16
#: The most characters of an error that the list of captures shows.
_SHOWN = 300


@dataclass
class Capture:
    """The description of a capture, known without unpickling it.

    Attributes:
        number: The source, or the head operator, by its number in the plan.
        operator: Its name.
        uid: Its uid.
        level: Its level; 0 is that of sources.
        subtask: The subtask, from 0.
        batch: The micro-batch.
        error: The first line of the error that it failed with; None if it did not fail.
        captured_ms: When it was captured, in milliseconds since the epoch.
        python: The version of Python.
        release: The version of scurry.
        hash_seed: The seed of the hashes of texts, `random` if it is not known.
        size: The bytes that it takes up unpacked.
        too_large: How many bytes it would have, if they are more than `scurry.replay.max-bytes`, else 0.
        refused: Why it could not be captured, if for another reason.
        digest: That of what is pickled.
    """

    number: int
    operator: str
    uid: str
    level: int
    subtask: int
    batch: int
    error: str | None = None
    captured_ms: int = 0
    python: str = ""
    release: str = ""
    hash_seed: str = "random"
    size: int = 0
    too_large: int = 0
    refused: str = ""
    digest: str = ""

    @classmethod
    def of(cls, plan: JobPlan, number: int, subtask: int, batch: int, error: BaseException | None) -> Capture:
        """Describe a micro-batch that has just ended, or failed."""
        vertex = plan.sources.get(number) or plan.operators[number]
        return cls(
            number,
            without_secrets(vertex.name),
            without_secrets(vertex.uid),
            getattr(vertex, "level", 0),
            subtask,
            batch,
            None if error is None else _first_line(error),
            wall_clock_ms(),
            ".".join(map(str, sys.version_info[:3])),
            __version__,
            hash_seed(),
        )

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"{self.number}-{self.subtask}-{self.batch}.capture"


def _first_line(error: BaseException) -> str:
    text = str(error) if isinstance(error, OperatorError) else f"{type(error).__name__}: {error}"
    return one_line(without_secrets(text.partition("\n")[0]))[:_SHOWN]


class CaptureDirectory:
    """The directory of the captures of one start of a job, as its tasks and its driver write to it."""

    def __init__(self, capturing: Capturing) -> None:
        self._capturing = capturing
        self._made = False

    def command(self, about: Capture) -> str:
        """Return the command that runs a captured micro-batch again."""
        command = [
            "scurry",
            "replay",
            self._capturing.root,
            "--batch",
            str(about.batch),
            "--subtask",
            str(about.subtask),
        ]
        if self._capturing.mode == "all":  # other tasks of the subtask are captured, too
            command += ["--operator", about.uid]
        return shlex.join(command)

    def write(self, about: Capture, batch: Batch | None) -> None:
        """Write a capture, and delete older ones of the same subtask beyond the limits.

        Args:
            batch: What was captured; None if that was refused.
        """
        packed = b""
        if batch is not None:
            pickled = pickle.dumps(batch, 5)
            packed = zlib.compress(pickled, 1)
            about.size, about.digest = len(pickled), _digest(packed)
        line = json.dumps(asdict(about)).encode()
        self.put(about.name, _MAGIC + str(VERSION).encode() + b" " + line + b"\n" + packed)
        self._delete_old(about)

    def put(self, name: str, content: bytes) -> None:
        """Write a file as a whole; no other user may read it."""
        write_private(posixpath.join(self._capturing.directory, name), content)

    def _delete_old(self, about: Capture) -> None:
        fs, root = file_system(self._capturing.directory)
        own = []
        for status in fs.files(root):
            found = _NAME.fullmatch(posixpath.basename(status.path))
            if found and (int(found[1]), int(found[2])) == (about.number, about.subtask):
                own.append((int(found[3]), status))
        own.sort(key=lambda each: (each[1].modified, each[0]), reverse=True)
        total = 0
        for place, (number, status) in enumerate(own):
            total += status.size
            if number != about.batch and (place >= self._capturing.max_batches or total > self._capturing.max_bytes):
                fs.delete(status.path)


def _digest(packed: bytes) -> str:
    return hashlib.blake2b(packed, digest_size=16).hexdigest()


def write_private(path: str, content: bytes) -> None:
    """Write a file as a whole, which on a local disk only this user may read, nor its directory."""
    local = local_path(path)
    if local is not None:
        os.makedirs(os.path.dirname(local), mode=0o700, exist_ok=True)
        replace_file(Path(local), content, private=True)
        return
    fs, target = file_system(path)
    directory, name = posixpath.split(target)
    staged = posixpath.join(directory, f".{name}.{uuid.uuid4().hex}")
    with fs.open_output(staged) as stream:
        stream.write(content)
    fs.rename(staged, target)


# ------------------------------------------------------------------ reading


@dataclass
class Start:
    """The captures of one start of a job.

    Attributes:
        fs: Their file system, which opens only files that may be trusted.
        path: Their directory in it.
        job: What the job is.
        captures: The captures, by level, operator and subtask.
    """

    fs: FileSystem
    path: str
    job: dict[str, Any]
    captures: list[Capture]

    def read(self, capture: Capture) -> Batch:
        """Return the captured batch; this runs code of whoever has written it.

        Raises:
            ReplayError: It was refused, or the file is damaged.
        """
        which = f"micro-batch {capture.batch} of subtask {capture.subtask} of {capture.operator!r}"
        if capture.too_large:
            raise ReplayError(
                f"{which} was not captured: it has {capture.too_large:,} bytes of rows and state or more, above "
                "scurry.replay.max-bytes"
            ).with_hint("raise scurry.replay.max-bytes, or let micro-batches be smaller: scurry.batch.max-records")
        if capture.refused:
            raise ReplayError(f"{which} was not captured: {capture.refused}")
        with self.fs.open_input(posixpath.join(self.path, capture.name)) as stream:
            _line_of(stream, capture.name)
            packed = stream.read()
        if _digest(packed) != capture.digest:
            raise ReplayError(f"{posixpath.join(self.path, capture.name)} is damaged: copy it again")
        batch: Batch = pickle.loads(zlib.decompress(packed))
        return batch

    def plan(self) -> bytes:
        """Return the plan as it was shipped; unpickling it runs code of whoever has written it."""
        with self.fs.open_input(posixpath.join(self.path, PLAN)) as stream:
            return stream.read()

    def sources(self) -> dict[str, str]:
        """Return the text of the program's files, by their names in tracebacks."""
        try:
            with self.fs.open_input(posixpath.join(self.path, SOURCES)) as stream:
                found: dict[str, str] = json.loads(stream.read())
                return found
        except FileNotFoundError:
            return {}


def starts(fs: FileSystem, root: str) -> Iterator[Start]:
    """Yield the captures of each start of a job, those of the last one first."""
    for name, _ in sorted(fs.entries(root), reverse=True):
        if not START.fullmatch(name):
            continue
        path = posixpath.join(root, name)
        try:
            with fs.open_input(posixpath.join(path, JOB)) as stream:
                job = json.loads(stream.read())
        except (FileNotFoundError, json.JSONDecodeError):
            continue  # it is being made, or deleted
        found = [capture for each, _ in fs.entries(path) if _NAME.fullmatch(each) for capture in _about(fs, path, each)]
        yield Start(fs, path, job, sorted(found, key=lambda one: (one.batch, one.level, one.number, one.subtask)))


def _about(fs: FileSystem, path: str, name: str) -> Iterator[Capture]:
    try:
        with fs.open_input(posixpath.join(path, name)) as stream:
            known = _line_of(stream, name)
    except FileNotFoundError:
        return  # a running job has deleted it
    names = {each.name for each in fields(Capture)}
    yield Capture(**{key: value for key, value in known.items() if key in names})


def _line_of(stream: BinaryIO, name: str) -> dict[str, Any]:
    line = stream.readline(_LINE_BYTES)
    start, version, text = line.partition(b" ")[0], *line[len(_MAGIC) :].partition(b" ")[::2]
    if not line.startswith(_MAGIC) or not line.endswith(b"\n") or not version.isdigit():
        raise ReplayError(f"{name} is no capture of a micro-batch, or is damaged: it begins with {start[:20]!r}")
    if int(version) != VERSION:
        raise ReplayError(
            f"{name} has version {int(version)} of captures, this release reads {VERSION}: use the one that wrote it"
        )
    known: dict[str, Any] = json.loads(text)
    return known
