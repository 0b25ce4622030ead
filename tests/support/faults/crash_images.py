"""What a job's directory holds at every moment: all that a crash could leave behind.

A killed process leaves what the file system holds, so it need not be killed: Hadoop's local file system is replaced by
one (`java/RecordingFileSystem.java`) that records the directory before and after every call that changes it, and while
files are being written. Python's own calls are recorded as well. Each image can be laid out and started from.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.model.traces import laid_out

JAVA = Path(__file__).parent / "java"


def compile_recorder(target: Path) -> dict[str, str]:
    """Compiles the file system; returns the settings that let a new JVM use it."""
    from scurry.spark.session.cds import spark_home
    from scurry.spark.session.jvm_classes.jar import compile_java

    home = spark_home()
    assert home is not None
    target.mkdir(parents=True, exist_ok=True)
    compile_java(JAVA / "RecordingFileSystem.java", target, home / "jars")
    return {"spark.driver.extraClassPath": str(target), "spark.hadoop.fs.file.impl": "RecordingFileSystem"}


@dataclass(frozen=True)
class Image:
    """What a directory held.

    Attributes:
        place: The directory.
        moment: The call that led to it.
        files: Path -> where its content is kept, None for a directory.
        cut: A file that is written only in part, and to how many bytes.
    """

    place: str
    moment: str
    files: dict[str, Path | None]
    cut: tuple[str, int] | None = None

    def lay_out(self) -> None:
        """Makes the directory what it was; at another path Spark would not find the state again."""
        laid_out(self.place)
        shutil.rmtree(self.place, ignore_errors=True)  # Spark may still be tidying up in it
        directory = Path(self.place)
        for name, content in self.files.items():
            path = directory / name
            if content is None:
                path.mkdir(parents=True, exist_ok=True)
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(content, path)
        if self.cut is not None:
            os.truncate(directory / self.cut[0], self.cut[1])

    def __str__(self) -> str:
        """The moment."""
        moment = self.moment.replace(f"{self.place}/", "")
        return moment if self.cut is None else f"{self.cut[1]} bytes of {self.cut[0]} before: {moment}"


class Recorder:
    """Records images of a directory.

    Args:
        jvm: Spark's JVM, whose local file system is the recording one.
        directory: The directory.
        target: Where to keep them.
    """

    def __init__(self, jvm: Any, directory: Path, target: Path) -> None:
        self._images = getattr(jvm, "RecordingFileSystem$Images")
        self._directory, self._target = str(directory), target
        self._recording = threading.local()
        self._over = False

    @contextlib.contextmanager
    def until(self, ending: str) -> Iterator[None]:
        """Records while a `with` block runs, but no longer than until there is a path with an ending."""
        self._images.begin(self._directory, str(self._target), ending)
        sys.addaudithook(self._audit)  # there is no way to remove it
        try:
            yield
        finally:
            self._over = True
            self._images.end()

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Records what there is before this process changes it."""
        if self._over or not (event == "open" or event.startswith("os.")) or not arguments:
            return
        if event == "open" and not arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            return
        path = arguments[0]
        inside = isinstance(path, str) and (not os.path.isabs(path) or path.startswith(self._directory))
        if not inside or event in ("os.listdir", "os.scandir", "os.walk") or getattr(self._recording, "now", False):
            return
        self._recording.now = True
        try:
            self._images.take(f"{event} {arguments[:2]} by Python")
        finally:
            self._recording.now = False

    def images(self) -> list[Image]:
        """All there were, and those with files that were being written half written; none twice."""
        found: list[Image] = []
        seen: set[tuple[Any, ...]] = set()
        before: dict[str, Path | None] = {}
        for file in sorted(path for path in self._target.iterdir() if path.is_file()):
            moment, files = self._read(file)
            before = before or files
            new = [name for name, content in files.items() if content is not None and before.get(name) != content]
            cuts: list[tuple[str, int] | None] = []
            for name in new:
                content = files[name]
                if content is not None and content not in before.values():  # else it was renamed
                    size = content.stat().st_size
                    cuts += [(name, length) for length in sorted({0, size // 2} - {size})]
            for cut in (*cuts, None):
                image = Image(self._directory, moment, files, cut)
                key = (*((name, content) for name, content in files.items() if cut is None or name != cut[0]), cut)
                if key not in seen:
                    seen.add(key)
                    found.append(image)
            before = files
        return found

    def _read(self, file: Path) -> tuple[str, dict[str, Path | None]]:
        moment, *lines = file.read_text().splitlines()
        pairs = (line.split("\t") for line in lines)
        contents = self._target / "contents"
        return moment[2:], {name.rstrip("/"): contents / digest if digest else None for name, digest in pairs}
