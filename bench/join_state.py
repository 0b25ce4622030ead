"""What a batch of a regular join costs beside the rows that it keeps: a batch that touches 1,000 keys, in this process.

python bench/join_state.py [rows a side ...]
"""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from scurry.datastream import DataStream
from scurry.graph.nodes import Node
from scurry.sql.connectors.contract import Changes
from scurry.sql.connectors.scanning import TableScan
from scurry.sql.operators.lowering import Lowering
from scurry.sql.statements.planning import executable
from scurry.sql.statements.queries import plan_query
from scurry.sql.statements.streaming_runner import _Tables
from scurry.sql.syntax.parser import parse
from scurry.table import EnvironmentSettings, TableEnvironment
from scurry.testing import TestHarness

TOUCHED, ROWS_PER_KEY, LOADED = 1_000, 4, 50_000


class Fed(Lowering):
    """A lowering whose tables are streams of a harness."""

    streams: dict[str, DataStream]

    def _source(self, source: Any, name: str, parallelism: int | None = None) -> Node:
        assert isinstance(source, TableScan)
        return self.streams[name.rpartition(".")[2].rstrip("]")]._node


def join() -> TestHarness:
    """Return a join of `l` and `r` on k, in a harness."""
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for table in "lr":
        env.execute_sql(
            f"CREATE TABLE {table} (k BIGINT, v BIGINT) WITH ('connector' = 'filesystem', 'path' = '{Path.cwd()}', "
            "'format' = 'json')"
        )
    session = env._session
    plan = executable(session, plan_query(session, parse("SELECT l.k, l.v, r.v FROM l JOIN r ON l.k = r.k")))  # type: ignore[arg-type]

    def build(left: DataStream, right: DataStream) -> DataStream:
        lowering = Fed([plan], session.for_functions(), _Tables(session))
        lowering.streams = {"l": left, "r": right}
        return DataStream(left._env, lowering.node(plan))

    return TestHarness.of(build)


def rows(keys: Any) -> Changes:
    """Return rows of some keys."""
    return Changes(pa.RecordBatch.from_pydict({"k": pa.array(keys, pa.int64()), "v": pa.array(keys, pa.int64())}))


def measured(count: int) -> float:
    """Return the seconds of a batch beside so many rows a side."""
    harness, distinct = join(), count // ROWS_PER_KEY
    for start in range(0, count, LOADED):
        keys = np.arange(start, min(start + LOADED, count)) % distinct
        for side in (1, 2):
            # the keys of one side are negative while they are loaded: no pairs
            harness.process(rows(keys if side == 1 else keys - distinct), input=side)
            harness.clear_outputs()
    found, chance = [], random.Random(1)
    for _ in range(7):
        keys = chance.sample(range(distinct), min(TOUCHED, distinct))
        begun = time.perf_counter()
        harness.process(rows(keys), input=2)
        found.append(time.perf_counter() - begun)
        harness.clear_outputs()
    return sorted(found)[len(found) // 2]


if __name__ == "__main__":
    base = None
    for count in map(int, sys.argv[1:] or ["20000", "200000", "2000000"]):
        begun = time.perf_counter()
        seconds = measured(count)
        base = base or seconds
        took = time.perf_counter() - begun
        print(f"{count:>9} rows a side: {seconds * 1000:7.1f} ms ({seconds / base:.1f}x), in {took:.0f} s", flush=True)
