"""TableEnvironment and StreamTableEnvironment: catalogs, statements, tables and streams in one program."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

from scurry.common import Configuration, Row, RowKind, Types
from scurry.datastream import StreamExecutionEnvironment
from scurry.table import (
    ChangelogMode,
    DataTypes,
    ModelDescriptor,
    PlanReference,
    Schema,
    StreamTableEnvironment,
    Table,
    TableDescriptor,
)
from scurry.table.catalog import CatalogDescriptor, ProcedureContext, procedure_hint
from scurry.table.expressions import CURRENT_RANGE, col, current_watermark, descriptor, lit, source_watermark
from scurry.table.module import Module
from scurry.table.udf import (
    AggregateFunction,
    ArgumentHint,
    ArgumentTrait,
    Context,
    FunctionContext,
    OnTimerContext,
    ProcessTableFunction,
    RetractableCollector,
    ScalarFunction,
    StateHint,
    TableAggregateFunction,
    udaf,
    udf,
    udptf,
    udtaf,
)
from scurry.table.window import Over, Session

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
t_env = StreamTableEnvironment.create(env)


def changes(table: Table) -> list[str]:
    with table.execute().collect() as rows:
        return [str(row) for row in rows]


# Schemas and descriptors

schema = (
    Schema.new_builder()
    .column("name", DataTypes.STRING().not_null())
    .column("amount", "BIGINT")
    .column("ts", "TIMESTAMP(3)")
    .column_by_expression("doubled", col("amount") * 2)
    .column_by_metadata("offset", "BIGINT", is_virtual=True)
    .watermark("ts", source_watermark())
    .primary_key("name")
    .build()
)
assert "doubled" in str(schema)
again = Schema.new_builder().from_schema(schema).build()
assert again == schema
named = Schema.new_builder().from_fields(["id"], [DataTypes.BIGINT().not_null()]).primary_key_named("pk", "id").build()
assert "pk" in str(named)
of_type = Schema.new_builder().from_row_data_type(DataTypes.ROW([DataTypes.FIELD("n", DataTypes.INT())])).build()
orders_schema = Schema.new_builder().column("name", "STRING").column("amount", "BIGINT").build()
orders_table = (
    TableDescriptor.for_connector("filesystem")
    .schema(orders_schema)
    .option("path", "orders")
    .format("csv")
    .partitioned_by("name")
    .comment("orders by customer")
    .build()
)
assert orders_table.get_schema() == orders_schema
assert orders_table.get_options()["connector"] == "filesystem"
assert orders_table.get_partition_keys() == ["name"]
assert orders_table.get_comment() == "orders by customer"

# Tables of a catalog

t_env.create_temporary_table("orders", orders_table)
t_env.execute_sql("INSERT INTO orders VALUES ('ann', 3), ('bob', 4)").wait()
assert sorted(changes(t_env.from_path("orders"))) == ["<Row('ann', 3)>", "<Row('bob', 4)>"]
assert len(changes(t_env.from_descriptor(orders_table))) == 2
t_env.create_table("kept", orders_table)
orders = t_env.sql_query("SELECT name, amount FROM orders")
t_env.create_temporary_view("latest", orders)
t_env.create_view("of_all", t_env.from_path("orders"))
assert set(t_env.list_tables()) >= {"orders", "kept", "latest", "of_all"}
assert set(t_env.list_views()) == {"latest", "of_all"}
assert t_env.list_temporary_tables() == ["orders"] or set(t_env.list_temporary_tables()) == {"latest", "orders"}
assert t_env.list_temporary_views() == ["latest"]
t_env.drop_temporary_view("latest")
t_env.drop_view("of_all")
t_env.drop_table("kept")
t_env.create_temporary_table("short_lived", orders_table)
t_env.drop_temporary_table("short_lived")
from_schema = Schema.new_builder().from_resolved_schema(orders.get_resolved_schema()).build()
assert "amount" in str(from_schema)

t_env.create_catalog("shop", CatalogDescriptor.of("shop", Configuration.from_dict({"type": "generic_in_memory"})))
shop = t_env.get_catalog("shop")
assert shop is not None
t_env.register_catalog("store", shop)
assert set(t_env.list_catalogs()) == {"default_catalog", "shop", "store"}
t_env.use_catalog("shop")
assert (t_env.get_current_catalog(), t_env.get_current_database()) == ("shop", "default")
assert t_env.list_databases() == ["default"]
t_env.use_database("default")
assert t_env.get_catalog("shop") is not None
t_env.use_catalog("default_catalog")
assert t_env.list_modules() == ["core"]
t_env.unload_module("core")
t_env.load_module("core", Module())
assert len(t_env.list_full_modules()) >= 1
t_env.use_modules("core")
assert t_env.list_materialized_tables() == []
assert (t_env.list_models(), t_env.list_temporary_models()) == ([], [])
text, number = Schema.new_builder().column("name", "STRING"), Schema.new_builder().column("letters", "INT")
length = ModelDescriptor.for_provider("python").input_schema(text.build()).output_schema(number.build())
Path("lengths.py").write_text("class Length:\n    def predict(self, name):\n        return len(name)\n")
t_env.add_python_file("lengths.py")
length_of = length.option("class", "lengths.Length").build()
t_env.create_model("length", length_of)
t_env.create_temporary_model("length", length_of)
assert (t_env.list_models(), t_env.list_temporary_models()) == (["length"], ["length"])
lengths = t_env.from_model("length").predict(orders.select(col("name")), ["name"])
assert sorted(changes(lengths)) == ["<Row('ann', 3)>", "<Row('bob', 3)>"]
assert t_env.drop_temporary_model("length")
assert t_env.drop_model("length", ignore_if_not_exists=True)

# Statements

insert = "INSERT INTO orders SELECT name, amount + 1 FROM orders"
assert "orders" in t_env.explain_sql(insert)
t_env.create_temporary_table("sink", TableDescriptor.for_connector("blackhole").schema(orders_schema).build())
several = t_env.create_statement_set()
several.add_insert_sql("INSERT INTO sink SELECT name, amount FROM orders")
several.add_insert("sink", orders)
several.add(orders.insert_into("sink"))
assert "sink" in several.explain()
several.print_explain()
several.execute().wait()
plan = t_env.compile_plan_sql("INSERT INTO sink SELECT name, amount FROM orders")
plan.write_to_file("plan.json")
assert t_env.load_plan(PlanReference.from_file("plan.json")) is not None
t_env.execute_plan(PlanReference.from_file("plan.json")).wait()
other = t_env.create_statement_set()
other.add_insert("sink", orders)
assert other.compile_plan() is not None
orders.execute_insert("sink").wait()
assert "Plan" in orders.explain()
orders.print_explain()

result = t_env.execute_sql("SELECT 1 AS n")
assert result.get_job_client() is not None
assert result.get_table_schema().get_field_names() == ["n"]
assert result.get_resolved_schema().get_column_names() == ["n"]
assert result.get_result_kind() is not None
result.print()

# Streams and tables

clicks = env.from_collection(
    [Row("ann", 1), Row("bob", 2)], Types.ROW_NAMED(["name", "n"], [Types.STRING(), Types.LONG()])
)
table = t_env.from_data_stream(clicks)
assert changes(table) == ["<Row('ann', 1)>", "<Row('bob', 2)>"]
processed = t_env.from_data_stream(clicks, col("name"), col("at").proctime)
assert changes(processed.select(col("name"))) == ["<Row('ann')>", "<Row('bob')>"]
changelog = env.from_collection(
    [Row.of_kind(RowKind.INSERT, "ann", 1), Row.of_kind(RowKind.UPDATE_AFTER, "ann", 2)],
    Types.ROW_NAMED(["name", "n"], [Types.STRING(), Types.LONG()]),
)
keyed = Schema.new_builder().column("name", "STRING NOT NULL").column("n", "BIGINT").primary_key("name").build()
upserted = t_env.from_changelog_stream(changelog, keyed, ChangelogMode.upsert())
assert changes(upserted)[-1].endswith("2)>")
with t_env.to_data_stream(table).execute_and_collect() as rows:
    assert [row[1] for row in rows] == [1, 2]
totals = table.group_by(col("name")).select(col("name"), col("n").sum)
with t_env.to_changelog_stream(totals).execute_and_collect() as rows:
    assert {row.get_row_kind() for row in rows} == {RowKind.INSERT}
typed = Types.ROW([Types.STRING(), Types.LONG()])
with t_env.to_append_stream(table, typed).execute_and_collect() as rows:
    assert len(list(rows)) == 2
with t_env.to_retract_stream(totals, typed).execute_and_collect() as rows:
    assert all(flag for flag, _ in rows)
collected = t_env.create_statement_set()
collected.add_insert("sink", table)
collected.attach_as_datastream()
env.execute()

# Event time

timed = (
    Schema.new_builder()
    .column("name", "STRING")
    .column("n", "BIGINT")
    .column_by_expression("ts", "TO_TIMESTAMP_LTZ(n * 1000, 3)")
    .watermark("ts", "ts - INTERVAL '1' SECOND")
    .build()
)
events = t_env.from_data_stream(clicks, timed)
sessions = events.window(Session.with_gap(lit(5).seconds).on(col("ts")).alias("w")).group_by(col("w"))
assert changes(sessions.select(col("n").sum)) == ["<Row(3)>"]
last_ten = Over.partition_by(col("name")).order_by(col("ts")).preceding(lit(10).seconds)
running = events.over_window(last_ten.following(CURRENT_RANGE).alias("w"))
assert changes(running.select(col("n").sum.over(col("w")))) == ["<Row(1)>", "<Row(2)>"]
until_now = events.over_window(last_ten.alias("w"))
assert changes(until_now.select(col("n").sum.over(col("w")))) == ["<Row(1)>", "<Row(2)>"]
ordered = Over.order_by(col("ts")).alias("w")
assert len(changes(events.over_window(ordered).select(col("n").sum.over(col("w"))))) == 2
assert len(changes(events.select(current_watermark(col("ts"))))) == 2


class TopTwo(TableAggregateFunction):
    def create_accumulator(self) -> list[int]:
        return []

    def accumulate(self, accumulator: list[int], *args: Any) -> None:
        accumulator.append(args[0])

    def emit_value(self, accumulator: list[int]) -> Any:
        for number in sorted(accumulator)[-2:]:
            yield Row(number)

    def get_result_type(self) -> str:
        return "ROW<a BIGINT>"

    def get_accumulator_type(self) -> str:
        return "ARRAY<BIGINT>"


top_two = udtaf(TopTwo())
best = table.flat_aggregate(top_two(col("n")).alias("best")).select(col("best"))
assert changes(best)[-1].endswith("2)>")
t_env.add_python_file(str(Path.cwd()))


class Doubled(ScalarFunction):
    """Counts its calls in a metric."""

    def open(self, function_context: FunctionContext) -> None:
        self.calls = function_context.get_metric_group().counter("calls")

    def eval(self, number: int) -> int:
        self.calls.inc()
        return number * 2


doubled = udf(Doubled(), result_type=DataTypes.BIGINT())
assert changes(table.select(doubled(col("n")))) == ["<Row(2)>", "<Row(4)>"]


class Largest(TableAggregateFunction):
    """Says itself what changes: only the row that is another than before."""

    def create_accumulator(self) -> list[int | None]:
        return [None, None]

    def accumulate(self, accumulator: list[int | None], *args: Any) -> None:
        accumulator[0] = args[0] if accumulator[0] is None else max(accumulator[0], args[0])

    def emit_update_with_retract(self, accumulator: list[int | None], out: RetractableCollector[Row]) -> None:
        now, before = accumulator
        if now != before:
            if before is not None:
                out.retract(Row(before))
            out.collect(Row(now))
            accumulator[1] = now

    def get_result_type(self) -> str:
        return "ROW<a BIGINT>"

    def get_accumulator_type(self) -> str:
        return "ARRAY<BIGINT>"


largest = udtaf(Largest())
assert changes(table.flat_aggregate(largest(col("n")).alias("largest")).select(col("largest")))[-1].endswith("2)>")

# Process table functions


@dataclass
class Visits:
    """State of a guest."""

    count: int = 0


class Greeter(ProcessTableFunction):
    """Greets guests, and those who have been away for a while."""

    def eval(
        self,
        ctx: Context,
        visits: Annotated[Visits, StateHint(ttl="7 d")],
        guests: Annotated[Row, ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.REQUIRE_ON_TIME)],
    ) -> Iterator[str]:
        semantics = ctx.table_semantics_for("guests")
        assert semantics.partition_by_columns() == (0,)
        assert semantics.time_column() == 2
        assert semantics.data_type() is not None
        visits.count += 1
        yield f"Hello {guests.name}, visit {visits.count}"
        time = ctx.time_context()
        time.register_on_time("missing", time.time() + timedelta(hours=1))
        time.register_on_time("never", time.time() + timedelta(hours=2))
        time.clear_timer("never")
        assert time.current_watermark() is None or time.current_watermark() < time.time()

    def on_timer(self, ctx: OnTimerContext, visits: Visits) -> Iterator[str]:
        assert ctx.current_timer() == "missing"
        yield f"We miss you since {visits.count} visits"


class Forgetful(ProcessTableFunction):
    """Forgets each guest at once, by each of the ways to do so."""

    def eval(
        self,
        ctx: Context,
        visits: Annotated[Visits, StateHint()],
        guests: Annotated[Row, ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.REQUIRE_ON_TIME)],
    ) -> Iterator[int]:
        visits.count += 1
        yield visits.count
        time = ctx.time_context()
        time.register_on_time("missing", time.time() + timedelta(hours=1))
        time.clear_all_timers()
        ctx.clear_all_timers()
        ctx.clear_state("visits")
        ctx.clear_all_state()
        ctx.clear_all()


by_name = events.partition_by(col("name"))
forgotten = by_name.process(Forgetful(), descriptor("ts").as_argument("on_time"))
assert all("', 1, " in change for change in changes(forgotten))
greeted = by_name.process(Greeter(), descriptor("ts").as_argument("on_time"))
greetings = changes(greeted)
assert "<Row('ann', 'Hello ann, visit 1'" in greetings[0]


class Longer(ProcessTableFunction):
    """A function of single rows; without state it needs no keys."""

    def eval(
        self, ctx: Context, people: Annotated[Row, ArgumentHint(ArgumentTrait.ROW_SEMANTIC_TABLE)], limit: int
    ) -> Iterator[str]:
        if len(people.name) > limit:
            yield people.name


longer = udptf(Longer())
people = t_env.from_elements([("ann", 1), ("bob", 2)], ["name", "n"])
assert changes(people.process(longer, lit(2).as_argument("limit"))) == ["<Row('ann')>", "<Row('bob')>"]
named = t_env.from_call(longer, people.as_argument("people"), lit(9).as_argument("limit"))
assert changes(named) == []

# Aggregates of changes


class Total(AggregateFunction):
    def create_accumulator(self) -> list[int]:
        return [0]

    def accumulate(self, accumulator: list[int], *args: Any) -> None:
        accumulator[0] += args[0]

    def retract(self, accumulator: list[int], *args: Any) -> None:
        accumulator[0] -= args[0]

    def merge(self, accumulator: list[int], accumulators: Any) -> None:
        accumulator[0] += sum(other[0] for other in accumulators)

    def get_value(self, accumulator: list[int]) -> int:
        return accumulator[0]

    def get_result_type(self) -> str:
        return "BIGINT"

    def get_accumulator_type(self) -> str:
        return "ARRAY<BIGINT>"


total = udaf(Total())
assert changes(upserted.select(total(col("n"))))[-1] == "<Row(2)>"
assert changes(sessions.select(total(col("n")))) == ["<Row(3)>"]

# Procedures


@procedure_hint(input=["INT"])
def list_names(context: ProcedureContext, limit: int = 3) -> list[str]:
    assert context.get_execution_environment() is not None
    return context.get_table_environment().list_catalogs()[:limit]


t_env.create_procedure("list_names", list_names)
assert len(list(t_env.execute_sql("CALL list_names(`limit` => 1)").collect())) == 1
assert t_env.drop_procedure("list_names")

# What workers need

elsewhere = StreamTableEnvironment.create(StreamExecutionEnvironment.get_execution_environment())
elsewhere.add_python_archive("model.zip", "model")
elsewhere.set_python_requirements("requirements.txt", "packages")
assert elsewhere.get_config().get("python.archives", "") == "model.zip#model"
assert elsewhere.get_config().get("python.requirements", "") == "requirements.txt#packages"
