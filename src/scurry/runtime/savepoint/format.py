"""The files of a savepoint; `docs/savepoints.md` describes them for others.

    savepoint-4f0c21-9b1c5d0e7a62/
        entries/kind=page/*.parquet         keyed state and timers
        entries/kind=broadcast/*.parquet    broadcast state
        entries/kind=meta/*.parquet         watermarks, the clock and what timers are due, by operator and subtask
        metadata.json                       what is in it and where the sources stand
        manifest.json                       size and digests of all these files; written last

A directory without a manifest is no savepoint: it was not finished. Nothing in it names the place it lies at, so it can
be moved and copied.
"""

from __future__ import annotations

import json
import uuid
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from scurry.errors import SavepointFormatError

#: Of the format. Since version 2 a savepoint has a manifest.
VERSION = 2
READABLE = (1, 2)
METADATA = "metadata.json"
ENTRIES = "entries"
KINDS = ("page", "broadcast", "meta")

#: Rows of a Parquet row group are read and restored together; so many bytes of blobs at most.
ROW_GROUP_BYTES = 8 << 20


class Entry(NamedTuple):
    """One piece of an operator's state: `kind`, `id` and `blob` as `scurry.runtime.state.backend` stores them."""

    uid: str
    kind: str
    subtask: int
    id: int
    blob: bytes


@dataclass(frozen=True)
class OperatorState:
    """An operator whose state is in the savepoint.

    Attributes:
        name: Its name.
        number: Its number in the plan; gates know their senders by it.
        kind: What it is, such as `Window`.
        parallelism: Number of its subtasks.
        states: State name -> schema, for the states its functions have registered.
    """

    name: str
    number: int
    kind: str
    parallelism: int
    states: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SourceState:
    """Where a source stands.

    Attributes:
        name: Its name.
        number: Its number in the plan.
        kind: What it is, such as `FileSource`.
        channels: Number of its readers.
        position: Its enumerator's position.
        ended: The readers that will never get anything again.
        pending: Work that was dealt but is not part of the savepoint's state: (channel, pickled work in base64).
    """

    name: str
    number: int
    kind: str
    channels: int
    position: dict[str, Any]
    ended: list[int] = field(default_factory=list)
    pending: list[tuple[int, str]] = field(default_factory=list)


@dataclass(frozen=True)
class SavepointMetadata:
    """What `metadata.json` says.

    Attributes:
        created_ms: When it was taken, in milliseconds since the epoch.
        scurry_version: The release that wrote it.
        job_id: The job it was taken of.
        job_name: That job's name.
        max_parallelism: The number of key groups.
        batch_id: The micro-batch after which it was taken.
        watermark: The lowest watermark of the job's operators, None if there was none.
        drained: Event time was brought to its end before, so watermarks begin anew.
        operators: All operators that may have state, by uid.
        sources: The sources that go on where they stood, by uid.
        version: Of the format.
    """

    created_ms: int
    scurry_version: str
    job_id: str
    job_name: str
    max_parallelism: int
    batch_id: int
    watermark: int | None = None
    drained: bool = False
    operators: dict[str, OperatorState] = field(default_factory=dict)
    sources: dict[str, SourceState] = field(default_factory=dict)
    version: int = VERSION

    def to_json(self) -> str:
        """The text of `metadata.json`."""
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def from_json(cls, text: str, place: str) -> SavepointMetadata:
        """Reads the text of `metadata.json`.

        Raises:
            SavepointFormatError: It is damaged, or of a version this release does not know.
        """
        try:
            content = json.loads(text)
            version = content["version"]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise SavepointFormatError(f"{place}: {METADATA} is damaged: it is no JSON of a savepoint") from None
        if version not in READABLE:
            known = " and ".join(map(str, READABLE))
            raise SavepointFormatError(
                f"{place} is a savepoint of format version {version}, says its {METADATA}; this release reads versions "
                f"{known}: use the release that wrote it, or a newer one"
            )
        try:
            content["operators"] = {uid: OperatorState(**op) for uid, op in content["operators"].items()}
            content["sources"] = {
                uid: SourceState(**{**source, "pending": [tuple(work) for work in source["pending"]]})
                for uid, source in content["sources"].items()
            }
            return cls(**content)
        except (KeyError, TypeError, AttributeError) as error:
            raise SavepointFormatError(f"{place}: {METADATA} is damaged: {error}") from None


def new_savepoint_path(directory: str, job_id: str) -> str:
    """A path for a new savepoint in a directory, named as Flink names them."""
    return f"{directory.rstrip('/')}/savepoint-{job_id[:6]}-{uuid.uuid4().hex[:12]}"
