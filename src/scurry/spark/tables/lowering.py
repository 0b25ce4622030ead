"""Plans as DataFrames: one method per node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from scurry.errors import UnsupportedError
from scurry.functions.definition import Session
from scurry.logical_types import DataType
from scurry.relational import plan as nodes
from scurry.relational.builders import columns as references_to
from scurry.relational.builders import project
from scurry.relational.expressions import Expression, InputReference
from scurry.relational.join_keys import EqualColumns, split_condition
from scurry.relational.plan import Plan
from scurry.runtime.tables.batch.executor import execute_batch
from scurry.spark.tables.aggregates import spark_aggregate
from scurry.spark.tables.columns import comparable, spark_column, typed
from scurry.spark.tables.scans import native_scan
from scurry.spark.tables.tasks import placeholder, run_on_batches, run_on_pairs, run_on_splits
from scurry.spark.tables.types import column_name, is_orderable, spark_schema, to_spark

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession

    from scurry.connectors.tables.contract import TableSource

__all__ = ["Lowering"]

#: Nodes that make rows of single rows.
_ROW_BY_ROW = (nodes.Project, nodes.Filter, nodes.Unnest, nodes.TableFunctionScan, nodes.WindowTable)
_JOINS = {"INNER": "inner", "LEFT": "left", "RIGHT": "right", "FULL": "full", "SEMI": "left_semi", "ANTI": "left_anti"}


@dataclass(frozen=True)
class _Scanned:
    """A scan, what reads its table, and the table as Spark reads it, if it does."""

    scan: nodes.Scan
    source: TableSource
    splits: list[Any]
    frame: DataFrame | None


class Lowering:
    """Turns plans into DataFrames of one session."""

    def __init__(self, spark: SparkSession, session: Session, source_of: Callable[[nodes.Scan], TableSource]) -> None:
        """Prepare for the plans of one statement.

        Args:
            spark: Spark's session.
            session: The session of the statement.
            source_of: Returns what reads a scan's table.
        """
        self._spark = spark
        self._session = session
        self._source_of = source_of
        self._scans: dict[int, _Scanned] = {}

    def frame(self, plan: Plan) -> DataFrame:
        """Return the rows of a plan, with columns named by position.

        Raises:
            UnsupportedError: BATCH cannot execute the plan.
        """
        if isinstance(plan, _ROW_BY_ROW):
            return self._row_by_row(plan)
        method = _METHODS.get(type(plan))
        if method is None:
            raise UnsupportedError(f"{type(plan).__name__} is not supported in BATCH mode")
        return method(self, plan)

    # -------------------------------------------------------------- rows one by one

    def _row_by_row(self, plan: Plan) -> DataFrame:
        below = plan
        while isinstance(below, _ROW_BY_ROW):
            below = below.input
        if isinstance(below, nodes.Scan) and self._native(below) is None:
            return self._read(plan, below)
        found = self._on_columns(plan)
        if found is not None:
            return found
        below = plan
        while isinstance(below, _ROW_BY_ROW) and not self._is_on_columns(below):
            below = below.input
        task = run_on_batches(_grafted(plan, below, placeholder(below.schema)), self._session, below.schema)
        return self.frame(below).mapInArrow(task, spark_schema(plan.schema))

    def _is_on_columns(self, plan: Plan) -> bool:
        if isinstance(plan, nodes.Project):
            return bool(plan.expressions) and all(self._column(each) is not None for each in plan.expressions)
        return isinstance(plan, nodes.Filter) and self._column(plan.condition) is not None

    def _on_columns(self, plan: Plan) -> DataFrame | None:
        if not self._is_on_columns(plan):
            return None
        if isinstance(plan, nodes.Filter):
            return self.frame(plan.input).filter(self._columns([plan.condition])[0])
        assert isinstance(plan, nodes.Project)
        columns = self._columns(plan.expressions)
        return self.frame(plan.input).select(*_named(columns))

    def _column(self, expression: Expression) -> Column | None:
        return spark_column(expression, self._session)

    def _columns(self, expressions: Sequence[Expression]) -> list[Column]:
        found = map(self._column, expressions)
        return [each for each in found if each is not None]

    def _scan(self, plan: nodes.Scan) -> DataFrame:
        native = self._native(plan)
        return self._read(plan, plan) if native is None else native

    def _native(self, scan: nodes.Scan) -> DataFrame | None:
        """Return the table as Spark reads it itself, None if it does not; it is looked at once."""
        found = self._scans.get(id(scan))
        if found is None:
            source = self._source_of(scan)
            splits = source.splits()
            native = native_scan(self._spark, source, splits, scan.schema)
            found = self._scans[id(scan)] = _Scanned(scan, source, splits, native)
        return found.frame

    def _read(self, plan: Plan, scan: nodes.Scan) -> DataFrame:
        self._native(scan)
        source, splits = self._scans[id(scan)].source, self._scans[id(scan)].splits
        task = run_on_splits(plan, self._session, source, list(scan.schema.names), splits)
        numbers = self._spark.range(0, len(splits), 1, max(len(splits), 1))
        return numbers.mapInArrow(task, spark_schema(plan.schema))

    def _values(self, plan: nodes.Values) -> DataFrame:
        import pyarrow as pa

        batches = [to_spark(batch, plan.schema) for batch in execute_batch(plan, self._session, _no_table)]
        schema = spark_schema(plan.schema)
        if not batches:
            return self._spark.createDataFrame([], schema)
        return self._spark.createDataFrame(pa.Table.from_batches(batches), schema)

    # -------------------------------------------------------------- joins

    def _join(self, plan: nodes.Join) -> DataFrame:
        equal, residual = split_condition(plan.condition, len(plan.left.schema))
        condition = None if residual is None else self._column(residual)
        if residual is not None and condition is None and plan.kind != "INNER":
            return self._join_in_tasks(plan, equal)
        if not all(is_orderable(each.left.type) for each in equal):
            return self._join_in_tasks(plan, ())
        left, right = self._with_keys(plan, equal)
        on = [_same(index, each.null_equals_null) for index, each in enumerate(equal)]
        if condition is not None:
            on.append(condition)
        joined = left.join(right, reduce(_and, on, F.lit(True)), _JOINS[plan.kind])
        joined = joined.select(*_places(len(plan.schema)))
        if residual is None or condition is not None:
            return joined
        kept = run_on_batches(nodes.Filter(placeholder(plan.schema), residual), self._session, plan.schema)
        return joined.mapInArrow(kept, spark_schema(plan.schema))

    def _with_keys(self, plan: nodes.Join, equal: Sequence[EqualColumns]) -> tuple[DataFrame, DataFrame]:
        """Return both inputs with their keys `l0`, `r0`, ...; columns of the right one follow those of the left one."""
        width = len(plan.left.schema)
        left = self._keyed(plan.left, [each.left for each in equal], 0, "l")
        right = self._keyed(plan.right, [each.right for each in equal], width, "r")
        return left, right

    def _keyed(self, plan: Plan, keys: Sequence[Expression], first: int, prefix: str) -> DataFrame:
        """Return a plan's columns, named from a position on, and further columns with the values of expressions."""
        width = len(plan.schema)
        if all(self._column(key) is not None for key in keys):
            frame, values = self.frame(plan), self._columns(keys)
        else:
            frame = self.frame(project(plan, [*references_to(plan), *keys], [""] * (width + len(keys))))
            values = [F.col(column_name(width + index)) for index in range(len(keys))]
        columns = [F.col(column_name(index)).alias(column_name(first + index)) for index in range(width)]
        return frame.select(*columns, *(value.alias(f"{prefix}{index}") for index, value in enumerate(values)))

    def _join_in_tasks(self, plan: nodes.Join, equal: Sequence[EqualColumns]) -> DataFrame:
        """Join in Python, the rows of equal keys at a time."""
        left = self._keyed(plan.left, [each.left for each in equal], 0, "k").withColumn("k", F.lit(0))
        right = self._keyed(plan.right, [each.right for each in equal], 0, "k").withColumn("k", F.lit(0))
        by = [f"k{index}" for index in range(len(equal))] or ["k"]
        schemas = (plan.left.schema, plan.right.schema)
        node = plan.with_inputs((placeholder(schemas[0], 0), placeholder(schemas[1], 1)))
        task = run_on_pairs(node, self._session, schemas)
        return left.groupBy(*by).cogroup(right.groupBy(*by)).applyInArrow(task, spark_schema(plan.schema))

    # -------------------------------------------------------------- all rows, or those of a key

    def _aggregate(self, plan: nodes.Aggregate) -> DataFrame:
        columns = [spark_aggregate(call, self._session) for call in plan.calls]
        found = [column for column in columns if column is not None]
        keys = [F.col(column_name(key)) for key in plan.keys]
        native = len(found) == len(columns) and self._groups_by([plan.input.schema[key].type for key in plan.keys])
        if not native:
            return self._in_tasks(plan, self._common_keys(plan))
        if plan.grouping_id is not None:
            found.insert(0, typed(F.grouping_id(), plan.grouping_id))
        # names of keys and values must differ: a key may be at any position
        values = [column.alias(f"value{index}") for index, column in enumerate(found)]
        frame = self.frame(plan.input)
        if plan.is_simple:
            grouped = frame.groupBy(*keys)
        else:
            sets = [[keys[place] for place in grouping] for grouping in plan.grouping_sets]
            grouped = frame.groupingSets(sets, *keys)
        aggregated = grouped.agg(*values) if values else frame.select(*keys).distinct()
        names = [*(column_name(key) for key in plan.keys), *(f"value{index}" for index in range(len(found)))]
        return aggregated.select(*_named([F.col(name) for name in names]))

    def _groups_by(self, types: Sequence[DataType]) -> bool:
        return all(map(is_orderable, types))

    def _common_keys(self, plan: nodes.Aggregate) -> list[int]:
        """Return the keys by which groups can be told apart in all grouping sets."""
        places = [place for place in range(len(plan.keys)) if all(place in grouping for grouping in plan.grouping_sets)]
        return [plan.keys[place] for place in places]

    def _over(self, plan: nodes.Over) -> DataFrame:
        partitions = [
            {each.index for each in call.partition_by if isinstance(each, InputReference)} for call in plan.calls
        ]
        return self._in_tasks(plan, sorted(set.intersection(*partitions)))

    def _in_tasks(self, plan: Any, keys: Sequence[int]) -> DataFrame:
        """Run a node in Python: a task has all rows of the keys it has, or all rows."""
        schema = plan.input.schema
        columns = [column_name(key) for key in keys if is_orderable(schema[key].type)]
        frame = self.frame(plan.input)
        frame = frame.repartition(*columns) if columns else frame.coalesce(1)
        task = run_on_batches(plan.with_inputs((placeholder(schema),)), self._session, schema)
        return frame.mapInArrow(task, spark_schema(plan.schema))

    def _sort(self, plan: nodes.Sort) -> DataFrame:
        if not all(comparable(plan.schema[key.index].type) for key in plan.keys):
            return self._in_tasks(plan, ())
        return self.frame(plan.input).orderBy(*(_order(key) for key in plan.keys))

    def _limit(self, plan: nodes.Limit) -> DataFrame:
        frame = self.frame(plan.input)
        if plan.offset:
            frame = frame.offset(plan.offset)
        return frame if plan.fetch is None else frame.limit(plan.fetch)

    def _set_operation(self, plan: nodes.SetOperation) -> DataFrame:
        first, *others = (self.frame(branch) for branch in plan.branches)
        if plan.kind == "UNION":
            frame = reduce(lambda left, right: left.union(right), others, first)
            if plan.all:
                return frame
            if self._groups_by(plan.schema.types):
                return frame.distinct()
            union = nodes.SetOperation("UNION", False, (placeholder(plan.schema),), plan.schema)
            return frame.coalesce(1).mapInArrow(
                run_on_batches(union, self._session, plan.schema), spark_schema(plan.schema)
            )
        if not self._groups_by(plan.schema.types):
            return self._set_operation_in_task(plan)
        operation = _SET_OPERATIONS[plan.kind, plan.all]
        return reduce(operation, others, first)

    def _set_operation_in_task(self, plan: nodes.SetOperation) -> DataFrame:
        left, right = (self.frame(branch).withColumn("k", F.lit(0)) for branch in plan.branches)
        schemas = tuple(branch.schema for branch in plan.branches)
        node = plan.with_inputs((placeholder(schemas[0], 0), placeholder(schemas[1], 1)))
        task = run_on_pairs(node, self._session, schemas)
        return left.groupBy("k").cogroup(right.groupBy("k")).applyInArrow(task, spark_schema(plan.schema))


_METHODS: dict[type, Callable[[Lowering, Any], DataFrame]] = {
    nodes.Scan: Lowering._scan,
    nodes.Values: Lowering._values,
    nodes.Join: Lowering._join,
    nodes.Aggregate: Lowering._aggregate,
    nodes.Over: Lowering._over,
    nodes.Sort: Lowering._sort,
    nodes.Limit: Lowering._limit,
    nodes.SetOperation: Lowering._set_operation,
}
_SET_OPERATIONS: dict[tuple[str, bool], Callable[[Any, Any], Any]] = {
    ("INTERSECT", False): lambda left, right: left.intersect(right),
    ("INTERSECT", True): lambda left, right: left.intersectAll(right),
    ("EXCEPT", False): lambda left, right: left.subtract(right),
    ("EXCEPT", True): lambda left, right: left.exceptAll(right),
}


def _grafted(plan: Plan, below: Plan, replacement: Plan) -> Plan:
    """Return a chain of nodes with another one at its end."""
    if plan is below:
        return replacement
    return plan.with_inputs((_grafted(plan.inputs[0], below, replacement),))


def _no_table(scan: nodes.Scan) -> Any:
    raise AssertionError(f"VALUES reads {scan}")


def _named(columns: Sequence[Column]) -> list[Column]:
    return [column.alias(column_name(index)) for index, column in enumerate(columns)]


def _places(width: int) -> list[Column]:
    return [F.col(column_name(index)) for index in range(width)] or [F.lit(None).cast("boolean").alias("rows")]


def _same(index: int, null_equals_null: bool) -> Column:
    left, right = F.col(f"l{index}"), F.col(f"r{index}")
    return left.eqNullSafe(right) if null_equals_null else left == right


def _and(left: Column, right: Column) -> Column:
    return left & right


def _order(key: nodes.SortKey) -> Column:
    column = F.col(column_name(key.index))
    if key.descending:
        return column.desc_nulls_first() if key.nulls_first else column.desc_nulls_last()
    return column.asc_nulls_first() if key.nulls_first else column.asc_nulls_last()
