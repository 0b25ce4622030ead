"""Columns that PostgreSQL and MariaDB drop, rename and widen, while a pipeline runs and while it does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from scurry.errors import JobError
from support.cdc.databases import MariaDbShop, PostgresShop
from support.pipelines.running import run_until, written

CREATED = (
    "CREATE TABLE orders (id int PRIMARY KEY, name varchar(9), amount int, note varchar(9))",
    "INSERT INTO orders VALUES (1, 'a', 10, 'x'), (2, 'b', 20, 'y')",
)
CHANGED = (
    "ALTER TABLE orders RENAME COLUMN name TO title",
    "ALTER TABLE orders DROP COLUMN note",
    "INSERT INTO orders VALUES (3, 'c', 5000000000)",
)
WIDENED = {
    "postgres": "ALTER TABLE orders ALTER COLUMN amount TYPE bigint",
    "mariadb": "ALTER TABLE orders MODIFY COLUMN amount bigint",
}
ROWS = [(1, "a", 10), (2, "b", 20), (3, "c", 5_000_000_000)]


@pytest.fixture(
    params=[
        pytest.param("postgres", marks=pytest.mark.postgres),
        pytest.param("mariadb", marks=pytest.mark.servers),
    ]
)
def shop(request: pytest.FixtureRequest) -> Iterator[PostgresShop | MariaDbShop]:
    server = request.getfixturevalue(f"{request.param}_server")
    if request.param == "postgres":
        server.empty()
        found: PostgresShop | MariaDbShop = PostgresShop(server)
        found.run(*CREATED, "ALTER TABLE orders REPLICA IDENTITY FULL")
    else:
        found = MariaDbShop(server)
        found.run("DROP DATABASE IF EXISTS ods", *CREATED)
    yield found
    if request.param == "postgres":
        found.run("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE NOT active")
    found.close()


def pipeline(shop: PostgresShop | MariaDbShop, behavior: str, more: str = "") -> str:
    is_postgres = isinstance(shop, PostgresShop)
    login = "username: scurry\n  password: correct-horse" if is_postgres else 'username: root\n  password: ""'
    port = shop.server.port
    url = shop.server.url if isinstance(shop, PostgresShop) else f"jdbc:mariadb://127.0.0.1:{port}/"
    return f"""source:
  type: {"postgres" if is_postgres else "mysql"}
  hostname: 127.0.0.1
  port: {port}
  {login}
  tables: {"scurry.public.orders" if is_postgres else "shop.orders"}
{"  slot.name: columns" if is_postgres else ""}
sink:
  type: jdbc
  url: {url}
  {login}
{more}
route:
  - source-table: {"public" if is_postgres else "shop"}.\\.*
    sink-table: ods.<>
    replace-symbol: <>
pipeline:
  schema.change.behavior: {behavior}
"""


def is_there(shop: PostgresShop | MariaDbShop, query: str, rows: list[tuple[Any, ...]]) -> Callable[[], bool]:
    def check() -> bool:
        try:
            return [tuple(row) for row in shop.rows(query)] == rows
        except Exception:
            return False

    return check


def columns(shop: PostgresShop | MariaDbShop) -> dict[str, str]:
    where = "table_schema = 'ods' AND table_name = 'orders'"
    return dict(shop.rows(f"SELECT column_name, data_type FROM information_schema.columns WHERE {where}"))


def changes(shop: PostgresShop | MariaDbShop) -> list[str]:
    name = "postgres" if isinstance(shop, PostgresShop) else "mariadb"
    return [WIDENED[name], *CHANGED]


FIRST = "SELECT id FROM ods.orders ORDER BY id"


@pytest.mark.parametrize("is_running", [True, False])
def test_the_sink_follows_with_evolve(shop: PostgresShop | MariaDbShop, tmp_path: Path, is_running: bool) -> None:
    path, checkpoints = written(tmp_path / "copy.yaml", pipeline(shop, "evolve")), tmp_path / "checkpoints"
    condition, more = is_there(shop, FIRST, [(1,), (2,)]), [is_there(shop, FIRST, [(1,), (2,), (9,)])]

    def first_rows() -> bool:
        if more and condition():
            shop.run("INSERT INTO orders VALUES (9, 'z', 90, 'z')")
            return more.pop()()
        return not more and is_there(shop, FIRST, [(1,), (2,), (9,)])()

    rows = [*ROWS, (9, "z", 90)]
    following = is_there(shop, "SELECT id, title, amount FROM ods.orders ORDER BY id", rows)
    if is_running:
        done: list[bool] = []

        def both() -> bool:
            if not done and first_rows():
                done.append(True)
                shop.run(*changes(shop))
            return bool(done) and following()

        run_until(path, both, checkpoints)
    else:
        run_until(path, first_rows, checkpoints)
        shop.run(*changes(shop))
        run_until(path, following, checkpoints)
    assert columns(shop) == {**columns(shop), "amount": "bigint"}
    assert set(columns(shop)) == {"id", "title", "amount"}


@pytest.mark.parametrize(
    ("behavior", "more", "names"),
    [
        ("lenient", "", {"id", "name", "amount", "note", "title"}),
        ("evolve", "  exclude.schema.changes: [drop]", {"id", "amount", "note", "title"}),
        ("ignore", "", {"id", "name", "amount", "note"}),
    ],
)
def test_the_sink_keeps_columns(
    shop: PostgresShop | MariaDbShop, tmp_path: Path, behavior: str, more: str, names: set[str]
) -> None:
    done: list[bool] = []
    # what `ignore` keeps is an INT
    statements = [each.replace("5000000000", "50") for each in changes(shop)]

    def condition() -> bool:
        if not done and is_there(shop, FIRST, [(1,), (2,)])():
            done.append(True)
            shop.run(*statements)
        return is_there(shop, FIRST, [(1,), (2,), (3,)])()

    run_until(written(tmp_path / "copy.yaml", pipeline(shop, behavior, more)), condition)
    assert set(columns(shop)) == names
    title = "title" if "title" in names else "NULL"
    assert [tuple(row) for row in shop.rows(f"SELECT {title}, note FROM ods.orders WHERE id = 3")] == [
        ("c" if "title" in names else None, None)
    ]


def test_a_change_without_rows_reaches_the_sink(shop: PostgresShop | MariaDbShop, tmp_path: Path) -> None:
    shop.run("CREATE TABLE ticks (id int PRIMARY KEY)")
    text = pipeline(shop, "evolve").replace(".orders\n", ".(orders|ticks)\n", 1)
    done: list[bool] = []

    def condition() -> bool:
        if not done and is_there(shop, FIRST, [(1,), (2,)])():
            done.append(True)
            shop.run("ALTER TABLE orders DROP COLUMN note", "INSERT INTO ticks VALUES (1)")
        return bool(done) and "note" not in columns(shop)

    run_until(written(tmp_path / "copy.yaml", text), condition)


def test_a_lost_column_of_the_primary_key_ends_the_job(shop: PostgresShop | MariaDbShop, tmp_path: Path) -> None:
    done: list[bool] = []

    def condition() -> bool:
        if not done and is_there(shop, FIRST, [(1,), (2,)])():
            done.append(True)
            shop.run("ALTER TABLE orders DROP COLUMN id", "INSERT INTO orders (name) VALUES ('c')")
        return False

    with pytest.raises(JobError, match="orders has (no primary key|lost columns id: 'id' is of the primary key)"):
        run_until(written(tmp_path / "copy.yaml", pipeline(shop, "evolve")), condition)
