"""Damaging the newest file of each kind in a checkpoint."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from support.faults.job_directory import Place
from support.model.traces import damaged

KINDS: dict[str, Callable[[Path, random.Random], list[Path]]] = {
    "offsets": lambda generation, _: _numbered(generation / "spark" / "offsets", ""),
    "commits": lambda generation, _: _numbered(generation / "spark" / "commits", ""),
    "changelog": lambda generation, chance: _numbered(_partition(generation, chance), ".changelog"),
    "snapshot": lambda generation, chance: _numbered(_partition(generation, chance), ".zip"),
    "assignments": lambda generation, _: _numbered(generation / "assignments", ""),
}


def _partition(generation: Path, chance: random.Random) -> Path:
    return chance.choice(sorted((generation / "spark" / "state").glob("[0-9]*/[0-9]*")))


def _numbered(directory: Path, suffix: str) -> list[Path]:
    return [path for path in directory.iterdir() if path.name.removesuffix(suffix).isdigit()]


def damage(place: Place, kind: str, chance: random.Random) -> str:
    """Truncates, overwrites or deletes the newest file of a kind; says what it did."""
    file = max(KINDS[kind](place.generation, chance), key=lambda path: int(path.name.partition(".")[0]))
    size = file.stat().st_size
    damaged(str(place.checkpoints))
    how = chance.choice(["truncated", "emptied", "overwritten", "deleted"])
    if how == "deleted":
        file.unlink()
    else:
        kept = {"truncated": chance.randrange(size), "emptied": 0, "overwritten": 0}[how]
        file.write_bytes(file.read_bytes()[:kept] + (chance.randbytes(size) if how == "overwritten" else b""))
    checksum = file.with_name(f".{file.name}.crc")
    if checksum.exists() and chance.random() < 0.5:  # as on a file system that keeps none
        checksum.unlink()
    return f"{file.relative_to(place.generation)} {how}"
