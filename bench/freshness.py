"""Measure how far materialized tables lag behind.

    python bench/freshness.py [--seconds 60] [--freshness 4] [--session] [--mode FULL]

Rows with the time of their writing are appended to a Delta table; the lag of a row is the time until the materialized
table shows it. The freshness is kept if the longest lag is at most 1.5 times what was asked. With `--session`, jobs of
a session refresh the table, each in a process of its own; otherwise this process does.
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


def lags(home: Path, mode: str, freshness: int, seconds: float, by_session: bool) -> list[float]:
    """Return the lags of rows that are written four times a second, in seconds."""
    settings = {"scurry.runner": "local", "parallelism.default": "1", "table.catalog-store.kind": "file"}
    settings["table.catalog-store.file.path"] = f"{home}/catalogs-{mode}"
    if by_session:
        settings["scurry.materialized-table.session"] = "bench"
    made = EnvironmentSettings.new_instance().in_streaming_mode()
    env = TableEnvironment.create(made.with_configuration(Configuration.from_dict(settings)).build())
    lake = home / f"lake-{mode}"
    env.execute_sql(f"CREATE CATALOG lake WITH ('type' = 'delta', 'warehouse' = '{lake}')")
    env.execute_sql("CREATE DATABASE lake.shop")
    written: dict[int, float] = {}
    seen: dict[int, float] = {}

    def write() -> None:
        number = len(written)
        rows = pa.table({"v": pa.array([number], pa.int64()), "w": pa.array([time.time()])})
        write_deltalake(str(lake / "shop" / "src"), rows, mode="append")
        written[number] = time.time()

    def look() -> None:
        target = lake / "shop" / "mt"
        if (target / "_delta_log").exists():
            for value in DeltaTable(str(target)).to_pyarrow_table(columns=["v"]).column("v").to_pylist():
                seen.setdefault(value, time.time())

    write()
    env.execute_sql(
        f"CREATE MATERIALIZED TABLE lake.shop.mt FRESHNESS = INTERVAL '{freshness}' SECOND REFRESH_MODE = {mode} "
        f"AS {QUERIES[mode]}"
    )
    first = time.time()
    while time.time() < first + seconds:
        write()
        deadline = time.time() + 0.25
        while time.time() < deadline:
            look()
            time.sleep(0.05)
    while len(seen) < len(written):
        look()
        time.sleep(0.05)
    env.execute_sql("DROP MATERIALIZED TABLE lake.shop.mt")
    return [seen[number] - max(at, first) for number, at in written.items()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--freshness", type=int, default=4)
    parser.add_argument("--session", action="store_true")
    parser.add_argument("--mode", choices=list(QUERIES), action="append")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory)
        os.environ |= {"XDG_STATE_HOME": str(home / "state"), "XDG_RUNTIME_DIR": str(home)}
        for mode in given.mode or QUERIES:
            with session(home) if given.session else open(os.devnull):
                found = sorted(lags(home, mode, given.freshness, given.seconds, given.session))
            middle, longest = found[len(found) // 2], found[-1]
            print(
                f"{mode}: freshness {given.freshness} s, {len(found)} rows, lag p50 {middle:.2f} s, longest "
                f"{longest:.2f} s: {longest / given.freshness:.2f} times what was asked",
                flush=True,
            )


if __name__ == "__main__":
    main()
