"""DataFrames: creation, columns, rows, groups, joins, windows, functions, results, files, catalogs."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any, TypedDict

import pandas as pd
import pyarrow as pa

import scurry.dataframe as pf
from scurry.common import Configuration
from scurry.datastream import StreamExecutionEnvironment
from scurry.table import EnvironmentSettings, StreamTableEnvironment

Kinds = pf.DataType

# The environment.
pf.config.set("execution.runtime-mode", "BATCH").set("table.local-time-zone", "UTC")
assert pf.config.get("table.local-time-zone") == "UTC"
assert pf.get_table_environment() is None
environment = pf.get_or_create_table_environment()

# Creation.
orders = pf.from_dict({"item": ["pen", "ink", None], "price": [2, 9, 3]})
same = pf.from_records([{"item": "pen", "price": 2}])
assert pf.from_pandas(pd.DataFrame({"a": [1]})).columns == ["a"]
assert pf.from_arrow(pa.table({"a": [1]})).columns == ["a"]
assert orders.schema.get_field_names() == ["item", "price"]
assert pf.from_table(orders.to_table()).columns == ["item", "price"]
assert pf.range(2).with_columns(pf.lit(1).alias("b")).columns == ["id", "b"]
numbers = pf.range(4)

# Columns.
chosen = orders.select("item", double=pf.col("price") * 2).with_column("more", pf.col("double") + 1)
assert chosen.drop_columns("more").rename_columns({"double": "twice"}).columns == ["item", "twice"]
assert orders.filter(pf.col("price") > 2).pipe(lambda df: df.columns) == ["item", "price"]
assert orders.drop_null().fill_null(0, ["price"]).columns == ["item", "price"]
floats = pf.from_dict({"x": [1.0, float("nan")]})
assert floats.select(pf.col("x").is_nan, pf.col("x").is_not_nan).collect()[1][0]
assert floats.drop_nan().collect() == floats.fill_nan(1.0).limit(1).collect()

# Rows.
assert orders.sort("price").offset(1).head(1).to_arrow().num_rows == 1
assert len(orders.drop_duplicates("item").collect()) == len(orders.top_n(3, order_by="price").collect()) == 3

# Groups.
assert orders.group_by("item").agg(total=pf.col("price").sum).columns == ["item", "total"]
assert orders.agg(n=pf.col("price").count).take(1) == [{"n": 3}]

# Combinations.
assert len(orders.union(orders).collect()) == 3 and len(orders.union_all(orders).collect()) == 6
assert len(orders.intersect(orders).collect()) == len(orders.intersect_all(orders).collect()) == 3
assert orders.minus(orders).collect() == orders.minus_all(orders).collect() == []
assert orders.join(same, on="item", how="semi").iter_rows().__next__() == {"item": "pen", "price": 2}
tags = pf.from_dict({"item": ["pen"], "tags": [["new", "blue"]]})
assert len(tags.explode("tags").collect()) == 2


# Functions.
class Word(TypedDict):
    word: str


@pf.udf
def shout(text: str | None) -> str:
    return (text or "").upper()


@pf.udtf
def letters(text: str | None) -> Iterator[str]:
    yield from text or ""


@pf.udaf(func_type="pandas")  # type: ignore[untyped-decorator]
def middle(prices: pd.Series) -> float:
    return float(prices.median())


def words(row: dict[str, Any]) -> Iterator[Word]:
    yield {"word": f"{row['item']}!"}


def word(row: dict[str, Any]) -> Word:
    return {"word": f"{row['item']}!"}


assert orders.select(a=shout(pf.col("item"))).columns == ["a"]
assert orders.flat_map(words).columns == orders.map(word).columns == ["word"]
assert orders.map_batches(lambda frame: frame[["price"]] * 2, return_dtype="ROW<price BIGINT>").columns == ["price"]
assert len(orders.join_lateral(letters(pf.col("item")).alias("letter")).collect()) == 6
assert orders.agg(m=middle(pf.col("price"))).collect()[0][0] == 3.0
assert pf.sql("SELECT shout(item) FROM orders").columns

# Time.
start = datetime.datetime(2026, 1, 1)
second = datetime.timedelta(seconds=1)
readings = pf.from_records([(start + second * n, n) for n in (1, 12)], ["ts", "n"], watermark=("ts", "ts"))
for windows in (
    readings.tumble(on="ts", size=10 * second),
    readings.hop(on="ts", slide=10 * second, size=20 * second),
    readings.cumulate(on="ts", step=10 * second, size=20 * second),
):
    assert windows.group_by("window_start", "window_end").agg(n=pf.col("n").sum).to_pandas().shape[1] == 3
around = pf.col("n").sum.over("ts", rows=(pf.preceding(1), pf.following(1)))
assert sorted(row[0] for row in readings.select(s=around).collect()) == [13, 13]

# Results.
assert next(orders.iter_batches(batch_size=2)).shape == (2, 2)
assert orders.take_batch(1, batch_format="pyarrow").num_rows == 1
assert "Scan" in orders.explain()

# Files, and what has a connector.
schema = {"item": Kinds.string(), "price": Kinds.int64()}
orders.write_json("json")
orders.write_parquet("parquet")
assert pf.read_json("json", schema=schema).columns == pf.read_parquet("parquet", schema=schema).columns
ten = pf.read_generic("datagen", schema={"n": Kinds.int64()}, options={"number-of-rows": "10"})
together = pf.create_statement_set()
ten.write_generic("blackhole", options={}, statement_set=together)
together.execute().wait()
topic = pf.read_kafka("localhost:9092", schema=schema, topic="orders", startup_mode="earliest-offset")
orders.write_kafka("localhost:9092", topic="orders", statement_set=pf.create_statement_set())

# Catalogs.
pf.create_catalog("shop", {"type": "generic_in_memory", "default-database": "main"})
pf.use_catalog("shop")
assert pf.get_catalog("shop") is not None and "shop" in pf.list_catalogs() and pf.list_databases() == ["main"]
pf.use_database("main")
assert (pf.get_current_catalog(), pf.get_current_database()) == ("shop", "main")
environment.execute_sql("CREATE TABLE t (item STRING, price BIGINT) WITH ('connector' = 'filesystem', "
                        "'path' = 'table', 'format' = 'json')")  # fmt: skip
orders.write_catalog_table("t")
assert len(pf.read_catalog_table("t").collect()) == 3

# Types.
everything = {
    "a": Kinds.int8(), "b": Kinds.int16(), "c": Kinds.int32(), "d": Kinds.float32(), "e": Kinds.float64(),
    "f": Kinds.bool(), "g": Kinds.binary(), "h": Kinds.date(), "i": Kinds.time(), "j": Kinds.timestamp(3),
    "k": Kinds.timestamp_ltz(3), "l": Kinds.decimal(5, 2), "m": Kinds.fixed_size_string(2).not_null(),
    "n": Kinds.fixed_size_binary(2).not_null().nullable(), "o": Kinds.list(Kinds.int8()),
    "p": Kinds.map(Kinds.string(), Kinds.int8()), "q": Kinds.struct({"x": Kinds.int8()}),
}  # fmt: skip
assert len(pf.read_generic("datagen", schema=everything, options={"number-of-rows": "1"}).columns) == 17
assert pf.lit(None, Kinds.null()) is not None

# Models.
servers = {
    "chat": pf.OpenAIProvider("http://localhost:8000/v1/chat/completions", "key", model="small"),
    "vision": pf.TritonProvider("http://localhost:8001", model_name="vision"),
    "own": pf.GenericProvider("python", **{"class": "my.module.Model"}),
}
for name, server in servers.items():
    pf.set_model_provider(name, server)
    assert server.to_options() and server.provider_identifier() and server.model_option_key()
pf.set_default_model_provider("chat")
assert pf.list_model_providers() == ["chat", "vision", "own"]

# Streams: another environment.
streams = StreamExecutionEnvironment.get_execution_environment(Configuration().set_string("scurry.runner", "local"))
pf.set_table_environment(StreamTableEnvironment.create(streams, EnvironmentSettings.in_streaming_mode()))
clicks = pf.from_records([(start, "ann")], ["ts", "user"], watermark=("ts", "ts"))
assert len(clicks.session(on="ts", gap=second).collect()) == 1
versions = clicks.drop_duplicates("user", keep="last", order_by="ts").rename({"ts": "since"})
assert len(clicks.join_asof(versions, on="ts", by="user").collect()) == 1
assert pf.proctime() is not None
