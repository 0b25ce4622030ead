"""The source for Kinesis of docs/connectors/user-defined.md, with a client that has what it calls of boto3."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scurry.cli.program import run_program
from scurry.common._process.launch import LaunchOptions
from support import TESTS

PAGE = (TESTS.parent / "docs" / "connectors" / "user-defined.md").read_text(encoding="utf-8")
#: Two shards with sequence numbers as texts; answers have two records at most, and some have none before the tip.
CLIENT = """
RECORDS = {
    "shard-0": [("007", b"tea"), ("008", b"cup"), ("011", b"tea"), ("012", b"pot"), ("020", b"tea")],
    "shard-1": [("003", b"jug")],
}


class client:
    def __init__(self, service):
        assert service == "kinesis"

    def list_shards(self, StreamName):
        assert StreamName == "orders"
        return {"Shards": [{"ShardId": shard} for shard in RECORDS]}

    def get_shard_iterator(self, StreamName, ShardId, ShardIteratorType, StartingSequenceNumber=""):
        assert (ShardIteratorType == "TRIM_HORIZON") == (StartingSequenceNumber == "")
        left = [each for each in RECORDS[ShardId] if each[0] > StartingSequenceNumber]
        return {"ShardIterator": ("empty", left)}

    def get_records(self, ShardIterator):
        state, left = ShardIterator
        taken, rest = ([], left) if state == "empty" else (left[:2], left[2:])
        records = [{"SequenceNumber": number, "Data": data} for number, data in taken]
        return {"Records": records, "MillisBehindLatest": 9 * len(rest), "NextShardIterator": ("full", rest)}
"""


def test_each_record_of_each_shard_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (program,) = re.findall(r"```python\n(from itertools import islice\n.*?)```", PAGE, re.DOTALL)
    program = program.replace("bounded = False", "bounded = True")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "boto3.py").write_text(CLIENT)
    (tmp_path / "program.py").write_text(program)
    options = LaunchOptions(runner="local", parallelism=1, configuration={"scurry.batch.max-records": "2"})
    assert run_program(tmp_path / "program.py", [], options, debug=False) == 0
    names = ["cup", "jug", "pot", "tea", "tea", "tea"]
    assert sorted(capfd.readouterr().out.splitlines()) == [f"('{name}', 1)" for name in names]
