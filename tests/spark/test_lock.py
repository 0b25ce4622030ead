"""Two jobs never work on one checkpoint directory."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import scurry
from scurry.errors import CheckpointLockedError
from scurry.runtime.checkpoint import directory
from scurry.runtime.checkpoint.directory import Holder, locked
from scurry.runtime.checkpoint.storage import LocalStorage

SOURCE = str(Path(scurry.__file__).parent.parent)


def held(directory: Path) -> AbstractContextManager[Callable[[], None]]:
    return locked(str(directory), LocalStorage(str(directory)), lambda what: None)


def test_a_directory_that_is_held_is_refused_with_the_holder(tmp_path: Path) -> None:
    with (
        held(tmp_path),
        pytest.raises(CheckpointLockedError, match=f"process {os.getpid()} on host {socket.gethostname()}"),
        held(tmp_path),
    ):
        pass


def test_a_directory_is_free_again_afterwards(tmp_path: Path) -> None:
    with held(tmp_path):
        first = Holder.read((tmp_path / ".lock").read_bytes())
    with held(tmp_path):
        second = Holder.read((tmp_path / ".lock").read_bytes())
    assert first is not None and second is not None
    assert (first.pid, first.owner != second.owner) == (second.pid, True)


def test_another_process_is_kept_away_until_the_holder_is_killed(tmp_path: Path) -> None:
    program = f"""
import time
from scurry.runtime.checkpoint.directory import locked
from scurry.runtime.checkpoint.storage import LocalStorage
with locked("x", LocalStorage({str(tmp_path)!r}), print):
    print("held", flush=True)
    time.sleep(60)
"""
    environment = {**os.environ, "PYTHONPATH": SOURCE}
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env=environment) as other:
        assert other.stdout is not None and other.stdout.readline() == "held\n"
        with pytest.raises(CheckpointLockedError, match=f"process {other.pid}"), held(tmp_path):
            pass
        other.send_signal(signal.SIGKILL)
        other.wait()
        with held(tmp_path):
            pass


def test_the_lock_is_no_part_of_what_the_directory_holds(tmp_path: Path) -> None:
    storage = LocalStorage(str(tmp_path))
    with held(tmp_path):
        storage.write("scurry.json", b"{}")
        storage.write("spark/offsets/0", b"")
        assert sorted(storage.list(".")) == ["scurry.json", "spark"]
        for name in storage.list("."):
            storage.delete(name)
        assert storage.list(".") == []
        with pytest.raises(CheckpointLockedError), held(tmp_path):
            pass


# ------------------------------------------------------------------ remote storage


class Remote:
    """Storage that knows no locks."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    def read(self, name: str) -> bytes:
        return self.files[name]

    def write(self, name: str, content: bytes) -> None:
        self.files[name] = content

    def list(self, directory: str) -> list[str]:
        return list(self.files)

    def delete(self, name: str) -> None:
        self.files.pop(name, None)

    def clear(self) -> None:
        self.files.clear()


def leased(storage: Any) -> AbstractContextManager[Callable[[], None]]:
    return locked("s3://bucket/job", storage, lambda what: None)


def leave(storage: Remote, holder: Holder) -> None:
    storage.write("lease.json", holder.to_json())


@pytest.fixture
def storage() -> Remote:
    return Remote()


def test_a_fresh_lease_is_respected_and_says_when_it_expires(storage: Remote) -> None:
    leave(storage, Holder(host="elsewhere", pid=7, renewed=time.time() - 20))
    with pytest.raises(CheckpointLockedError, match="process 7 on host elsewhere.* try again in 40 s"), leased(storage):
        pass
    assert "elsewhere" in storage.files["lease.json"].decode()


def test_a_lease_that_was_not_renewed_is_nobodys(storage: Remote) -> None:
    leave(storage, Holder(host="elsewhere", renewed=time.time() - 61))
    with leased(storage):
        assert socket.gethostname() in storage.files["lease.json"].decode()


def test_the_lease_of_a_process_that_died_on_this_host_is_nobodys(storage: Remote) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as dead:
        dead.wait()
    leave(storage, Holder(pid=dead.pid))
    with leased(storage):
        pass


def test_a_lease_ends_with_the_job(storage: Remote) -> None:
    with leased(storage):
        assert storage.files
    assert not storage.files


def test_a_lease_is_renewed_and_its_loss_is_noticed(storage: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(directory, "RENEWAL", 0.01)
    lost: list[str] = []
    with locked("s3://bucket/job", storage, lost.append):
        first = Holder.read(storage.read("lease.json"))
        assert first is not None
        deadline = time.monotonic() + 120
        while Holder.read(storage.read("lease.json")) == first:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        leave(storage, replace(first, owner="another", host="elsewhere", pid=7))
        while not lost:
            assert time.monotonic() < deadline
            leave(storage, replace(first, owner="another", host="elsewhere", pid=7))
            time.sleep(0.01)
    assert lost == ["s3://bucket/job was taken over by process 7 on host elsewhere"]
    assert "elsewhere" in storage.files["lease.json"].decode()  # not ours to delete


def test_a_holder_that_was_silent_looks_whether_it_still_has_the_lease(
    storage: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with leased(storage) as require:
        leave(storage, Holder(owner="another", host="elsewhere", pid=7))
        require()  # nobody can have taken it yet
        monkeypatch.setattr(directory, "EXPIRY", 0.0)
        with pytest.raises(CheckpointLockedError, match="process 7 on host elsewhere"):
            require()


def test_a_holder_that_was_silent_and_still_has_the_lease_renews_it(
    storage: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with leased(storage) as require:
        first = Holder.read(storage.read("lease.json"))
        monkeypatch.setattr(directory, "EXPIRY", 0.0)
        require()
        second = Holder.read(storage.read("lease.json"))
    assert first is not None and second is not None
    assert (first.owner, first.renewed < second.renewed) == (second.owner, True)
