"""The snapshot of a captured table in PostgreSQL and MariaDB: rows per second of a whole job, start included.

    python bench/cdc_snapshot.py                         # 1 M rows of each, in-process
    python bench/cdc_snapshot.py --rows 10000000 --databases postgres --runner spark

The servers are started as tests start them, on the same machine. The job reads a snapshot (`scan.startup.mode`) and
writes nothing.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))

from processes import environment_of_scurry, run_process  # noqa: E402

from support.cdc.databases import MariaDbShop, PostgresShop  # noqa: E402
from support.modules import load_module  # noqa: E402
from support.servers.mariadb import MariaDbServer  # noqa: E402

REQUIRED = 50_000
COLUMNS = "id INT, customer INT, amount INT, name STRING"
Shop = PostgresShop | MariaDbShop
SERVERS: dict[str, tuple[Callable[[], Any], type[PostgresShop] | type[MariaDbShop]]] = {
    "postgres": (load_module(HERE.parent / "tools" / "postgres.py", "scurry_postgres_server").Server, PostgresShop),
    "mariadb": (lambda: MariaDbServer().__enter__(), MariaDbShop),
}


def fill(shop: Shop, rows: int) -> None:
    """Make the table `items` with so many rows."""
    numbers = f"generate_series(1, {rows}) AS s(seq)" if shop.dialect == "postgres" else f"seq_1_to_{rows}"
    shop.run(
        "CREATE TABLE items (id integer PRIMARY KEY, customer integer, amount integer, name varchar(40))",
        f"INSERT INTO items SELECT seq, seq % 1000, seq % 100, CONCAT('item number ', seq) FROM {numbers}",
    )


def measure(shop: Shop, given: Any) -> None:
    """Run the job, and print its rows per second."""
    chosen = {"scan.startup.mode": "snapshot"}
    with tempfile.TemporaryDirectory() as directory:
        script = Path(directory) / "job.sql"
        script.write_text(
            f"SET 'execution.checkpointing.dir' = '{directory}/checkpoints';\n"
            "SET 'parallelism.default' = '2';\n"
            f"CREATE TABLE items ({COLUMNS}, PRIMARY KEY (id) NOT ENFORCED) WITH ({shop.options('items', **chosen)});\n"
            f"CREATE TABLE nothing ({COLUMNS}) WITH ('connector' = 'blackhole');\n"
            "INSERT INTO nothing SELECT * FROM items;\n"
        )
        command = [sys.executable, "-m", "scurry", "run", "--runner", given.runner, str(script)]
        done = run_process(command, environment_of_scurry())
        print("".join(done.lines[-30:]) if given.verbose else "", end="")
    rate = given.rows / done.seconds
    required = "as" if rate >= REQUIRED else "NOT AS"
    print(
        f"{shop.dialect}: {given.rows:,} rows in {done.seconds:.1f} s, {rate:,.0f} rows/s ({required} required); "
        f"processors {sum(done.processors.values()):.1f} s, peak {done.peaks['all']:.0f} MB",
        flush=True,
    )


def main() -> None:
    """Fill a table of each database, and read it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--runner", choices=("spark", "local"), default="local")
    parser.add_argument("--databases", default=",".join(SERVERS))
    parser.add_argument("--verbose", action="store_true", help="print what the job prints")
    given = parser.parse_args()
    for name in given.databases.split(","):
        start, kind = SERVERS[name]
        server = start()
        try:
            shop = kind(server)
            fill(shop, given.rows)
            for _ in range(given.rounds):
                measure(shop, given)
        finally:
            server.stop()


if __name__ == "__main__":
    main()
