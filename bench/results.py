"""The results that a job has written, in any order: lines of any number are compared without keeping them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple


class Fingerprint(NamedTuple):
    """How many lines there are, and the sum of their hashes, which only this process computes so."""

    lines: int
    hashes: int


def lines_of(target: Path) -> Iterator[str]:
    """Yield the lines of the files that a sink has finished below a directory."""
    for path in target.rglob("*"):
        if path.is_file() and not path.name.startswith((".", "_")):
            with open(path, encoding="utf-8") as file:
                yield from file


def fingerprint(lines: Iterable[str]) -> Fingerprint:
    """Return the fingerprint of lines; equal ones count as often as they come."""
    count = total = 0
    for line in lines:
        count += 1
        total += hash(line)
    return Fingerprint(count, total)
