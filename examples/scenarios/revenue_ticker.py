"""A revenue ticker with early results and retractions: a table that is right at any time, while orders come.

    scurry run --runner local --parallelism 1 revenue_ticker.py DIRECTORY

reads `DIRECTORY/orders` (tea,3), and keeps `revenue` in the database `DIRECTORY/board.db` up to date. Whoever shows the
board reads the table. Each change of a total takes the earlier one back; an item that has earned 10 leaves the board.

Prints:

    early: [('cake', 4), ('tea', 3)]
    later: [('cake', 4), ('tea', 8)]
    stopped, started again
    tea has reached 10: [('cake', 6)]
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
from pathlib import Path

from live_files import add, until

from scurry.common.job_client import JobClient
from scurry.table import EnvironmentSettings, TableEnvironment

TICKER = "INSERT INTO revenue SELECT item, SUM(price) FROM orders GROUP BY item HAVING SUM(price) < 10"


def start(directory: Path) -> JobClient:
    (directory / "orders").mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(directory / "board.db") as board:
        board.execute("CREATE TABLE IF NOT EXISTS revenue (item text PRIMARY KEY, price integer)")
    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    t_env.get_config().set("execution.checkpointing.dir", str(directory / "checkpoints"))
    t_env.execute_sql(f"""
        CREATE TABLE orders (item STRING, price INT)
        WITH ('connector' = 'filesystem', 'path' = '{directory / "orders"}', 'format' = 'csv',
              'source.monitor-interval' = '50 ms')
    """)
    t_env.execute_sql(f"""
        CREATE TABLE revenue (item STRING, price INT, PRIMARY KEY (item) NOT ENFORCED)
        WITH ('connector' = 'jdbc', 'url' = 'jdbc:sqlite:{directory / "board.db"}', 'table-name' = 'revenue')
    """)
    job = t_env.execute_sql(TICKER).get_job_client()
    assert job is not None
    return job


def board(directory: Path) -> list[tuple[str, int]]:
    """What any other program reads."""
    with sqlite3.connect(directory / "board.db") as database:
        return database.execute("SELECT item, price FROM revenue ORDER BY item").fetchall()


def show(directory: Path) -> None:
    job = start(directory)
    for when, orders, expected in (
        ("early", ["tea,3", "cake,4"], [("cake", 4), ("tea", 3)]),
        ("later", ["tea,5"], [("cake", 4), ("tea", 8)]),
    ):
        add(directory / "orders", *orders)
        until(lambda expected=expected: board(directory) == expected)
        print(f"{when}:", board(directory))
    job.cancel().result()

    print("stopped, started again")
    add(directory / "orders", "tea,7", "cake,2")
    job = start(directory)
    until(lambda: board(directory) == [("cake", 6)])
    print("tea has reached 10:", board(directory))
    job.cancel().result()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        start(Path(sys.argv[1])).get_job_execution_result().result()
    else:
        with tempfile.TemporaryDirectory() as name:
            show(Path(name))
