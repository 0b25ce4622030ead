"""'connector' = 'mongodb-cdc' on mongo-java-server: documents, changes, metadata, positions, and what errors say."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from bson import ObjectId
from pymongo import MongoClient
from pymongo.errors import AutoReconnect

from scurry.connectors.cdc.capture import Startup
from scurry.connectors.cdc.mongodb.places import Change
from scurry.connectors.cdc.mongodb.receiver import MongoCdcSettings, MongoReceiver
from scurry.table import TableEnvironment
from support.cdc.tables import environment, hints, rows
from support.servers.mongodb import MongoServer

pytestmark = pytest.mark.servers

KEYED = "_id INT, name STRING, price DOUBLE, PRIMARY KEY (_id) NOT ENFORCED"


@pytest.fixture(scope="module")
def server() -> Iterator[MongoServer]:
    with MongoServer() as made:
        yield made


@pytest.fixture
def shop(server: MongoServer) -> Iterator[Any]:
    client: Any
    with MongoClient(server.uri) as client:
        client.drop_database("shop")
        yield client.shop


def in_the_next_second() -> None:
    """Wait: this server knows times of changes by seconds only."""
    time.sleep(1.01 - time.time() % 1)


def table(server: MongoServer, columns: str = KEYED, **options: str) -> TableEnvironment:
    in_the_next_second()
    env = environment()
    given = {"hosts": f"127.0.0.1:{server.port}", "database": "shop", "collection": "items", "poll.await.time.ms": "50"}
    given |= {key.replace("__", "-").replace("_", "."): value for key, value in options.items()}
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
    env.execute_sql(f"CREATE TABLE items ({columns}) WITH ('connector' = 'mongodb-cdc', {listed})")
    return env


def test_documents_come_first_and_changes_after_them(server: MongoServer, shop: Any) -> None:
    shop.items.insert_many([{"_id": 1, "name": "tea", "price": 2.5}, {"_id": 2, "name": "cup"}])

    def change() -> None:
        shop.items.insert_one({"_id": 3, "name": "pot", "price": 9})
        shop.items.update_one({"_id": 1}, {"$set": {"price": 3}})
        shop.items.delete_one({"_id": 3})
        shop.items.replace_one({"_id": 2}, {"name": "mug"})

    found = rows(table(server), "SELECT * FROM items", 8, {2: change})
    assert found == [
        ("+I", (1, "tea", 2.5)),
        ("+I", (2, "cup", None)),
        ("+I", (3, "pot", 9.0)),
        ("-U", (1, "tea", 2.5)),
        ("+U", (1, "tea", 3.0)),
        ("-D", (3, "pot", 9.0)),
        ("-U", (2, "cup", None)),
        ("+U", (2, "mug", None)),
    ]


def test_metadata_say_where_rows_come_from_and_several_collections_are_one_table(
    server: MongoServer, shop: Any
) -> None:
    shop.items_a.insert_one({"_id": ObjectId("5f1e8a0e8b0c9d2f4c8b4567")})
    shop.items_b.insert_one({"_id": "x"})
    shop.other.insert_one({"_id": "y"})
    columns = (
        "_id STRING, d STRING METADATA FROM 'database_name' VIRTUAL, c STRING METADATA FROM 'collection_name' VIRTUAL, "
        "k STRING METADATA FROM 'row_kind' VIRTUAL, at_ TIMESTAMP_LTZ(3) METADATA FROM 'op_ts' VIRTUAL, "
        "PRIMARY KEY (_id) NOT ENFORCED"
    )
    env = table(server, columns, collection="items_[ab]")
    env.get_config().set("table.local-time-zone", "UTC")

    def change() -> None:
        shop.items_b.insert_one({"_id": "z"})

    query = "SELECT _id, d, c, k, CAST(at_ AS STRING) LIKE '1970%' FROM items"
    found = rows(env, query, 3, {2: change})
    assert sorted(found[:2]) == [
        ("+I", ("5f1e8a0e8b0c9d2f4c8b4567", "shop", "items_a", "+I", True)),
        ("+I", ("x", "shop", "items_b", "+I", True)),
    ]
    assert found[2] == ("+I", ("z", "shop", "items_b", "+I", False))


@pytest.mark.parametrize("mode", ["latest-offset", "timestamp"])
def test_changes_only(server: MongoServer, shop: Any, mode: str) -> None:
    shop.items.insert_one({"_id": 1, "name": "before"})
    in_the_next_second()
    options = {"scan_startup_mode": mode}
    if mode == "timestamp":
        options["scan_startup_timestamp__millis"] = str(int(time.time()) * 1000)

    def change() -> None:
        time.sleep(0.5)
        shop.items.insert_one({"_id": 2, "name": "after"})

    assert rows(table(server, **options), "SELECT * FROM items", 1, {0: change}) == [("+I", (2, "after", None))]


def test_all_changes_as_rows_that_are_added(server: MongoServer, shop: Any) -> None:
    shop.items.insert_one({"_id": 1, "name": "tea"})
    columns = KEYED.replace("PRIMARY", "k STRING METADATA FROM 'row_kind' VIRTUAL, PRIMARY")
    env = table(server, columns, **{"scan_read__changelog__as__append__only_enabled": "true"})

    def change() -> None:
        shop.items.update_one({"_id": 1}, {"$set": {"name": "chai"}})
        shop.items.delete_one({"_id": 1})
        shop.items.insert_one({"_id": 2, "name": "pot"})

    # the document of an update is looked up when it is read: if it is deleted by then, the update leaves no row
    found = rows(env, "SELECT _id, name, k FROM items WHERE k <> '+U'", 3, {1: change})
    assert [row for _, row in found] == [(1, "tea", "+I"), (1, None, "-D"), (2, "pot", "+I")]


def read(receiver: MongoReceiver, count: int) -> list[Change]:
    """Take changes until there are so many."""
    found: list[Change] = []
    give_up = time.monotonic() + 120
    while len(found) < count:
        found += receiver.take(1, 1 << 20)
        assert time.monotonic() < give_up, found
    return found


def documents(changes: list[Change]) -> list[Any]:
    import bson

    return [bson.decode(change.document)["_id"] for change in changes]


def test_reading_goes_on_at_each_position(server: MongoServer, shop: Any) -> None:
    ids: list[Any] = [1, 2, 3.5, "a", "b", ObjectId(), True]
    shop.items.insert_many([{"_id": each} for each in ids])
    in_the_next_second()
    settings = MongoCdcSettings(server.uri, "shop", "items", await_ms=50)
    position: dict[str, Any] | None = None
    found: list[Any] = []
    for at in range(len(ids) + 4):
        if at == len(ids):  # all documents are read
            shop.items.insert_many([{"_id": each} for each in range(10, 14)])
        receiver = MongoReceiver(settings)
        if position is not None:
            receiver.restore(position)
        found += documents(read(receiver, 1))
        position = receiver.position()
        receiver.close()
    assert found == [*ids, *range(10, 14)]


def test_a_job_that_has_read_nothing_yet_begins_where_it_would_have(server: MongoServer, shop: Any) -> None:
    shop.items.insert_one({"_id": 0})
    in_the_next_second()
    settings = MongoCdcSettings(server.uri, "shop", "items", Startup("latest-offset"), await_ms=50)
    first = MongoReceiver(settings)
    assert first.take(10, 1000) == []
    position = first.position()
    first.close()
    shop.items.insert_one({"_id": 1})
    second = MongoReceiver(settings)
    second.restore(position)
    assert documents(read(second, 1)) == [1]
    second.close()


def test_a_collection_that_is_dropped_and_comes_again_is_read_on(server: MongoServer, shop: Any) -> None:
    shop.items.insert_one({"_id": 0})
    in_the_next_second()
    receiver = MongoReceiver(MongoCdcSettings(server.uri, "shop", "items", await_ms=50))
    assert documents(read(receiver, 1)) == [0]
    shop.items.drop()
    shop.items.insert_one({"_id": 1})
    assert documents(read(receiver, 1)) == [1]
    receiver.close()


def test_a_connection_that_breaks_loses_and_repeats_nothing(
    server: MongoServer, shop: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.items.insert_many([{"_id": each} for each in range(6)])
    in_the_next_second()
    receiver = MongoReceiver(MongoCdcSettings(server.uri, "shop", "items", await_ms=50))
    breaks, whole = iter([True, False, True]), type(receiver).receive

    def receive(self: MongoReceiver) -> None:
        if next(breaks, False):
            raise AutoReconnect("it broke")
        whole(self)

    monkeypatch.setattr(MongoReceiver, "receive", receive)
    found = documents(read(receiver, 6))
    shop.items.insert_one({"_id": 6})
    assert [*found, *documents(read(receiver, 1))] == list(range(7))
    receiver.close()


def test_heartbeats_move_the_position(server: MongoServer, shop: Any) -> None:
    shop.items.insert_one({"_id": 0})
    in_the_next_second()
    receiver = MongoReceiver(MongoCdcSettings(server.uri, "shop", "items", await_ms=20, heartbeat_ms=1))
    read(receiver, 1)
    shop.items.update_one({"_id": 0}, {"$set": {"a": 1}})
    assert [change.kind for change in read(receiver, 2)][-1] is None
    receiver.close()


@pytest.mark.parametrize(
    ("options", "message", "hint"),
    [
        ({"collection": "itmes"}, "Can't find any matched tables in MongoDB", "did you mean shop.items?"),
        ({"hosts": "127.0.0.1:1"}, "no server of MongoDB answers at 'hosts'", "'hosts'"),
    ],
)
def test_what_is_missing_is_named(
    server: MongoServer, shop: Any, options: dict[str, str], message: str, hint: str
) -> None:
    shop.items.insert_one({"_id": 1})
    with pytest.raises(Exception, match=message) as failed:
        rows(table(server, **options), "SELECT * FROM items", 1, {})
    assert hint in str(failed.value) + hints(failed.value)
