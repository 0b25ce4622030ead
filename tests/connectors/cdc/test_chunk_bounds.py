"""Changes are looked up among the chunks that were read before them, many with one request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from scurry.connectors.cdc.bounds import ChunkBounds
from scurry.connectors.cdc.capture import CapturedTable, LogWork, Segment, TableId
from scurry.connectors.cdc.mysql import reading
from scurry.connectors.cdc.mysql.binlog import BinlogChange
from scurry.connectors.cdc.mysql.reading import MySqlCapture
from scurry.connectors.cdc.mysql.session import value_of
from scurry.connectors.cdc.postgres import log
from scurry.connectors.cdc.postgres.log import LogReader
from scurry.connectors.cdc.postgres.pgoutput import Begin, Change
from support.cdc.reader import Reader

UPPERS = ["g", "n", None]


class Asked:
    """A server that knows the order of texts, and how often it was asked."""

    def __init__(self) -> None:
        self.keys: list[list[str]] = []

    def __call__(self, keys: list[str]) -> list[int]:
        self.keys.append(keys)
        return [sum(upper is not None and upper < key for upper in UPPERS) for key in keys]


def test_the_server_is_asked_once_for_all_keys() -> None:
    asked = Asked()
    bounds = ChunkBounds(["g", "n"], 2, None, asked)
    bounds.look_up(["a", "h", None, "z", "a"])
    assert [bounds.place(key) for key in ("a", "h", "z", "a", None)] == [0, 1, 2, 0, 2]
    bounds.look_up(["z", "g"])
    assert [bounds.place(key) for key in ("z", "g")] == [2, 0]
    assert asked.keys == [["a", "h", "z"], ["g"]]


def test_a_key_that_was_not_looked_up_is_asked_for() -> None:
    assert ChunkBounds(["g", "n"], 2, None, Asked()).place("h") == 1


def test_numbers_are_compared_without_the_server() -> None:
    bounds = ChunkBounds(["9", "10.5"], 0, value_of("decimal(10,2)"), lambda keys: pytest.fail("it was asked"))
    bounds.look_up([9, 10, None])
    assert [bounds.place(key) for key in (-3, 9, 10, "10.50", 11, None)] == [0, 0, 1, 1, 2, 0]


def test_nan_is_behind_all_numbers_of_postgresql() -> None:
    bounds = ChunkBounds(["1", "Infinity", "NaN"], 3, log._number, lambda keys: pytest.fail("it was asked"))
    assert [bounds.place(key) for key in ("1", "2", "Infinity", "NaN", "-Infinity")] == [0, 1, 1, 2, 0]


def test_one_chunk_needs_no_order() -> None:
    bounds = ChunkBounds([], 0, None, lambda keys: pytest.fail("it was asked"))
    bounds.look_up(["a"])
    assert bounds.place("a") == bounds.place(None) == 0


KEYS = [chr(97 + number % 26) * 3 + str(number) for number in range(500)]


def test_changes_of_postgresql_take_one_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first two chunks were read before the transaction, the last one behind it."""
    table, asked = CapturedTable(TableId("d", "s", "t"), ("id", "n"), ("text", "integer"), ("id",), "id"), Asked()
    marks = ["10:10:", "10:10:", "90:90:"]
    segments = {table.id: [Segment(upper, ["", mark]) for upper, mark in zip(UPPERS, marks, strict=True)]}
    found = [(Begin(5, 0, 50), table, Change("I", 1, None, False, [key, "1"])) for key in KEYS]
    monkeypatch.setattr(log, "changes", lambda *arguments: iter(found))
    monkeypatch.setattr(log, "connect", lambda settings: _Connection(asked))
    monkeypatch.setattr(log, "collation", lambda *arguments: "")
    settings: Any = type("Settings", (), {"needs_before": False, "gives_before": True})()
    blocks = list(LogReader(settings, LogWork(1, 9, (table,), segments), None).blocks())
    assert [key for block in blocks for key in block.columns[0]] == [key for key in KEYS if key <= "n"]
    assert len(asked.keys) == 1


class _Connection:
    """A connection to the server, of either client."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._found: list[tuple[int]] = []

    def execute(self, query: str, parameters: list[Any]) -> _Connection:
        keys = parameters[1] if isinstance(parameters[0], list) else parameters[:-2]
        self._found = [(count,) for count in self._asked(keys)]
        return self

    def fetchall(self) -> list[tuple[int]]:
        return self._found

    def cursor(self) -> _Connection:
        return self

    def __enter__(self) -> _Connection:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def close(self) -> None:
        pass


def test_changes_of_mysql_take_one_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """For each row every chunk was asked for, one after the other."""
    table, asked = CapturedTable(TableId("d", "", "t"), ("id", "n"), ("varchar(9)", "int"), ("id",), "id"), Asked()
    marks = [["b.1", 10], ["b.1", 10], ["b.1", 90]]
    segments = {table.id: [Segment(upper, mark) for upper, mark in zip(UPPERS, marks, strict=True)]}

    def changes(*arguments: Any) -> Iterator[BinlogChange]:
        return (BinlogChange(table, None, [key, "1"], 0, ["b.1", 50]) for key in KEYS)

    monkeypatch.setattr(reading, "changes", changes)
    monkeypatch.setattr(reading, "connect", lambda settings: _Connection(asked))
    monkeypatch.setattr(reading, "collation_of", lambda *arguments: None)
    settings: Any = None
    work = LogWork(["b.1", 1], ["b.1", 99], (table,), segments)
    blocks = list(MySqlCapture(settings).read_log(work, None))
    assert [key for block in blocks for key in block.columns[0]] == [key for key in KEYS if key <= "n"]
    assert len(asked.keys) == 1


@pytest.mark.parametrize(
    "database",
    [pytest.param("postgres", marks=pytest.mark.postgres), pytest.param("mariadb", marks=pytest.mark.servers)],
)
def test_servers_are_asked_as_often_however_much_has_changed(
    database: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = request.getfixturevalue(database)
    kind = "text" if database == "postgres" else "varchar(20)"
    values = ", ".join(f"('{key[:3]}Ä{number}', 'x', {number})" for number, key in enumerate(KEYS))
    shop.run(f"CREATE TABLE items (id {kind} PRIMARY KEY, name text, price numeric(10))")
    if database == "postgres":
        shop.run("ALTER TABLE items REPLICA IDENTITY FULL")
    shop.run(f"INSERT INTO items VALUES {values}")
    requests: list[str] = []
    _count(monkeypatch, database, requests)
    counts = []
    for changed in (2, 400):
        reader = Reader(shop.capture(), chunk_rows=50)
        reader.step()
        reader.step()
        shop.run(f"UPDATE items SET name = CONCAT(name, 'y') WHERE price < {changed}")
        reader.kill(reader.position)  # the chunks that are left are read as of another moment
        reader.step()
        requests.clear()
        reader.drain()
        counts.append(sum("unnest" in query or "UNION ALL" in query for query in requests))
        rows = shop.rows("SELECT id, name FROM items ORDER BY price")
        assert sorted(row[:2] for row in reader.there()) == sorted(map(tuple, rows))
        reader.close()
    assert counts == [1, 1]


def _count(monkeypatch: pytest.MonkeyPatch, database: str, requests: list[str]) -> None:
    import psycopg
    import pymysql.cursors

    client: Any = psycopg.Connection if database == "postgres" else pymysql.cursors.Cursor
    execute = client.execute

    def counted(self: Any, query: Any, *rest: Any, **more: Any) -> Any:
        requests.append(str(query))
        return execute(self, query, *rest, **more)

    monkeypatch.setattr(client, "execute", counted)
