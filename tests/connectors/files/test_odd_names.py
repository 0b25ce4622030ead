"""Files whose names would mean something else in a URI are each read once, whichever way their directory is named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scurry.connectors.files.formats.stream import TextLineFormat
from scurry.connectors.files.reading.source import FileSource, _FileEnumerator
from support.statements.tables import environment, rows

NAMES = [
    "part",
    "part#2",
    "q",
    "q?x=1",
    "a b",
    "a%20b",
    "a+b",
    "line\nfeed",
    "100%",
    "%",
    "ü",
    "a:b",
    "x;y",
    "[z]",
    "'",
]
Drive = Callable[..., Any]


@pytest.mark.parametrize("address", ["{}", "file://{}", "file:{}"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20, deadline=None)
@given(
    names=st.sets(st.one_of(st.sampled_from(NAMES), st.text("ab#?% \n:;&=+ü\\", min_size=1, max_size=6)), min_size=1)
)
def test_each_file_is_read_once(
    tmp_path_factory: pytest.TempPathFactory, drive: Drive, names: set[str], address: str
) -> None:
    directory = tmp_path_factory.mktemp("odd names")
    for name in names:
        (directory / name).write_text(f"{name!r}\n")
    path = str(directory) if address == "{}" else quote(str(directory))
    source = FileSource(TextLineFormat(), [address.format(path)])
    assert sorted(drive(source, parallelism=2).all()) == sorted(repr(name) for name in names)


@pytest.mark.parametrize("monitored", [False, True])
def test_each_file_of_a_table_is_read_once(tmp_path: Path, monitored: bool) -> None:
    directory = tmp_path / "in put"
    directory.mkdir()
    for number, name in enumerate(NAMES):
        (directory / name).write_text(f"{number}\n")
    env = environment()
    options = "'connector' = 'filesystem', 'format' = 'csv', 'path' = 'file://" + quote(str(directory)) + "'"
    if monitored:
        options += ", 'source.monitor-interval' = '50 ms'"
    env.execute_sql(f"CREATE TABLE t (n INT) WITH ({options})")
    if not monitored:
        assert rows(env, "SELECT n FROM t") == sorted([(number,) for number in range(len(NAMES))], key=str)
        return
    found = set()
    with env.execute_sql("SELECT n FROM t").collect() as results:
        for row in results:
            found.add(row[0])
            if len(found) == len(NAMES):
                break
    assert found == set(range(len(NAMES)))


def test_a_file_that_an_earlier_version_has_read_is_not_read_again(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1\n")
    source = FileSource(TextLineFormat(), [f"file://{tmp_path}"], 1000)
    enumerator = _FileEnumerator(source, 1, 1000)
    position = enumerator.position()
    position["pending"], position["order"], position["seen"] = [[]], [[]], [f"file://{tmp_path}/a"]
    enumerator.restore(position)
    assert enumerator.next_batch() == []
