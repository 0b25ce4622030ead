"""Row kinds survive functions and types; they show when printed and count in comparison."""

# modes: streaming batch
from __future__ import annotations

from pyflink.common import Row, RowKind, Types
from pyflink.datastream import StreamExecutionEnvironment


def with_kind(n):
    row = Row.of_kind(list(RowKind)[n % 4], n, "v%d" % n)
    row[1] = row[1].upper()
    return row


env = StreamExecutionEnvironment.get_execution_environment()
t = Types.ROW_NAMED(["n", "v"], [Types.INT(), Types.STRING()])
rows = env.from_collection([0, 1, 2, 3], type_info=Types.INT()).map(with_kind, output_type=t)
rows.print()
rows.map(lambda r: r, output_type=t).filter(lambda r: r.get_row_kind() != RowKind.DELETE).print("again")
rows.map(lambda r: "%s %s" % (r.get_row_kind().name, r == Row(r[0], r[1])), output_type=Types.STRING()).print("kinds")
env.execute()
