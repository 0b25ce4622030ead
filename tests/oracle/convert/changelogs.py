# timeout: 900
# parallelism: 1
"""Streams of changes in and out: all kinds, by key, refused ones."""

from __future__ import annotations

import re

from pyflink.common import Row, RowKind, Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.table import Schema, StreamTableEnvironment
from pyflink.table.changelog_mode import ChangelogMode
from pyflink.table.expressions import col

env = StreamExecutionEnvironment.get_execution_environment()
t_env = StreamTableEnvironment.create(env)
TYPE = Types.ROW_NAMED(["name", "score"], [Types.STRING(), Types.INT()])


def row(kind, *values):
    made = Row(*values)
    made.set_row_kind(kind)
    return made


def new():
    return Schema.new_builder()


def show(name, stream):
    with stream.execute_and_collect() as records:
        for record in records:
            print(name, record.get_row_kind().name, record)


ADD, UB, UA, D = RowKind.INSERT, RowKind.UPDATE_BEFORE, RowKind.UPDATE_AFTER, RowKind.DELETE
changes = env.from_collection([row(ADD, "ann", 12), row(UB, "ann", 12), row(UA, "ann", 100), row(D, "ann", 100)], TYPE)
upserts = env.from_collection([row(ADD, "ann", 12), row(UA, "ann", 100), row(UA, "bob", 1), row(D, "bob", 1)], TYPE)
keyed = new().column("name", "STRING NOT NULL").column("score", "INT").primary_key("name").build()
show("round", t_env.to_changelog_stream(t_env.from_changelog_stream(changes)))
show("filtered", t_env.to_changelog_stream(t_env.from_changelog_stream(changes).filter(col("score") > 50)))
show("upserts", t_env.to_changelog_stream(t_env.from_changelog_stream(upserts, keyed, ChangelogMode.upsert())))
show("no mode", t_env.to_changelog_stream(t_env.from_changelog_stream(changes, keyed)))

rows = env.from_collection([Row("a", 1), Row("b", 2), Row("a", 4), Row("c", 8)], TYPE)
sums = t_env.from_data_stream(rows).group_by(col("name")).select(col("name"), col("score").sum.alias("total"))
show("sums", t_env.to_changelog_stream(sums))
by_name = new().column("name", "STRING NOT NULL").column("total", "INT").primary_key("name").build()
show("sums by key", t_env.to_changelog_stream(sums, by_name, ChangelogMode.upsert()))
show("sums, other types", t_env.to_changelog_stream(sums, new().column("n", "STRING").column("t", "BIGINT").build()))
show("all kinds declared", t_env.to_changelog_stream(sums, by_name, ChangelogMode.all()))
with t_env.to_retract_stream(sums, Types.ROW([Types.STRING(), Types.INT()])).execute_and_collect() as records:
    for added, record in records:
        print("retract", added, record)
inserted = t_env.from_data_stream(rows).select(col("score"), col("name"))
for name, kind in [
    ("rows", Types.ROW([Types.INT(), Types.STRING()])),
    ("named", Types.ROW_NAMED(["s", "n"], [Types.INT(), Types.STRING()])),
    ("tuples", Types.TUPLE([Types.INT(), Types.STRING()])),
]:
    with t_env.to_append_stream(inserted, kind).execute_and_collect() as records:
        for record in records:
            print("append", name, record)


def refused(name, action):
    try:
        action()
    except Exception as error:
        lines = [line.strip() for line in str(error).splitlines() if not line.startswith("\tat ")]
        message = next((line for line in lines if "Exception: " in line), lines[0])
        print(name, "refused:", re.sub(r"\$\d+| AS \w+(\$\d+)?", "", message.rpartition("Exception: ")[2]))


refused("to_data_stream", lambda: t_env.to_data_stream(sums))
refused("to_data_stream of changes", lambda: t_env.to_data_stream(t_env.from_changelog_stream(changes)))
refused("to_append_stream", lambda: t_env.to_append_stream(sums, Types.ROW([Types.STRING(), Types.INT()])))
two = new().column("name", "STRING").column("total", "INT").build()
refused("insert only", lambda: t_env.to_changelog_stream(sums, two, ChangelogMode.insert_only()))
refused("no key", lambda: t_env.from_changelog_stream(upserts, new().build(), ChangelogMode.upsert()).execute())
