"""Damages to a savepoint, each by chance and yet the same for the same seed."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any


class Damage:
    """Does something to a copy of a savepoint.

    Args:
        savepoint: The copy.
        other: Another savepoint of the same job, whose files have the same names.
        seed: Which damage.
    """

    def __init__(self, savepoint: Path, other: Path, seed: int) -> None:
        self.savepoint, self.other = savepoint, other
        self.chance = random.Random(seed)
        self.files = sorted(file for file in savepoint.rglob("*") if file.is_file())
        #: the names an error may tell, of what is not what was written any more
        self.names: list[str] = []
        kinds = [self.bytes_, self.bytes_, self.metadata, self.metadata, self.manifest, self.another, self.extra]
        self.done = [self.chance.choice(kinds)() for _ in range(self.chance.choice((1, 1, 1, 2)))]

    def _choose(self) -> Path:
        present = [file for file in self.files if file.is_file()]
        file = self.chance.choice(present)
        self._name(file)
        return file

    def _name(self, file: Path) -> None:
        self.names.append(file.relative_to(self.savepoint).as_posix())

    def bytes_(self) -> str:
        """Changes the content of a file, or takes it away."""
        file = self._choose()
        content = file.read_bytes()
        at = self.chance.randrange(max(1, len(content)))
        what, new = self.chance.choice([
            ("truncate", content[:at]),
            ("empty", b""),
            ("append", content + self.chance.randbytes(1 + at % 50)),
            ("flip a bit", content[:at] + bytes([(content[at:] or b"x")[0] ^ 1 << at % 8]) + content[at + 1 :]),
            ("zeros", content[:at] + bytes(len(content[at : at + 512])) + content[at + 512 :]),
            ("begin missing", content[at:]),
            ("remove", None),
        ])  # fmt: skip
        file.unlink()
        if new is not None:
            file.write_bytes(new)
        return f"{what} {file.name} at {at}"

    def metadata(self) -> str:
        """Edits a field."""
        file = self.savepoint / "metadata.json"
        self._name(file)
        if not file.is_file():
            return "no metadata"
        try:
            content = json.loads(file.read_bytes())
        except ValueError:
            return "metadata damaged already"
        places = list(_places(content))
        holder, key = self.chance.choice(places)
        edits: list[tuple[str, Callable[[Any], Any]]] = [
            ("other number", lambda old: old // 2 if type(old) is int else 7),
            ("plus one", lambda old: old + 1 if type(old) is int else None),
            ("text", lambda old: "other"),
            ("nothing", lambda old: type(old)() if old is not None else 1),
        ]
        what, edit = self.chance.choice(edits)
        if self.chance.random() < 0.2:
            what = "delete"
            del holder[key]
        else:
            holder[key] = edit(holder[key])
        file.write_text(json.dumps(content, indent=1))
        return f"{what} of {key!r}"

    def manifest(self) -> str:
        """Edits what the manifest says."""
        file = self.savepoint / "manifest.json"
        self._name(file)
        try:
            whole = json.loads(file.read_bytes())
            content = whole["content"]
            name = self.chance.choice(sorted(content["files"]))
        except (ValueError, OSError, KeyError):
            return "no manifest to edit"
        what = self.chance.choice(["unlist", "size", "digest", "counts", "version", "other digest", "layout"])
        if what == "unlist":
            del content["files"][name]
        elif what == "size":
            content["files"][name]["bytes"] += 1
        elif what == "digest":
            content["files"][name]["sha256"] = ["0" * 64]
        elif what == "counts":
            content["operators"].popitem()
        elif what == "version":
            content["version"] = 2
        elif what == "other digest":
            whole["sha256"] = "0" * 64
        file.write_text(json.dumps(whole))  # "layout" changes blanks only
        return f"{what} in the manifest"

    def another(self) -> str:
        """Puts something else in the place of a file or directory."""
        file = self._choose()
        place = self.chance.choice([file, file.parent]) if file.parent != self.savepoint else file
        if place.is_dir():
            for inner in (place, *place.iterdir()):
                self._name(inner)
        moved = self.savepoint.parent / "moved"
        what = self.chance.choice(
            ["same", "link", "dangling link", "link inside", "directory", "pipe", "swap", "other savepoint", "gone"]
        )
        within = place.relative_to(self.savepoint)
        if what == "swap":
            second = self.chance.choice([other for other in self.files if other.is_file()])
            self._name(second)
            first, last = file.read_bytes(), second.read_bytes()
            file.write_bytes(last)
            second.write_bytes(first)
            return f"swap {file.name} and {second.name}"
        if moved.exists():
            return "nothing more"
        place.rename(moved)
        if what == "same":
            (shutil.copytree if moved.is_dir() else shutil.copyfile)(moved, place)
        elif what == "link":
            place.symlink_to(moved)
        elif what == "dangling link":
            place.symlink_to(self.savepoint / "nowhere")
        elif what == "link inside":
            place.symlink_to(self.savepoint / "metadata.json")
        elif what == "directory":
            place.mkdir()
        elif what == "pipe":
            os.mkfifo(place)
        elif what == "other savepoint":
            (shutil.copytree if moved.is_dir() else shutil.copyfile)(self.other / within, place)
            if file.name == "manifest.json":  # then it is the other files that are not what it says
                self.names.append("entries/")
        return f"{what} instead of {within}"

    def extra(self) -> str:
        """Adds something that was not there."""
        entries = [file for file in self.files if file.suffix == ".parquet" and file.is_file()]
        file = self.chance.choice(entries) if entries else self.savepoint / "metadata.json"
        if not file.is_file():
            return "nothing to copy"
        where = self.chance.choice(sorted({one.parent for one in self.files if one.parent.is_dir()}))
        name = self.chance.choice(["part-9.parquet", "_SUCCESS", ".part-0.parquet.crc", "zzz.tmp", "kind=page"])
        if (where / name).exists():
            return "nothing to add"
        shutil.copyfile(file, where / name)
        return f"{file.name} once more as {name} in {where.name}"


def _places(content: Any) -> Any:
    """Every (holder, key) in JSON."""
    for key in list(content) if isinstance(content, dict) else range(len(content)):
        yield content, key
        if isinstance(content[key], (dict, list)):
            yield from _places(content[key])
