"""Measure how far materialized tables lag behind.

    python bench/freshness.py [--seconds 60] [--freshness 4] [--session] [--mode FULL] [--tables 1] [--rows 0]

Rows with the time of their writing are appended to a Delta table; the lag of a row is the time until a materialized
table shows it. The freshness is kept if the longest lag is at most 1.5 times what was asked. With `--session`, jobs of
a session refresh the tables, in processes of their own; otherwise this process does. `--tables` of them read the same
source, which begins with `--rows` rows.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable, write_deltalake

from scurry.common import Configuration
from scurry.table import EnvironmentSettings, TableEnvironment

QUERIES = {
    "CONTINUOUS": "SELECT v, w FROM lake.shop.src /*+ OPTIONS('mode' = 'streaming', "
    "'updateCheckIntervalMillis' = '50') */",
    "FULL": "SELECT v, MAX(w) AS w FROM lake.shop.src GROUP BY v",
}


@contextmanager
def session(home: Path) -> Iterator[None]:
    """Let a session run."""
    said = home / "session"
    with open(said, "wb") as out:
        command = [sys.executable, "-m", "scurry", "session", "start", "bench", "--runner", "local"]
        process = subprocess.Popen(command, stdout=out, stderr=out)
    try:
        while not re.search(r"session \S+ at ", said.read_text()):
            time.sleep(0.1)
        yield
    finally:
        process.kill()
        process.wait()


class Target:
    """A materialized table, read again when it has another version."""

    def __init__(self, path: Path) -> None:
        self.path, self.version = path, ""
        self.seen: dict[int, float] = {}

    def look(self) -> None:
        log = self.path / "_delta_log"
        version = max((file.name for file in log.glob("*.json")), default="") if log.exists() else ""
        if version == self.version:
            return
        self.version = version
        values = DeltaTable(str(self.path)).to_pyarrow_dataset().to_table(columns=["v"], filter=pc.field("v") >= 0)
        now = time.time()
        for value in values.column("v").to_pylist():
            self.seen.setdefault(value, now)


def environment(home: Path, mode: str, by_session: bool) -> TableEnvironment:
    settings = {"scurry.runner": "local", "parallelism.default": "1", "table.catalog-store.kind": "file"}
    settings["table.catalog-store.file.path"] = f"{home}/catalogs-{mode}"
    if by_session:
        settings["scurry.materialized-table.session"] = "bench"
    made = EnvironmentSettings.new_instance().in_streaming_mode()
    env = TableEnvironment.create(made.with_configuration(Configuration.from_dict(settings)).build())
    env.execute_sql(f"CREATE CATALOG lake WITH ('type' = 'delta', 'warehouse' = '{home}/lake-{mode}')")
    env.execute_sql("CREATE DATABASE lake.shop")
    return env


def lags(env: TableEnvironment, lake: Path, mode: str, given: argparse.Namespace) -> list[float]:
    """Return the lags of rows that are written four times a second, in seconds."""
    written: dict[int, float] = {}

    def write() -> None:
        number = len(written)
        rows = pa.table({"v": pa.array([number], pa.int64()), "w": pa.array([time.time()])})
        write_deltalake(str(lake / "src"), rows, mode="append")
        written[number] = time.time()

    if given.rows:
        old = pa.table({"v": pa.array([-1 - i % 1000 for i in range(given.rows)], pa.int64())})
        write_deltalake(str(lake / "src"), old.append_column("w", pa.array([0.0] * given.rows)))
    write()
    targets = [Target(lake / f"mt{number}") for number in range(given.tables)]
    first = []
    for target in targets:
        env.execute_sql(
            f"CREATE MATERIALIZED TABLE lake.shop.{target.path.name} FRESHNESS = INTERVAL '{given.freshness}' SECOND "
            f"REFRESH_MODE = {mode} AS {QUERIES[mode]}"
        )
        first.append(time.time())
    end = time.time() + given.seconds
    while time.time() < end or any(len(target.seen) < len(written) for target in targets):
        if time.time() < end:
            write()
        deadline = time.time() + 0.25
        while time.time() < deadline:
            for target in targets:
                target.look()
            time.sleep(0.05)
    for target in targets:
        env.execute_sql(f"DROP MATERIALIZED TABLE lake.shop.{target.path.name}")
    return [
        target.seen[number] - max(at, begun)
        for target, begun in zip(targets, first, strict=True)
        for number, at in written.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--freshness", type=int, default=4)
    parser.add_argument("--session", action="store_true")
    parser.add_argument("--mode", choices=list(QUERIES), action="append")
    parser.add_argument("--tables", type=int, default=1)
    parser.add_argument("--rows", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory)
        os.environ |= {"XDG_STATE_HOME": str(home / "state"), "XDG_RUNTIME_DIR": str(home)}
        for mode in given.mode or QUERIES:
            with session(home) if given.session else open(os.devnull):
                env = environment(home, mode, given.session)
                found = sorted(lags(env, home / f"lake-{mode}" / "shop", mode, given))
            middle, longest = found[len(found) // 2], found[-1]
            print(
                f"{mode}: freshness {given.freshness} s, {given.tables} tables, {len(found)} rows, "
                f"lag p50 {middle:.2f} s, longest {longest:.2f} s: {longest / given.freshness:.2f} times the freshness",
                flush=True,
            )


if __name__ == "__main__":
    main()
