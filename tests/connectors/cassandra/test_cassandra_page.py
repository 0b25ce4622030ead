"""The program of docs/connectors/cassandra.md prints what the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cassandra.cluster import Cluster

from scurry.cli.program import run_program
from scurry.common._process.launch import LaunchOptions
from support.docs.blocks import PAGES
from support.servers.cassandra import CassandraServer


@pytest.mark.servers
@pytest.mark.nightly
def test_the_page_is_right(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    page = PAGES["connectors/cassandra.md"]
    (program,) = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    (printed,) = re.findall(r"^```text\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    file = tmp_path / "program.py"
    with (
        CassandraServer() as server,
        Cluster(["127.0.0.1"], port=server.port, protocol_version=4, connect_timeout=20) as cluster,
    ):
        session = cluster.connect()
        session.default_timeout = 60
        session.execute("CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
        session.execute("CREATE TABLE shop.words (word text PRIMARY KEY, n int)")
        file.write_text(program.replace("localhost", "127.0.0.1").replace("9042", str(server.port)))
        status = run_program(file, [], LaunchOptions(runner="local", parallelism=1), debug=False)
    shown = capfd.readouterr()
    assert status == 0, shown.err
    assert shown.out == printed
