"""Refresh a materialized table in this process until it is killed: refreshing.py DIRECTORY MODE."""

from __future__ import annotations

import sys
import time

from scurry.table import EnvironmentSettings, TableEnvironment

directory, mode = sys.argv[1:]
env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
for key, value in {"scurry.runner": "local", "parallelism.default": "1"}.items():
    env.get_config().set(key, value)
env.execute_sql(f"CREATE CATALOG lake WITH ('type' = 'delta', 'warehouse' = '{directory}/lake')")
if mode == "RESUME":
    env.execute_sql("ALTER MATERIALIZED TABLE lake.shop.mt RESUME")
elif mode == "FULL":
    env.execute_sql(
        "CREATE MATERIALIZED TABLE lake.shop.mt FRESHNESS = INTERVAL '1' SECOND REFRESH_MODE = FULL "
        "AS SELECT k, COUNT(*) AS c, SUM(v) AS s FROM lake.shop.src GROUP BY k"
    )
else:
    env.execute_sql(
        "CREATE MATERIALIZED TABLE lake.shop.mt FRESHNESS = INTERVAL '1' SECOND AS SELECT k, v FROM lake.shop.src "
        "/*+ OPTIONS('mode' = 'streaming', 'updateCheckIntervalMillis' = '50') */"
    )
print("refreshing", flush=True)
time.sleep(3600)
