"""The files of a savepoint; `docs/savepoints.md` is their public description.

    savepoint-4f0c21-9b1c5d0e7a62/
        entries/kind=page/*.parquet         keyed state and timers
        entries/kind=broadcast/*.parquet    broadcast state
        entries/kind=meta/*.parquet         watermarks, clock and due times of timers, by operator and subtask
        metadata.json                       a description of the state, and the source positions
        manifest.json                       size and digests of all these files; written last

A directory without a manifest is an unfinished savepoint. No file in it names its location, so it can be moved and
copied.
"""

from __future__ import annotations

import json
import uuid
from dataclasses import asdict, field
from typing import Any, NamedTuple

from scurry._dataclasses import dataclass
from scurry.errors import SavepointFormatError

#: Version of the format. Since version 2 a savepoint has a manifest, since version 3 runs may be among its pages.
VERSION = 3
READABLE = (1, 2, 3)
METADATA = "metadata.json"
ENTRIES = "entries"
KINDS = ("page", "broadcast", "meta")

#: Maximum bytes of blobs in a Parquet row group, whose rows are read and restored together.
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
        number: Its number in the plan, by which gates identify their senders.
        kind: The class of its description, such as `Window`.
        parallelism: Number of its subtasks.
        states: State name -> schema, for the states that its functions have registered.
    """

    name: str
    number: int
    kind: str
    parallelism: int
    states: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SourceState:
    """The position of a source.

    Attributes:
        kind: The class of the source, such as `FileSource`.
        channels: Number of its readers.
        position: Its enumerator's position.
        ended: The readers that have ended for good.
        pending: Splits assigned but not part of the savepoint's state: (channel, pickled split in base64).
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
    """The content of `metadata.json`.

    Attributes:
        created_ms: When it was taken, in milliseconds since the epoch.
        scurry_version: The release that wrote the savepoint.
        batch_id: The micro-batch after which it was taken.
        watermark: The lowest watermark of the job's operators, None if there was none.
        drained: Whether event time was ended before, so that watermarks begin again.
        operators: All operators that may have state, by uid.
        sources: The sources whose positions were saved, by uid.
        version: Version of the format.
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
        """Return the text of `metadata.json`."""
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def from_json(cls, text: str, place: str) -> SavepointMetadata:
        """Read the text of `metadata.json`.

        Raises:
            SavepointFormatError: It is damaged, or of a version this release does not know.
        """
        try:
            content = json.loads(text)
            version = content["version"]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise SavepointFormatError(f"{place}: {METADATA} is damaged: it is no JSON of a savepoint") from None
        if version not in READABLE:
            known = f"{READABLE[0]} to {READABLE[-1]}"
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
    """Return a path for a new savepoint in a directory, named as Flink names savepoints."""
    return f"{directory.rstrip('/')}/savepoint-{job_id[:6]}-{uuid.uuid4().hex[:12]}"
