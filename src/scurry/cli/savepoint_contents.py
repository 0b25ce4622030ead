"""Show the metadata and sizes of a savepoint, never the state itself, because loading it would run code."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from scurry.cli.output import position_text, print_json, print_table, size_text, time_text
from scurry.errors import SavepointError, SavepointNotFoundError
from scurry.runtime.savepoint.format import METADATA
from scurry.runtime.savepoint.manifest import OperatorCounts
from scurry.runtime.savepoint.reading import open_savepoint


def contents(directory: str) -> dict[str, Any]:
    """Return the contents of a savepoint.

    Args:
        directory: Its directory or URI.

    Returns:
        The content of `metadata.json`; each operator also has the `bytes` and `entries` of its state. `warning` says
        what could not be checked.

    Raises:
        SavepointNotFoundError: There is no savepoint.
        SavepointFormatError: It cannot be read, or is damaged.
    """
    savepoint = open_savepoint(directory, allow_untrusted=True)
    known = asdict(savepoint.metadata)
    for uid, operator in known["operators"].items():
        counts = savepoint.operators.get(uid, OperatorCounts())
        operator["bytes"], operator["entries"] = counts.bytes, sum(counts.entries.values())
    size = sum(counts.bytes for counts in savepoint.operators.values())
    return {"path": directory, **known, "bytes": size, "warning": savepoint.warning}


def print_contents(directory: str, as_json: bool) -> None:
    """Print the contents of a savepoint, as tables or as JSON."""
    known = contents(directory)
    if as_json:
        print_json(known)
        return
    print_table(["savepoint", directory], _summary(known))
    if known["operators"]:
        print()
        print_table(["operator", "uid", "kind", "parallelism", "size", "states"], _operators(known["operators"]))
    if known["sources"]:
        print()
        print_table(["source", "uid", "kind", "channels", "position"], _sources(known["sources"]))


def print_savepoints(directory: str, as_json: bool) -> None:
    """Print the savepoints in a local directory, the latest first.

    Raises:
        SavepointNotFoundError: There is no such directory.
    """
    root = Path(directory.removeprefix("file://"))
    if not root.is_dir():
        raise SavepointNotFoundError(f"there is no directory {directory}")
    found = []
    for each in sorted(root.iterdir()):
        if (each / METADATA).is_file():
            try:
                found.append(contents(str(each)))
            except (SavepointError, OSError) as error:
                found.append({"path": str(each), "created_ms": -1, "error": str(error)})
    found.sort(key=lambda one: -one["created_ms"])
    if as_json:
        print_json(found)
        return
    rows = [
        [one["path"], one.get("job_name", ""), time_text(one["created_ms"]), one["error"]]
        if "error" in one
        else [one["path"], one["job_name"], time_text(one["created_ms"]), size_text(one["bytes"])]
        for one in found
    ]
    print_table(["savepoint", "job", "taken", "state"], rows)


def print_differences(first: str, second: str, as_json: bool) -> None:
    """Print in which operators, states and positions of sources two savepoints differ."""
    found = list(_differences(contents(first), contents(second)))
    if as_json:
        print_json([dict(zip(("what", "first", "second"), one, strict=True)) for one in found])
        return
    print_table(["what", first, second], [[one[0], one[1] or "-", one[2] or "-"] for one in found])


def _differences(first: dict[str, Any], second: dict[str, Any]) -> Iterator[tuple[str, str | None, str | None]]:
    for key in ("job_name", "batch_id", "watermark", "max_parallelism", "bytes"):
        if first[key] != second[key]:
            yield key, str(first[key]), str(second[key])
    for part, shown in (("operators", _operator_text), ("sources", _source_text)):
        for uid in dict.fromkeys([*first[part], *second[part]]):
            one, other = (shown(known[part][uid]) if uid in known[part] else None for known in (first, second))
            if one != other:
                yield f"{part[:-1]} {uid}", one, other


def _operator_text(one: dict[str, Any]) -> str:
    states = ", ".join(one["states"])
    return f"{one['kind']}, parallelism {one['parallelism']}, {one['entries']} entries, {one['bytes']} bytes: {states}"


def _source_text(one: dict[str, Any]) -> str:
    return f"{one['kind']}, {one['channels']} channels: {position_text(one['position'])}"


def _summary(known: dict[str, Any]) -> list[list[str]]:
    watermark = known["watermark"]
    return [
        ["job", f"{known['job_name']} ({known['job_id']})"],
        ["taken", f"{time_text(known['created_ms'])}, after micro-batch {known['batch_id']}"],
        ["written by", f"scurry {known['scurry_version']}, format version {known['version']}"],
        ["max parallelism", str(known["max_parallelism"])],
        ["watermark", "none" if watermark is None else str(watermark)],
        ["drained", "yes" if known["drained"] else "no"],
        ["state", size_text(known["bytes"])],
        ["files", "all as they were written" if known["warning"] is None else "not checked: there is no manifest"],
    ]


def _operators(operators: dict[str, dict[str, Any]]) -> list[list[str]]:
    return [
        [one["name"], uid, one["kind"], str(one["parallelism"]), size_text(one["bytes"]), ", ".join(one["states"])]
        for uid, one in operators.items()
    ]


def _sources(sources: dict[str, dict[str, Any]]) -> list[list[str]]:
    return [
        [one["name"], uid, one["kind"], str(one["channels"]), position_text(one["position"])]
        for uid, one in sources.items()
    ]
