"""What `scurry savepoint inspect` shows: metadata and sizes, never the state itself: loading it would run code."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict
from typing import Any

from scurry.cli.tables import position_text, print_json, print_table, size_text, time_text
from scurry.runtime.savepoint.format import entry_files, read_metadata

__all__ = ["contents", "print_contents"]


def contents(directory: str) -> dict[str, Any]:
    """Return what is in a savepoint.

    Args:
        directory: Its directory or URI.

    Returns:
        The content of `metadata.json`; each operator also has the `bytes` and `entries` of its state.

    Raises:
        SavepointNotFoundError: There is none.
        SavepointFormatError: It cannot be read.
    """
    metadata = read_metadata(directory)
    sizes: dict[str, int] = defaultdict(int)
    entries: dict[str, int] = defaultdict(int)
    for file in entry_files(directory):
        for uid, _, size in file.sizes():
            sizes[uid] += size
            entries[uid] += 1
    known = asdict(metadata)
    for uid, operator in known["operators"].items():
        operator["bytes"], operator["entries"] = sizes[uid], entries[uid]
    return {"path": directory, **known, "bytes": sum(sizes.values())}


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
