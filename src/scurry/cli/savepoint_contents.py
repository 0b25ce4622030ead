"""Show the metadata and sizes of a savepoint, never the state itself, because loading it would run code."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from scurry.cli.tables import position_text, print_json, print_table, size_text, time_text
from scurry.runtime.savepoint.manifest import OperatorCounts
from scurry.runtime.savepoint.reading import open_savepoint

__all__ = ["contents", "print_contents"]


def contents(directory: str) -> dict[str, Any]:
    """Return what is in a savepoint.

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
    """Print what is in a savepoint, as tables or as JSON."""
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
