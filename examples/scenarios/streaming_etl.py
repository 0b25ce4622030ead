"""Streaming ETL: orders are parsed once and go to files, to a database and to a lake table.

Prints:

    files:    ['cake,4', 'tea,3']
    database: [('cake', 4), ('tea', 3)]
    lake:     [('cake', 4), ('tea', 3)]
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
from pathlib import Path

import deltalake

from scurry.common import Row, Types
from scurry.common.serialization import Encoder
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors import FileSink
from scurry.datastream.connectors.delta import DeltaSink
from scurry.datastream.connectors.jdbc import JdbcConnectionOptions, JdbcSink
from scurry.table.types import DataTypes

work = Path(tempfile.mkdtemp())
with sqlite3.connect(work / "shop.db") as shop:
    shop.execute("CREATE TABLE orders (item text, amount integer)")

ORDER = Types.ROW_NAMED(["item", "amount"], [Types.STRING(), Types.LONG()])
COLUMNS = DataTypes.ROW([DataTypes.FIELD("item", DataTypes.STRING()), DataTypes.FIELD("amount", DataTypes.BIGINT())])

env = StreamExecutionEnvironment.get_execution_environment()
raw = env.from_collection(['{"item": "tea", "amount": 3}', '{"item": "cake", "amount": 4}', '{"item": "tea"}'])
parsed = raw.map(json.loads).filter(lambda order: "amount" in order)
orders = parsed.map(lambda order: Row(order["item"], order["amount"]), ORDER)

lines = orders.map(lambda order: f"{order.item},{order.amount}", Types.STRING())
lines.sink_to(FileSink.for_row_format(str(work / "files"), Encoder.simple_string_encoder()).build())

database = JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url(f"jdbc:sqlite:{work}/shop.db").build()
orders.add_sink(JdbcSink.sink("INSERT INTO orders VALUES (?, ?)", ORDER, database))
orders.sink_to(DeltaSink.for_row_data(str(work / "lake"), COLUMNS).build())
env.execute("etl")

parts = [file for file in (work / "files").rglob("*") if file.is_file() and not file.name.startswith(".")]
print("files:   ", sorted(line for part in parts for line in part.read_text().splitlines()))
with sqlite3.connect(work / "shop.db") as shop:
    print("database:", sorted(shop.execute("SELECT * FROM orders")))
table = deltalake.DeltaTable(str(work / "lake")).to_pyarrow_table()
print("lake:    ", sorted(tuple(row.values()) for row in table.to_pylist()))
