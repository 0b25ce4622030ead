# timeout: 900
# parallelism: 1
"""Table.to_changelog and Table.from_changelog without arguments: PyFlink 2.3 can make neither `op` nor `op_mapping`."""

from __future__ import annotations

from pyflink.table import EnvironmentSettings, TableEnvironment
from pyflink.table.expressions import array, col, lit

t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
rows = t_env.from_elements([("a", 1), ("b", 2), ("a", 4), ("c", 8)], ["name", "score"])
sums = rows.group_by(col("name")).select(col("name"), col("score").sum.alias("total"))
coded = t_env.from_elements(
    [
        ("INSERT", "a", 1),
        ("INSERT", "b", 2),
        ("UPDATE_BEFORE", "a", 1),
        ("UPDATE_AFTER", "a", 5),
        ("DELETE", "b", 2),
    ],
    ["op", "name", "score"],
)


def show(title, make, words=""):
    try:
        table = make()
        columns = table.get_schema().get_field_names()
        with table.execute().collect() as found:
            for row in found:
                print(title, columns, row.get_row_kind().name, list(row))
    except Exception as error:
        print(title, "refused", bool(words) and words in str(error))


show("default", lambda: sums.to_changelog())
show("insertions", lambda: rows.to_changelog())
show("filtered", lambda: sums.to_changelog().filter(col("op") == "UPDATE_AFTER").select(col("name"), col("total")))
show("counted", lambda: sums.to_changelog().group_by(col("op")).select(col("op"), lit(1).count.alias("n")))
show("no map", lambda: sums.to_changelog(array("INSERT").as_argument("op_mapping")))
show("back", lambda: sums.to_changelog().from_changelog())
show("kinds", lambda: coded.from_changelog())
show("again", lambda: coded.from_changelog().to_changelog())
show("no op", lambda: rows.from_changelog(), "The op column 'op' does not exist in the input schema.")
renamed = rows.select(col("name").alias("op")).group_by(col("op")).select(col("op"), col("op").count.alias("n"))
show("of updates", lambda: renamed.from_changelog(), "doesn't support consuming update changes")
show("sum", lambda: coded.from_changelog().select(col("score").sum.alias("s")))
coded.from_changelog().print_schema()
sums.to_changelog().print_schema()
