"""Numbers -> a sum per key -> a table of a store, by its primary key; or numbers -> a table, which only takes rows.

to_store.py CHECKPOINTS OPTIONS [numbers]; OPTIONS are those of the table, as JSON
"""

from __future__ import annotations

import json
import os
import sys

from scurry.table import EnvironmentSettings, TableEnvironment

#: A life writes some 100 to 450 numbers before it is killed, so that the input outlasts all kills.
NUMBERS = 1200 + 450 * int(os.environ.get("SCURRY_KILLS", "20"))
PER_SECOND, KEYS = 600, 97


def expected() -> dict[int, tuple[int, int]]:
    """Return the count and the sum of each key, when all has been read."""
    found = {key: list(range(key, NUMBERS, KEYS)) for key in range(KEYS)}
    return {key: (len(numbers), sum(numbers)) for key, numbers in found.items()}


def main(checkpoints: str, options: str, rows: str = "sums") -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.get_config().set("execution.checkpointing.dir", checkpoints).set("parallelism.default", "2")
    env.get_config().set("scurry.batch.max-records", "60")  # a slow machine makes fewer batches, no larger ones
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in json.loads(options).items())
    env.execute_sql(
        "CREATE TABLE numbers (n BIGINT) WITH ('connector' = 'datagen', 'fields.n.kind' = 'sequence', "
        f"'fields.n.start' = '0', 'fields.n.end' = '{NUMBERS - 1}', 'rows-per-second' = '{PER_SECOND}')"
    )
    if rows == "numbers":
        env.execute_sql(f"CREATE TABLE target (k BIGINT, n BIGINT) WITH ({listed})")
        env.execute_sql(f"INSERT INTO target SELECT MOD(n, {KEYS}), n FROM numbers").wait()
        return
    env.execute_sql(
        f"CREATE TABLE target (k BIGINT, n BIGINT, total BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ({listed})"
    )
    env.execute_sql(
        "INSERT INTO target SELECT k, COUNT(*), SUM(n) FROM (SELECT n, MOD(n, " + str(KEYS) + ") AS k FROM numbers) "
        "GROUP BY k"
    ).wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
