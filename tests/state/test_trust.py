"""Savepoints that somebody else could have written are not read, as that would run their code."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from scurry.common import Configuration
from scurry.connectors.collect_sink import CollectSink
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.functions import KeyedProcessFunction
from scurry.datastream.state import ValueStateDescriptor
from scurry.errors import JobError, SavepointTrustError
from scurry.runtime.savepoint.reading import open_savepoint
from scurry.runtime.savepoint.trust import require_trusted
from scurry.state import OperatorTransformation, SavepointReader, SavepointWriter

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes and owners are POSIX's")


@pytest.fixture
def savepoint(tmp_path: Path) -> Path:
    tmp_path.chmod(0o755)
    path = tmp_path / "savepoint"
    state = OperatorTransformation.keyed_state([("ann", {"count": 1})])
    SavepointWriter.new_savepoint().with_operator("counts", state).write(str(path))
    for each in (path, *path.rglob("*")):
        each.chmod(0o755 if each.is_dir() else 0o644)
    return path


def test_a_savepoint_that_only_its_user_can_write_is_read(savepoint: Path) -> None:
    assert dict(SavepointReader.read(str(savepoint)).keyed_state("counts")) == {"ann": {"count": 1}}


@pytest.mark.parametrize("which", [".", "entries", "metadata.json", "entries/kind=page/new-0.parquet"])
def test_a_file_or_directory_that_all_can_write_is_refused(savepoint: Path, which: str) -> None:
    (savepoint / which).chmod(0o777)
    with pytest.raises(SavepointTrustError, match=r"others can write to it .*run code.*chmod go-w .*allow_untrusted"):
        SavepointReader.read(str(savepoint))


def test_a_file_that_a_group_can_write_is_refused(savepoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scurry.runtime.savepoint.trust._own_group", lambda group: False)
    (savepoint / "metadata.json").chmod(0o664)
    with pytest.raises(SavepointTrustError, match="metadata.json: others can write to it"):
        open_savepoint(str(savepoint))


def test_the_group_that_is_the_users_own_may_write(savepoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scurry.runtime.savepoint.trust._own_group", lambda group: True)
    (savepoint / "metadata.json").chmod(0o664)
    open_savepoint(str(savepoint))


def test_another_users_savepoint_is_refused(savepoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.geteuid() == 0:
        os.chown(savepoint / "metadata.json", 12_345, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 12_345)
    with pytest.raises(SavepointTrustError, match="it belongs to user .*copy it, if you trust them"):
        SavepointReader.read(str(savepoint))


def test_a_savepoint_that_others_can_replace_is_refused(savepoint: Path) -> None:
    savepoint.parent.chmod(0o777)
    with pytest.raises(SavepointTrustError, match="others can put another directory in its place"):
        SavepointWriter.from_existing_savepoint(str(savepoint))


def test_nobody_can_replace_what_others_own_where_the_sticky_bit_is_set(savepoint: Path) -> None:
    savepoint.parent.chmod(0o1777)
    open_savepoint(str(savepoint))


def test_the_caller_can_vouch_for_who_writes_there(savepoint: Path) -> None:
    (savepoint / "metadata.json").chmod(0o666)
    read = SavepointReader.read(str(savepoint), allow_untrusted=True)
    assert dict(read.keyed_state("counts")) == {"ann": {"count": 1}}


def test_a_job_does_not_start_from_it_unless_it_is_told_to(savepoint: Path) -> None:
    def start(**settings: str) -> list[Any]:
        configuration = Configuration()
        configuration.set_string("scurry.runner", "local")
        configuration.set_string("execution.runtime-mode", "STREAMING")
        configuration.set_string("execution.state-recovery.path", str(savepoint))
        for key, value in settings.items():
            configuration.set_string(key, value)
        env = StreamExecutionEnvironment(configuration)
        found: list[Any] = []
        counts = env.from_collection([("ann", 1)]).key_by(lambda pair: pair[0]).process(Count()).uid("counts")
        counts._sink(CollectSink(found.extend), "found")
        env.execute()
        return found

    assert start() == [2]
    (savepoint / "metadata.json").chmod(0o666)
    with pytest.raises(JobError, match=r"SavepointTrustError: .*scurry.savepoint.allow-untrusted"):
        start()
    assert start(**{"scurry.savepoint.allow-untrusted": "true"}) == [2]


class Count(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count"))

    def process_element(self, value: Any, ctx: Any) -> Any:
        self.count.update((self.count.value() or 0) + value[1])
        yield self.count.value()


def test_of_a_checkpoint_the_directories_are_looked_at(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    inner = tmp_path / "checkpoint" / "generation-1"
    inner.mkdir(parents=True)
    (inner / "state").write_bytes(b"")
    for each in (inner.parent, inner, inner / "state"):
        each.chmod(0o755)
    (inner / "state").chmod(0o666)
    require_trusted(str(inner.parent), what="checkpoint")
    inner.chmod(0o777)
    with pytest.raises(SavepointTrustError, match="checkpoint .* is not read: .*generation-1: others can write"):
        require_trusted(str(inner.parent), what="checkpoint")
