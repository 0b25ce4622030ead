"""A file that is replaced as a whole is on the disk, in the order that a crash of the machine asks for."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from scurry.common._process.replaced_files import replace_file


def test_a_durable_file_is_forced_before_it_has_its_name_and_the_name_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, done = tmp_path / "file", list[str]()
    file.write_text("before")
    force = os.fsync

    def forced(descriptor: int) -> None:
        kind = "directory" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "content"
        done.append(f"{kind} with {file.read_text()}")
        force(descriptor)

    monkeypatch.setattr(os, "fsync", forced)
    replace_file(file, "after", durable=True)
    assert done == ["content with before", "directory with after"]
    replace_file(file, "later")
    assert len(done) == 2 and file.read_text() == "later"


def test_a_file_that_cannot_be_written_is_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.write_text("before")

    def full(descriptor: int) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space left"):
        replace_file(file, "after", durable=True)
    assert file.read_text() == "before" and os.listdir(tmp_path) == ["file"]


def test_a_private_file_is_for_its_owner_alone_also_if_it_was_not(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("before")
    replace_file(file, "after", private=True)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
