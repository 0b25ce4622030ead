"""Materialized tables of a Delta lake, refreshed by the jobs of a session whose processes are killed."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

from scurry.common import Configuration
from scurry.rest.registry import registered_jobs
from scurry.table import EnvironmentSettings, TableEnvironment
from support.session.shell import Shell, wait_for

SESSION = "default"
SOURCE = "lake.shop.src /*+ OPTIONS('mode' = 'streaming', 'updateCheckIntervalMillis' = '50') */"
CONTINUOUS = f"CREATE MATERIALIZED TABLE lake.shop.mt FRESHNESS = INTERVAL '1' SECOND AS SELECT k, v FROM {SOURCE}"
FULL = (
    "CREATE MATERIALIZED TABLE lake.shop.mt FRESHNESS = INTERVAL '{seconds}' SECOND REFRESH_MODE = FULL "
    "AS SELECT k, COUNT(*) AS c, SUM(v) AS s FROM lake.shop.src GROUP BY k"
)


class LakeTables:
    """A Delta lake with a table `src` that grows, and a materialized table `mt`."""

    def __init__(self, home: Path) -> None:
        self.home, self.written = home, 0

    def write(self, rows: int) -> None:
        """Append rows to the source, each value once."""
        values = range(self.written, self.written + rows)
        table = pa.table({"k": [f"k{value % 5}" for value in values], "v": pa.array(values, pa.int64())})
        write_deltalake(str(self.home / "lake" / "shop" / "src"), table, mode="append")
        self.written += rows

    def write_file(self, table: str, rows: int = 7) -> None:
        """Add a file to a table of the catalog of files, each value once."""
        directory = self.home / "files" / "shop" / table / "data"
        values = range(self.written, self.written + rows)
        part = directory / f".{self.written}"
        part.write_text("".join(f"k{value % 5},{value}\n" for value in values))
        part.rename(directory / f"{self.written}.csv")
        self.written += rows

    def rows_of_files(self, table: str) -> list[tuple[Any, ...]]:
        """The rows of a table of the catalog of files; a refresh may be half done."""
        found = []
        for file in (self.home / "files" / "shop" / table / "data").rglob("*"):
            hidden = any(part.startswith((".", "_")) for part in file.parts[-3:])
            with suppress(FileNotFoundError, IsADirectoryError):
                found += [] if hidden else [tuple(json.loads(line).values()) for line in file.open()]
        return sorted(found)

    def rows(self) -> list[tuple[Any, ...]]:
        found = DeltaTable(str(self.home / "lake" / "shop" / "mt")).to_pyarrow_table()
        return sorted(zip(*(column.to_pylist() for column in found.columns), strict=True))

    def copied(self) -> list[tuple[Any, ...]]:
        """The rows of the query of CONTINUOUS."""
        return sorted((f"k{value % 5}", value) for value in range(self.written))

    def summed(self) -> list[tuple[Any, ...]]:
        """The rows of the query of FULL."""
        groups: dict[str, list[int]] = {}
        for value in range(self.written):
            groups.setdefault(f"k{value % 5}", []).append(value)
        return sorted((key, len(values), sum(values)) for key, values in groups.items())


class RefreshedTables(LakeTables):
    """A session in this process's home, and a lake with a table `src` that grows."""

    def __init__(self, home: Path, seed: int = 1) -> None:
        super().__init__(home)
        self.shell, self.random = Shell(home), random.Random(seed)
        self.session = self._started()
        self.env = self.environment()
        self.env.execute_sql(f"CREATE CATALOG lake WITH ('type' = 'delta', 'warehouse' = '{home}/lake')")
        self.env.execute_sql("CREATE DATABASE lake.shop")
        self.write(3)

    def environment(self) -> TableEnvironment:
        settings = {
            "scurry.runner": "local",
            "parallelism.default": "1",
            "table.catalog-store.kind": "file",
            "table.catalog-store.file.path": f"{self.home}/catalogs",
            "scurry.materialized-table.session": SESSION,
        }
        made = EnvironmentSettings.new_instance().in_streaming_mode()
        return TableEnvironment.create(made.with_configuration(Configuration.from_dict(settings)).build())

    def _started(self) -> subprocess.Popen[bytes]:
        return self.shell.start(SESSION, "--runner", "local")[0]

    # ------------------------------------------------------------------ kills

    def kill_session(self) -> None:
        """Kill the session, whose jobs end with it, and start it again."""
        self.session.send_signal(signal.SIGKILL)
        self.session.wait()
        self.session = self._started()

    def kill_driver(self) -> None:
        """Kill the process of a job, when there is one."""
        os.kill(self.random.choice(wait_for(self.drivers)), signal.SIGKILL)

    def drivers(self) -> list[int]:
        """The processes of this session's jobs; the registry may have those of other sessions, too."""
        return [each.pid for each in registered_jobs() if _parent(each.pid) == self.session.pid]

    def kill_process(self) -> None:
        """Kill a process of the session, which may wait for its next job."""
        os.kill(self.random.choice(wait_for(self.processes)), signal.SIGKILL)

    def processes(self) -> list[int]:
        """The processes of the session, with and without a job."""
        every = [int(each.name) for each in Path("/proc").iterdir() if each.name.isdigit()]
        return [each for each in every if _parent(each) == self.session.pid]

    def kill_and_write(self, kills: int) -> None:
        """Kill drivers, sessions and processes in turn at random moments, while rows are appended."""
        for number in range(kills):
            self.write(self.random.randint(1, 20))
            time.sleep(self.random.uniform(0.1, 1.5))
            self.write(1)
            (self.kill_driver, self.kill_session, self.kill_process)[number % 3]()

    def close(self) -> None:
        self.shell.kill()


def _parent(pid: int) -> int | None:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None
