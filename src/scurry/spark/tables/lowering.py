"""Plans as queries of Spark: one method per node, which returns the text of a SELECT.

A plan is one text, which Spark analyses once: a DataFrame per node costs thousands of calls to the JVM.
What Spark does not compute as Flink does runs in Python tasks on DataFrames, which the text names as temporary views.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scurry._dataclasses import dataclass
from scurry.errors import UnsupportedError
from scurry.spark.tables.aggregates import spark_aggregate
from scurry.spark.tables.columns import (
    FLOATS,
    NO_COLUMN,
    Names,
    comparable,
    equal_keys,
    is_negative_zero,
    named,
    names_of_sides,
    order,
    spark_expression,
    typed,
    with_sign_of_zero,
)
from scurry.spark.tables.scans import native_scan
from scurry.spark.tables.tasks import placeholder, run_on_batches, run_on_pairs, run_on_splits
from scurry.spark.tables.types import column_name, has_nested_floats, is_orderable, spark_schema, to_spark
from scurry.sql.connectors.vectors import vector_search_of
from scurry.sql.evaluation.batch.executor import execute_batch
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan import nodes as nodes
from scurry.sql.plan.builders import columns as references_to
from scurry.sql.plan.builders import project
from scurry.sql.plan.changelog_functions import FromChangelog, ToChangelog, of_insertions
from scurry.sql.plan.expressions import Expression, InputReference
from scurry.sql.plan.join_keys import EqualColumns, joins_one_value, split_condition
from scurry.sql.plan.matching import PatternMatch
from scurry.sql.plan.models import MLPredict, VectorSearch
from scurry.sql.plan.nodes import Plan
from scurry.sql.plan.process_tables import ProcessTableFunction
from scurry.sql.plan.rewriting import grafted
from scurry.sql.types import DataType

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from scurry.spark.tables.counting import Counting, TaskCounts
    from scurry.sql.connectors.contract import TableSource

#: Nodes that make rows of single rows.
_ROW_BY_ROW = (nodes.Project, nodes.Filter, nodes.Unnest, nodes.TableFunctionScan, nodes.WindowTable)
_JOINS = {
    "INNER": "INNER JOIN",
    "LEFT": "LEFT JOIN",
    "RIGHT": "RIGHT JOIN",
    "FULL": "FULL JOIN",
    "SEMI": "LEFT SEMI JOIN",
    "ANTI": "LEFT ANTI JOIN",
}
#: Number of tasks that run a process table function of two tables.
_BUCKETS = 200


def lowered(
    plan: Plan,
    spark: SparkSession,
    session: EvaluationContext,
    source_of: Callable[[nodes.Scan], TableSource],
    counting: Counting | None = None,
) -> DataFrame:
    """Return the rows of a plan, with columns named by position.

    Args:
        counting: What the Python tasks count; None for nothing.

    Raises:
        UnsupportedError: BATCH cannot execute the plan.
    """
    lowering = _Lowering(spark, session, source_of, counting)
    with lowering.views():
        return lowering.frame(plan)


@dataclass(frozen=True)
class _Scanned:
    """A scan, the reader of its table, and the table as Spark reads it, if it does."""

    scan: nodes.Scan
    source: TableSource
    splits: list[Any]
    query: str | None


class _Lowering:
    """Turns the plan of one statement into a query."""

    def __init__(
        self,
        spark: SparkSession,
        session: EvaluationContext,
        source_of: Callable[[nodes.Scan], TableSource],
        counting: Counting | None,
    ) -> None:
        self._spark = spark
        self._session = session
        self._source_of = source_of
        self._counting = counting
        self._scans: dict[int, _Scanned] = {}
        self._views: list[str] = []

    def frame(self, plan: Plan) -> DataFrame:
        return self._spark.sql(self._query(plan))

    @contextmanager
    def views(self) -> Iterator[None]:
        """Drop the views at the end: analysed plans do not need them."""
        try:
            yield
        finally:
            for name in self._views:
                self._spark.catalog.dropTempView(name)

    def _counts(self, plan: Plan, scan: nodes.Scan | None = None) -> TaskCounts | None:
        return None if self._counting is None else self._counting.of(plan, scan)

    def _query(self, plan: Plan) -> str:
        if isinstance(plan, _ROW_BY_ROW):
            return self._row_by_row(plan)
        method = _METHODS.get(type(plan))
        if method is None:
            raise UnsupportedError(f"{type(plan).__name__} is not supported in BATCH mode")
        return method(self, plan)

    def _view(self, frame: DataFrame) -> str:
        name = f"scurry_{uuid.uuid4().hex}"
        frame.createTempView(name)
        self._views.append(name)
        return name

    def _all_of(self, frame: DataFrame) -> str:
        return f"SELECT * FROM {self._view(frame)}"

    # -------------------------------------------------------------- rows one by one

    def _row_by_row(self, plan: Plan) -> str:
        below = plan
        while isinstance(below, _ROW_BY_ROW):
            below = below.input
        if isinstance(below, nodes.Scan) and self._native(below) is None:
            return self._read(plan, below)
        found = self._in_sql(plan)
        if found is not None:
            return found
        below = plan
        while isinstance(below, _ROW_BY_ROW) and not self._is_in_sql(below):
            below = below.input
        task = run_on_batches(
            grafted(plan, below, placeholder(below.schema)), self._session, below.schema, self._counts(plan)
        )
        return self._all_of(self.frame(below).mapInArrow(task, spark_schema(plan.schema)))

    def _is_in_sql(self, plan: Plan) -> bool:
        if isinstance(plan, nodes.Project):
            return bool(plan.expressions) and all(self._expression(each) is not None for each in plan.expressions)
        return isinstance(plan, nodes.Filter) and self._expression(plan.condition) is not None

    def _in_sql(self, plan: Plan) -> str | None:
        if not self._is_in_sql(plan):
            return None
        if isinstance(plan, nodes.Filter):
            return f"SELECT * FROM ({self._query(plan.input)}) WHERE {self._expression(plan.condition)}"
        assert isinstance(plan, nodes.Project)
        return f"SELECT {named(self._expressions(plan.expressions))} FROM ({self._query(plan.input)})"

    def _expression(self, expression: Expression, names: Names = column_name) -> str | None:
        return spark_expression(expression, self._session, names)

    def _expressions(self, expressions: Sequence[Expression], names: Names = column_name) -> list[str]:
        found = (self._expression(each, names) for each in expressions)
        return [each for each in found if each is not None]

    def _scan(self, plan: nodes.Scan) -> str:
        native = self._native(plan)
        return self._read(plan, plan) if native is None else native

    def _native(self, scan: nodes.Scan) -> str | None:
        """Return the query of a table as Spark reads it itself, None if it does not; it is looked at once."""
        found = self._scans.get(id(scan))
        if found is None:
            source = self._source_of(scan)
            splits = source.splits()
            frame = native_scan(self._spark, source, splits, scan.schema)
            query = None
            if frame is not None:
                names = [f"`{each.name.replace('`', '``')}`" for each in scan.schema]
                query = f"SELECT {named(names)} FROM {self._view(frame)}"
                if self._counting is not None:
                    self._counting.misses_input = True
            found = self._scans[id(scan)] = _Scanned(scan, source, splits, query)
        return found.query

    def _read(self, plan: Plan, scan: nodes.Scan) -> str:
        self._native(scan)
        source, splits = self._scans[id(scan)].source, self._scans[id(scan)].splits
        task = run_on_splits(plan, self._session, source, list(scan.schema.names), splits, self._counts(plan, scan))
        numbers = self._spark.range(0, len(splits), 1, max(len(splits), 1))
        return self._all_of(numbers.mapInArrow(task, spark_schema(plan.schema)))

    def _values(self, plan: nodes.Values) -> str:
        import pyarrow as pa

        batches = [to_spark(batch, plan.schema) for batch in execute_batch(plan, self._session, _no_table)]
        schema = spark_schema(plan.schema)
        rows: Any = pa.Table.from_batches(batches) if batches else []
        return self._all_of(self._spark.createDataFrame(rows, schema))

    # -------------------------------------------------------------- joins

    def _join(self, plan: nodes.Join) -> str:
        equal, residual = split_condition(plan.condition, len(plan.left.schema))
        width = len(plan.left.schema)
        names = names_of_sides(width)
        condition = None if residual is None else self._expression(residual, names)
        if residual is not None and condition is None and plan.kind != "INNER":
            return self._join_in_tasks(plan, equal)
        if not all(is_orderable(each.left.type) for each in equal):
            return self._join_in_tasks(plan, ())
        if not equal and residual is not None and condition is not None and joins_one_value(plan):
            return self._compared_with_scalar(plan, residual)
        left, left_keys = self._keyed(plan.left, [each.left for each in equal], "l")
        right, right_keys = self._keyed(plan.right, [each.right for each in equal], "r")
        on = [equal_keys(one, other, each) for each, one, other in zip(equal, left_keys, right_keys, strict=True)]
        if condition is not None:
            on.append(condition)
        columns = named([names(index) for index in range(len(plan.schema))])
        joined = f"SELECT {columns} FROM ({left}) l {_JOINS[plan.kind]} ({right}) r ON {' AND '.join(on) or 'TRUE'}"
        if residual is None or condition is not None:
            return joined
        kept = run_on_batches(
            nodes.Filter(placeholder(plan.schema), residual), self._session, plan.schema, self._counts(plan)
        )
        return self._all_of(self._spark.sql(joined).mapInArrow(kept, spark_schema(plan.schema)))

    def _keyed(self, plan: Plan, keys: Sequence[Expression], side: str) -> tuple[str, list[str]]:
        """Return the query of one side of a join, and the texts of its keys."""

        def name(index: int) -> str:
            return f"{side}.{column_name(index)}"

        found = self._expressions(keys, name)
        if len(found) == len(keys):
            return self._query(plan), found
        width = len(plan.schema)
        query = self._query(project(plan, [*references_to(plan), *keys], [""] * (width + len(keys))))
        return query, [name(width + index) for index in range(len(keys))]

    def _compared_with_scalar(self, plan: nodes.Join, condition: Expression) -> str:
        """Let Spark compute the single value of the right side first, so that the condition is one on left rows."""
        width = len(plan.left.schema)
        value = f"(SELECT * FROM ({self._query(plan.right)})) AS {column_name(width)}"
        columns = [column_name(index) for index in range(width)]
        left = f"SELECT {', '.join([*columns, value])} FROM ({self._query(plan.left)})"
        return f"SELECT * FROM ({left}) WHERE {self._expression(condition)}"

    def _join_in_tasks(self, plan: nodes.Join, equal: Sequence[EqualColumns]) -> str:
        """Join in Python, the rows of equal keys at a time."""
        keys = [f"k{index}" for index in range(len(equal))] or ["k"]
        sides = []
        for side, found in (
            (plan.left, [each.left for each in equal]),
            (plan.right, [each.right for each in equal]),
        ):
            query, values = self._keyed(side, found, "s")
            named = [f"{value} AS {key}" for value, key in zip(values or ["0"], keys, strict=True)]
            columns = [f"s.{column_name(index)}" for index in range(len(side.schema))] or [NO_COLUMN]
            sides.append(self._spark.sql(f"SELECT {', '.join([*columns, *named])} FROM ({query}) s"))
        schemas = (plan.left.schema, plan.right.schema)
        node = plan.with_inputs((placeholder(schemas[0], 0), placeholder(schemas[1], 1)))
        task = run_on_pairs(node, self._session, schemas, self._counts(plan))
        left, right = (side.groupBy(*keys) for side in sides)
        return self._all_of(left.cogroup(right).applyInArrow(task, spark_schema(plan.schema)))

    # -------------------------------------------------------------- all rows, or those of a key

    def _aggregate(self, plan: nodes.Aggregate) -> str:
        found = [each for each in (spark_aggregate(call, self._session) for call in plan.calls) if each is not None]
        if len(found) < len(plan.calls) or not self._groups_by([plan.input.schema[key].type for key in plan.keys]):
            return self._in_tasks(plan, self._common_keys(plan))
        keys = [column_name(key) for key in plan.keys]
        identifier = [] if plan.grouping_id is None else [typed("grouping_id()", plan.grouping_id)]
        types = [plan.input.schema[key].type for key in plan.keys]
        signs = [is_negative_zero(key) for key, each in zip(keys, types, strict=True) if isinstance(each, FLOATS)]
        if signs and not plan.is_simple:
            return self._in_tasks(plan, self._common_keys(plan))
        shown = [with_sign_of_zero(key, each) for key, each in zip(keys, types, strict=True)]
        query = f"SELECT {named([*shown, *identifier, *found])} FROM ({self._query(plan.input)})"
        if keys:
            query += f" GROUP BY {', '.join([*keys, *signs])}"
        if not plan.is_simple:
            sets = (f"({', '.join(keys[place] for place in grouping)})" for grouping in plan.grouping_sets)
            query += f"{'' if keys else ' GROUP BY'} GROUPING SETS ({', '.join(sets)})"
        return query

    def _groups_by(self, types: Sequence[DataType]) -> bool:
        """Return whether Spark groups by values of some types as Flink does, beside the sign of zero."""
        return all(is_orderable(each) and not has_nested_floats(each) for each in types)

    def _common_keys(self, plan: nodes.Aggregate) -> list[int]:
        """Return the keys by which groups can be told apart in all grouping sets."""
        places = [place for place in range(len(plan.keys)) if all(place in grouping for grouping in plan.grouping_sets)]
        return [plan.keys[place] for place in places]

    def _over(self, plan: nodes.Over) -> str:
        partitions = [
            {each.index for each in call.partition_by if isinstance(each, InputReference)} for call in plan.calls
        ]
        return self._in_tasks(plan, sorted(set.intersection(*partitions)))

    def _search(self, plan: VectorSearch) -> str:
        source = vector_search_of(self._source_of(plan.table), *plan.request)
        return self._predict(plan, replace(plan, source=source))

    def _predict(self, plan: MLPredict | VectorSearch, run: MLPredict | VectorSearch | None = None) -> str:
        schema = plan.input.schema
        node = (run or plan).with_inputs((placeholder(schema),))
        task = run_on_batches(node, self._session, schema, self._counts(plan))
        return self._all_of(self.frame(plan.input).mapInArrow(task, spark_schema(plan.schema)))

    def _match(self, plan: PatternMatch) -> str:
        return self._in_tasks(plan, plan.partition_by)

    def _process(self, plan: ProcessTableFunction) -> str:
        keys = [table.partition_by for table in plan.tables] or [()]
        if len(plan.sources) == 1:
            return self._in_tasks(plan, keys[0])
        if len(plan.sources) > 2:
            raise UnsupportedError("process table functions of more than two tables in BATCH on Spark")
        from pyspark.sql import functions as F

        schemas = tuple(each.schema for each in plan.sources)
        sides = []
        for source, columns in zip(plan.sources, keys, strict=True):
            named = [column_name(key) for key in columns if is_orderable(source.schema[key].type)]
            bucket = F.pmod(F.hash(*named), F.lit(_BUCKETS)) if named else F.lit(0)
            sides.append(self.frame(source).withColumn("k", bucket))
        node = plan.with_inputs((placeholder(schemas[0], 0), placeholder(schemas[1], 1)))
        task = run_on_pairs(node, self._session, schemas, self._counts(plan))
        left, right = (side.groupBy("k") for side in sides)
        return self._all_of(left.cogroup(right).applyInArrow(task, spark_schema(plan.schema)))

    def _in_tasks(self, plan: Any, keys: Sequence[int]) -> str:
        """Run a node in Python: a task has all rows of the keys it has, or all rows."""
        schema = plan.input.schema
        columns = [column_name(key) for key in keys if is_orderable(schema[key].type)]
        frame = self.frame(plan.input)
        frame = frame.repartition(*columns) if columns else frame.coalesce(1)
        task = run_on_batches(plan.with_inputs((placeholder(schema),)), self._session, schema, self._counts(plan))
        return self._all_of(frame.mapInArrow(task, spark_schema(plan.schema)))

    def _sort(self, plan: nodes.Sort) -> str:
        if not all(comparable(plan.schema[key.index].type) for key in plan.keys):
            return self._in_tasks(plan, ())
        return f"SELECT * FROM ({self._query(plan.input)}) ORDER BY {', '.join(map(order, plan.keys))}"

    def _limit(self, plan: nodes.Limit) -> str:
        fetch = "" if plan.fetch is None else f" LIMIT {plan.fetch}"
        offset = f" OFFSET {plan.offset}" if plan.offset else ""
        return f"SELECT * FROM ({self._query(plan.input)}){fetch}{offset}"

    def _set_operation(self, plan: nodes.SetOperation) -> str:
        groups = self._groups_by(plan.schema.types)
        if plan.kind != "UNION" and not groups:
            return self._set_operation_in_task(plan)
        branches = [f"SELECT * FROM ({self._query(branch)})" for branch in plan.branches]
        if plan.kind == "UNION" and plan.all:
            return " UNION ALL ".join(branches)
        if groups:
            return self._set_of_columns(plan, branches)
        union = nodes.SetOperation("UNION", False, (placeholder(plan.schema),), plan.schema)
        task = run_on_batches(union, self._session, plan.schema, self._counts(plan))
        rows = self._spark.sql(" UNION ALL ".join(branches)).coalesce(1)
        return self._all_of(rows.mapInArrow(task, spark_schema(plan.schema)))

    def _set_of_columns(self, plan: nodes.SetOperation, branches: Sequence[str]) -> str:
        columns = [(column_name(place), kind) for place, kind in enumerate(plan.schema.types)]
        signs = [is_negative_zero(name) for name, kind in columns if isinstance(kind, FLOATS)]
        operator = f" {plan.kind}{' ALL' if plan.all else ''} "
        if not signs:
            return operator.join(branches)
        added = ", ".join(f"{sign} AS `sign {place}`" for place, sign in enumerate(signs))
        signed = operator.join(f"SELECT *, {added} FROM ({branch})" for branch in branches)
        names = iter(range(len(signs)))
        shown = [
            with_sign_of_zero(name, kind, f"`sign {next(names)}`") if isinstance(kind, FLOATS) else name
            for name, kind in columns
        ]
        return f"SELECT {named(shown)} FROM ({signed})"

    def _set_operation_in_task(self, plan: nodes.SetOperation) -> str:
        from pyspark.sql import functions as F

        left, right = (self.frame(branch).withColumn("k", F.lit(0)) for branch in plan.branches)
        schemas = tuple(branch.schema for branch in plan.branches)
        node = plan.with_inputs((placeholder(schemas[0], 0), placeholder(schemas[1], 1)))
        task = run_on_pairs(node, self._session, schemas, self._counts(plan))
        return self._all_of(left.groupBy("k").cogroup(right.groupBy("k")).applyInArrow(task, spark_schema(plan.schema)))


_METHODS: dict[type, Callable[[_Lowering, Any], str]] = {
    nodes.Scan: _Lowering._scan,
    nodes.Values: _Lowering._values,
    nodes.Join: _Lowering._join,
    nodes.Aggregate: _Lowering._aggregate,
    nodes.TableAggregate: lambda lowering, plan: lowering._in_tasks(plan, plan.keys),
    nodes.Over: _Lowering._over,
    MLPredict: _Lowering._predict,
    VectorSearch: _Lowering._search,
    PatternMatch: _Lowering._match,
    ProcessTableFunction: _Lowering._process,
    FromChangelog: lambda lowering, plan: lowering._in_tasks(plan, plan.columns_kept),
    ToChangelog: lambda lowering, plan: lowering._query(of_insertions(plan)),
    nodes.Sort: _Lowering._sort,
    nodes.Limit: _Lowering._limit,
    nodes.SetOperation: _Lowering._set_operation,
}


def _no_table(scan: nodes.Scan) -> Any:
    raise AssertionError(f"VALUES reads {scan}")
