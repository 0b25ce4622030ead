"""Programs that mix what tables can do, the tables they read, and their answers."""

from __future__ import annotations

import collections
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["PROGRAMS", "Tables", "answer", "program"]

Program = Callable[["Tables"], Any]
#: name -> modes in which it runs, whether only the final rows count, and the program
PROGRAMS: dict[str, tuple[tuple[str, ...], bool, Program]] = {}

_ORDERS = """\
1,ann,tea,3.50,2,2024-05-01 10:00:00
2,bob,milk,1.20,1,2024-05-01 10:02:30
3,ann,milk,1.20,4,2024-05-01 10:04:59
4,cyd,tea,3.50,1,2024-05-01 10:05:00
5,bob,cake,12.00,1,2024-05-01 10:11:10
6,ann,cake,12.00,,2024-05-01 10:12:00
7,,tea,3.75,3,2024-05-01 10:19:59
8,cyd,milk,1.25,10,2024-05-01 10:31:00
"""
_USERS = "ann,DE,2019-03-01\nbob,FR,\ndan,DE,2021-07-15\n"
_RATES = (
    "tea,10,2024-05-01 09:00:00\nmilk,20,2024-05-01 09:00:00\ntea,11,2024-05-01 10:04:00\n"
    "cake,30,2024-05-01 10:12:00\nmilk,25,2024-05-01 11:00:00\n"
)


def program(name: str, *modes: str, final: bool = False) -> Callable[[Program], Program]:
    """Register a program, for BATCH and STREAMING unless only one is named.

    Args:
        name: Its name.
        *modes: The modes it runs in.
        final: Whether the order of its changes is left to chance, so that only the rows that remain are compared.
    """

    def registered(function: Program) -> Program:
        assert name not in PROGRAMS, name
        PROGRAMS[name] = (modes or ("batch", "streaming"), final, function)
        return function

    return registered


class Tables:
    """An environment, and tables of orders, users and rates."""

    def __init__(self, mode: str, directory: str) -> None:
        from pyflink.table import EnvironmentSettings, TableEnvironment

        settings = EnvironmentSettings.in_batch_mode() if mode == "batch" else EnvironmentSettings.in_streaming_mode()
        self.mode = mode
        self.directory = Path(directory)
        self.env = TableEnvironment.create(settings)
        self.env.get_config().set("parallelism.default", "1").set("table.local-time-zone", "UTC")
        self._csv(
            "orders",
            "id INT, who STRING, item STRING, price DECIMAL(8, 2), pieces INT, at TIMESTAMP(3), "
            "WATERMARK FOR `at` AS `at` - INTERVAL '1' SECOND",
            _ORDERS,
        )
        self._csv("users", "name STRING, country STRING, since DATE", _USERS)
        self._csv(
            "rates",
            "thing STRING, rate INT, since TIMESTAMP(3), WATERMARK FOR since AS since, "
            "PRIMARY KEY (thing) NOT ENFORCED",
            _RATES,
        )

    def _csv(self, name: str, columns: str, rows: str) -> None:
        file = self.directory / f"{name}.csv"
        file.write_text(rows)
        self.env.execute_sql(
            f"CREATE TABLE {name} ({columns.replace('at TIMESTAMP', '`at` TIMESTAMP')}) WITH "
            f"('connector' = 'filesystem', 'path' = '{file}', 'format' = 'csv', 'csv.null-literal' = '')"
        )

    @property
    def orders(self) -> Any:
        return self.env.from_path("orders")

    @property
    def users(self) -> Any:
        return self.env.from_path("users")

    @property
    def rates(self) -> Any:
        return self.env.from_path("rates")

    def sink(self, name: str, columns: str) -> Path:
        """Create a table of files, and return its directory."""
        target = self.directory / name
        self.env.execute_sql(
            f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'filesystem', 'path' = '{target}', 'format' = 'csv')"
        )
        return target

    def written(self, target: Path) -> list[str]:
        """Return the lines of the files of a table, sorted."""
        return sorted(line for file in target.rglob("*") if file.is_file() for line in file.read_text().splitlines())


def answer(name: str, mode: str) -> list[str]:
    """Return what a program answers: the schema and the rows of its table, in any order, or its lines."""
    _modes, final, run = PROGRAMS[name]
    with tempfile.TemporaryDirectory() as directory:
        found = run(Tables(mode, directory))
        if isinstance(found, list):
            return [str(line) for line in found]
        with found.execute().collect() as rows:
            changes = [(str(row.get_row_kind()), str(tuple(row))) for row in rows]
        schema = " ".join(str(found.get_resolved_schema()).split())
        return [schema, *(_remaining(changes) if final else sorted(kind + row for kind, row in changes))]


def _remaining(changes: list[tuple[str, str]]) -> list[str]:
    rows = collections.Counter[str]()
    for kind, row in changes:
        rows[row] += 1 if kind.endswith(("INSERT", "UPDATE_AFTER")) else -1
    return sorted(rows.elements())
