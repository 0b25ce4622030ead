"""Programs by page and heading, the tables they suppose to be there, and their answers."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["PROGRAMS", "Tables", "answer", "program"]

Program = Callable[["Tables"], Any]
#: page and heading -> modes in which it runs, and the program
PROGRAMS: dict[str, tuple[tuple[str, ...], Program]] = {}

_ROWS = [
    ("Jack", 10, "x", "2024-01-01 00:00:01"),
    ("Rose", 30, "y y", "2024-01-01 00:00:03"),
    ("Jack", 20, "z", "2024-01-01 00:06:00"),
    ("Jack", 20, "z", "2024-01-01 01:30:00"),
]


def program(heading: str, *modes: str) -> Callable[[Program], Program]:
    """Register a program of a heading, for BATCH and STREAMING unless only one is named."""

    def registered(function: Program) -> Program:
        PROGRAMS[heading] = (modes or ("batch", "streaming"), function)
        return function

    return registered


class Tables:
    """The environment and the tables that the pages suppose to be there."""

    def __init__(self, mode: str, directory: str) -> None:
        from pyflink.table import EnvironmentSettings, TableEnvironment

        settings = EnvironmentSettings.in_batch_mode() if mode == "batch" else EnvironmentSettings.in_streaming_mode()
        self.mode = mode
        self.t_env = TableEnvironment.create(settings)
        self.t_env.get_config().set("parallelism.default", "1").set("table.local-time-zone", "UTC")
        file = Path(directory) / "orders.csv"
        file.write_text("".join(",".join(map(str, row)) + "\n" for row in _ROWS))
        self.directory = directory
        self.t_env.execute_sql(
            "CREATE TABLE Orders (a STRING, b BIGINT, c STRING, rowtime TIMESTAMP(3), "
            "WATERMARK FOR rowtime AS rowtime - INTERVAL '1' SECOND) "
            f"WITH ('connector' = 'filesystem', 'path' = '{file}', 'format' = 'csv')"
        )

    @property
    def orders(self) -> Any:
        return self.t_env.from_path("Orders")

    @property
    def names(self) -> Any:
        return self.t_env.from_elements([("Jack", 1), ("Ann", 2)], ["d", "e"])

    @property
    def numbers(self) -> Any:
        return self.t_env.from_elements([(1, 2), (2, 1), (1, 3)], ["a", "b"])


def answer(heading: str, mode: str) -> list[str]:
    """Return what a program answers: the schema and the rows of its table, in any order, or its lines."""
    with tempfile.TemporaryDirectory() as directory:
        found = PROGRAMS[heading][1](Tables(mode, directory))
        if isinstance(found, list):
            return [str(line) for line in found]
        with found.execute().collect() as rows:
            lines = sorted(f"{row.get_row_kind()}{tuple(row)}" for row in rows)
        return [f"{name}" for name in found.get_schema().get_field_names()] + lines
