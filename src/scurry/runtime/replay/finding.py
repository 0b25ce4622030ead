"""Find the captures of a job, by its id or name or by their directory, and choose among them."""

from __future__ import annotations

import json
import os
import posixpath
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from scurry.common._config.replay import REPLAY_CAPTURE
from scurry.errors import ReplayError
from scurry.errors.suggestions import alternatives
from scurry.runtime.replay.files import Capture, Start, starts
from scurry.runtime.replay.preparing import state_directory
from scurry.runtime.savepoint.trust import trusted_files

_HOW = f"run the job with -D {REPLAY_CAPTURE.key}=failures, or all for micro-batches that do not fail"


@contextmanager
def captured_starts(job: str, allow_untrusted: bool = False) -> Iterator[list[Start]]:
    """Yield the captures of each start of a job, those of the last one first; they can be read meanwhile.

    Args:
        job: Its id, the beginning of it, its name, its checkpoint directory, or the directory of its captures.
        allow_untrusted: Read them although other users could have written them.

    Raises:
        ReplayError: There are no captures.
        SavepointTrustError: Another user could have written them.
    """
    root, wanted = _directory_of(job)
    try:
        with trusted_files(root, allow_untrusted, what="captures") as (fs, path):
            found = list(starts(fs, path))
            if not found:
                inner = posixpath.join(path, "replay")
                found = list(starts(fs, inner)) if fs.exists(inner) else []
            found = [start for start in found if wanted.items() <= start.job.items()]
            if not any(start.captures for start in found):
                raise _nothing(root, found)
            yield found
    except (FileNotFoundError, NotADirectoryError):
        raise _nothing(root, []) from None


def _nothing(root: str, found: list[Start]) -> ReplayError:
    if found:
        return ReplayError(f"no micro-batch is captured in {root}: none has failed so far").with_hint(
            f"-D {REPLAY_CAPTURE.key}=all captures those that do not fail, too"
        )
    return ReplayError(f"there are no captured micro-batches in {root}").with_hint(_HOW)


def _directory_of(job: str) -> tuple[str, dict[str, str]]:
    """Return the directory of a job's captures, and the values that theirs have in it."""
    if "://" in job or os.sep in job or os.path.isdir(job):
        return job, {}
    known = list(_known_jobs())
    for key, meant in (
        ("id", [one for one in known if one["id"] == job]),
        ("name", [one for one in known if one["name"] == job]),
        ("id", [one for one in known if job and one["id"].startswith(job)]),
    ):
        if meant:
            latest = max(meant, key=lambda one: int(one["started"]))
            return latest["directory"], {key: latest[key]}
    if not known:
        raise ReplayError(f"no job of this user has captured micro-batches, and there is no directory {job}").with_hint(
            _HOW
        )
    names = dict.fromkeys(one["name"] for one in sorted(known, key=lambda one: -int(one["started"])))
    raise ReplayError(f"no job {job!r} has captured micro-batches on this machine{alternatives(job, names)}").with_hint(
        "give the job's checkpoint directory instead, or the directory that scurry.replay.dir names"
    )


def _known_jobs() -> Iterator[dict[str, str]]:
    for file in (state_directory() / "jobs").glob("*.json"):
        try:
            yield json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue


def chosen(
    found: list[Start], batch: int, subtask: int | None = None, operator: str | None = None
) -> tuple[Start, list[Capture]]:
    """Return the captures of a micro-batch: of the last start that has some, in the order in which they ran.

    Args:
        found: The captures of all starts.
        subtask: Only those of this subtask.
        operator: Only those of the operator of this name or uid.

    Raises:
        ReplayError: None fits; names those that do exist.
    """
    everything = [capture for start in found for capture in start.captures]
    of_batch = [capture for capture in everything if capture.batch == batch]
    if not of_batch:
        raise _missing("micro-batch", batch, (each.batch for each in everything)).with_hint(
            "older ones may have been deleted (scurry.replay.max-batches, scurry.replay.max-bytes), and those that do "
            f"not fail are captured only if {REPLAY_CAPTURE.key} is all"
        )
    if operator is not None:
        named = [capture for capture in of_batch if operator in (capture.operator, capture.uid)]
        if not named:
            names = dict.fromkeys(capture.operator for capture in of_batch)
            raise ReplayError(
                f"operator {operator!r} has no captured micro-batch {batch}{alternatives(operator, names)}"
            )
        of_batch = named
    if subtask is not None:
        own = [capture for capture in of_batch if capture.subtask == subtask]
        if not own:
            raise _missing(f"micro-batch {batch} of subtask", subtask, (each.subtask for each in of_batch))
        of_batch = own
    start = next(start for start in found if any(capture in of_batch for capture in start.captures))
    own = [capture for capture in start.captures if any(capture is each for each in of_batch)]
    return start, sorted(own, key=lambda each: (each.level, each.number, each.subtask))


def _missing(what: str, number: int, there: Iterable[int]) -> ReplayError:
    return ReplayError(f"{what} {number} is not captured; there are {ranges(there)}")


def ranges(numbers: Iterable[int]) -> str:
    """Return numbers as text, with those that follow each other as ranges."""
    parts: list[list[int]] = []
    for number in sorted(set(numbers)):
        if parts and parts[-1][-1] == number - 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(f"{part[0]} to {part[-1]}" if len(part) > 1 else str(part[0]) for part in parts)
