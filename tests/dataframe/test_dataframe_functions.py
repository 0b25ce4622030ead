"""`udf`, `udtf`, `udaf`, `flat_map` and `join_lateral`: declarations, types, and jobs in both modes."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, NotRequired, TypedDict

import pandas as pd
import pyarrow as pa
import pytest

import scurry.dataframe as pf
from scurry.table.udf import AggregateFunction, AsyncScalarFunction, FunctionContext, ScalarFunction, TableFunction

Kinds = pf.DataType


def rows(df: pf.DataFrame) -> list[tuple[Any, ...]]:
    frame = df.to_arrow()
    return sorted(zip(*(column.to_pylist() for column in frame.columns), strict=True), key=repr)


def texts() -> pf.DataFrame:
    return pf.from_dict({"i": [1, 2], "t": ["a b", "c"]})


class Pair(TypedDict):
    a: int
    b: NotRequired[str]


class Word(TypedDict):
    word: str
    size: int


@dataclass
class Point:
    x: int
    y: str | None


class Named(NamedTuple):
    x: int


class Opened(ScalarFunction):
    log: list[str] = []

    def open(self, function_context: FunctionContext) -> None:
        self.factor = 10

    def eval(self, value: int) -> int:
        return value * self.factor


class Callable:
    def __init__(self, factor: int = 3) -> None:
        self.factor = factor

    def __call__(self, value: int) -> int:
        return value * self.factor

    def method(self, value: int) -> int:
        return value + self.factor


class Later(AsyncScalarFunction):
    async def eval(self, value: int) -> int:
        return -value


def times(factor: int, value: int) -> int:
    return factor * value


class TestScalar:
    @pytest.mark.parametrize(
        ("func", "expected"),
        [
            (lambda value: value + 1, [2, 3]),
            (functools.partial(times, 5), [5, 10]),
            (functools.partial(times, factor=5), None),
            (Callable, [3, 6]),
            (Callable(7), [7, 14]),
            (Callable(7).method, [8, 9]),
            (Opened, [10, 20]),
            (Opened(), [10, 20]),
            (Later, [-1, -2]),
            (Later(), [-1, -2]),
        ],
    )
    def test_what_is_called(self, mode: str, func: Any, expected: list[int] | None) -> None:
        if expected is None:
            func = functools.partial(times, value=2)
            expected = [2, 4]
        declared = pf.udf(func, return_dtype=Kinds.int64())
        assert [
            row[0] for row in sorted(rows(texts().select(declared(pf.col("i")))), key=lambda r: abs(r[0]))
        ] == expected

    def test_decorators_and_values(self, mode: str) -> None:
        @pf.udf
        def shout(text: str, mark: str) -> str:
            return text.upper() + mark

        @pf.udf(return_dtype="STRING", name="other")  # type: ignore[untyped-decorator]
        async def whisper(text: str) -> str:
            return text.lower()

        df = texts().select(a=shout(pf.col("t"), "!"), b=whisper(pf.lit("X")))
        assert rows(df) == [("A B!", "x"), ("C!", "x")]

    def test_pandas_and_arrow_are_seen_from_annotations(self, mode: str) -> None:
        @pf.udf(return_dtype=Kinds.int64())  # type: ignore[untyped-decorator]
        def next_one(column: pd.Series) -> pd.Series:
            return column + 1

        @pf.udf(return_dtype=Kinds.int64())  # type: ignore[untyped-decorator]
        def same(column: pa.Array) -> pa.Array:
            return column

        assert (next_one._func_type, same._func_type) == ("pandas", "arrow")
        assert rows(texts().select(next_one(pf.col("i")), same(pf.col("i")))) == [(2, 1), (3, 2)]
        with pytest.raises(TypeError, match="return_dtype is required for pandas UDFs because"):
            pf.udf(func_type="pandas")(lambda column: column)

    @pytest.mark.parametrize(
        "result", [{"a": 1}, {"a": 1, "c": 2}, (1, None), [1, None], pf.from_records([(1,)], ["a"]) and Point(1, None)]
    )
    def test_results_become_rows(self, mode: str, result: Any) -> None:
        names = ("x", "y") if isinstance(result, Point) else ("a", "b")
        kind = Kinds.struct({names[0]: Kinds.int64(), names[1]: Kinds.string()})
        declared = pf.udf(lambda value: result, return_dtype=kind)
        assert rows(texts().limit(1).select(declared(pf.col("i")))) == [({names[0]: 1, names[1]: None},)]

    def test_results_that_do_not_fit_are_refused(self, batch: None) -> None:
        kind = Kinds.struct({"a": Kinds.int64(), "b": Kinds.string(), "c": Kinds.string()})
        declared = pf.udf(lambda value: (1, "x"), return_dtype=kind)
        with pytest.raises(Exception, match=r"Expected 3 value\(s\) for RowType \[a, b, c\], got 2"):
            texts().select(declared(pf.col("i"))).collect()

    def test_nested_results(self, mode: str) -> None:
        kind = Kinds.list(Kinds.struct({"a": Kinds.int64()}))
        declared = pf.udf(lambda value: ({"a": each} for each in range(value)), return_dtype=kind)
        assert rows(texts().select(declared(pf.col("i")))) == [([{"a": 0}, {"a": 1}],), ([{"a": 0}],)]

    def test_metadata_and_immutability(self) -> None:
        def documented(value: int) -> int:
            """Return it."""
            return value

        declared = pf.udf(documented)
        assert declared.__name__ == "documented" and declared.__doc__ == "Return it."
        assert declared.__qualname__.endswith("documented") and declared.__module__ == __name__
        assert declared.return_dtype == Kinds.int64().not_null()
        assert not hasattr(declared, "__wrapped__")
        with pytest.raises(AttributeError, match=r"DataFrame UDF declarations are immutable\."):
            declared.name = "x"

    @pytest.mark.parametrize(
        ("func", "options", "message"),
        [
            (1, {}, r"func must be callable, got int\."),
            (TableFunction, {}, r"func must be a scalar UDF, got TableFunction\."),
            (ScalarFunction, {}, r"UDF class 'ScalarFunction' must not be abstract\."),
            (lambda value: value, {}, "Cannot infer return_dtype for '<lambda>': add a return annotation or specify"),
            (
                Callable,
                {"return_dtype": 5},
                "return_dtype must be a DataFrame DataType, Python type, or SQL type",
            ),
            (Callable, {"deterministic": 1}, r"deterministic must be a bool\."),
            (Callable, {"name": 1}, r"name must be a str or None\."),
            (Callable, {"name": ""}, r"name must not be empty\."),
            (Callable, {"func_type": "x"}, r"The func_type must be one of 'general, pandas', got x\."),
            (
                Later,
                {"func_type": "pandas"},
                "Async scalar functions do not support pandas func_type. ",
            ),
            (Opened(), {"deterministic": False}, r"Inconsistent deterministic: False and True\."),
            (functools.partial(times, 1, 2, 3), {}, "Invalid functools.partial UDF 'times'"),  # type: ignore[call-arg]
        ],
    )
    def test_wrong_declarations(self, func: Any, options: Any, message: str) -> None:
        with pytest.raises((TypeError, ValueError), match=message):
            pf.udf(func, **options)

    def test_classes_need_a_constructor_without_arguments(self) -> None:
        class Configured:
            def __init__(self, factor: int) -> None: ...

            def __call__(self, value: int) -> int:
                return value

        with pytest.raises(TypeError, match="UDF class 'Configured' must have a zero-argument constructor; pass a"):
            pf.udf(Configured)

    def test_return_annotations_without_a_type_are_told(self) -> None:
        def several(value: int) -> int | str:
            return value

        def unknown(value: int) -> Missing:  # type: ignore[name-defined]  # noqa: F821
            return value

        for func in (several, unknown):
            with pytest.raises(TypeError, match=f"Cannot infer return_dtype for '{func.__name__}' from its return"):
                pf.udf(func)

    def test_it_is_not_called_before_it_is_opened(self) -> None:
        declared = pf.udf(Callable)
        with pytest.raises(RuntimeError, match=r"DataFrame UDF was invoked before open\(\)\."):
            declared._function._func.eval(1)


class TestTypes:
    @pytest.mark.parametrize(
        ("hint", "expected"),
        [
            (int, "BIGINT NOT NULL"),
            (int | None, "BIGINT"),
            (list[float | None], "ARRAY<DOUBLE> NOT NULL"),
            (dict[str, int], "MAP<STRING NOT NULL, BIGINT NOT NULL> NOT NULL"),
            (tuple[int, str], "ROW<`_1` BIGINT NOT NULL, `_2` STRING NOT NULL> NOT NULL"),
            (Pair, "ROW<`a` BIGINT NOT NULL, `b` STRING> NOT NULL"),
            (Point, "ROW<`x` BIGINT NOT NULL, `y` STRING> NOT NULL"),
            (Named, "ROW<`x` BIGINT NOT NULL> NOT NULL"),
            (Any, "STRING"),
        ],
    )
    def test_of_hints(self, hint: Any, expected: str) -> None:
        assert Kinds._from_type_hint(hint)._to_table_data_type().as_summary_string() == expected

    @pytest.mark.parametrize("hint", [int | str, list, tuple, dict, tuple[int, ...], object, "Missing", set[int]])
    def test_hints_without_a_type(self, hint: Any) -> None:
        with pytest.raises(TypeError, match=r"Cannot infer DataType from type hint .*Please specify the data type"):
            Kinds._from_type_hint(hint)

    def test_factories(self) -> None:
        kinds = {
            Kinds.int8(): "TINYINT", Kinds.int16(): "SMALLINT", Kinds.int32(): "INT", Kinds.int64(): "BIGINT",
            Kinds.float32(): "FLOAT", Kinds.float64(): "DOUBLE", Kinds.bool(): "BOOLEAN", Kinds.string(): "STRING",
            Kinds.binary(): "BYTES", Kinds.date(): "DATE", Kinds.decimal(5, 2): "DECIMAL(5, 2)", Kinds.null(): "NULL",
            Kinds.fixed_size_string(3): "CHAR(3)", Kinds.fixed_size_binary(3): "BINARY(3)", Kinds.time(): "TIME(0)",
            Kinds.timestamp(): "TIMESTAMP(6)", Kinds.timestamp_ltz(3): "TIMESTAMP_LTZ(3)",
            Kinds.list(Kinds.int8().not_null()): "ARRAY<TINYINT NOT NULL>",
            Kinds.map(Kinds.string(), Kinds.int8()): "MAP<STRING, TINYINT>",
            Kinds.struct([("a", Kinds.int8())]): "ROW<`a` TINYINT>",
        }  # fmt: skip
        assert len(kinds) == 20
        for kind, text in kinds.items():
            assert kind._to_table_data_type().as_summary_string() == text
            assert kind.nullable() == kind and repr(kind) == f"DataType({kind._to_table_data_type()!r})"
        assert Kinds.int8() != Kinds.int8().not_null() != Kinds.int16().not_null()

    def test_they_do_not_change(self) -> None:
        import pickle

        kind = Kinds.decimal(5, 2)
        with pytest.raises(AttributeError):
            kind._type = None  # type: ignore[assignment]
        assert pickle.loads(pickle.dumps(kind)) == kind
        with pytest.raises(ValueError, match="NULL"):
            Kinds.null().not_null()

    @pytest.mark.parametrize("text", ["ROW<name STRING, scores ARRAY<DOUBLE NOT NULL>>", "NULL", "TIMESTAMP(9)"])
    def test_of_sql(self, text: str) -> None:
        assert Kinds._from_sql(text)._to_table_data_type().as_summary_string().replace("`", "") == text

    def test_of_wrong_sql(self) -> None:
        with pytest.raises(ValueError, match="'NO TYPE' is no SQL type"):
            Kinds._from_sql("NO TYPE")


def words(row: dict[str, Any]) -> Iterator[Word]:
    for each in row["t"].split():
        yield {"word": each, "size": len(each) + row["i"]}


class TestFlatMap:
    def test_gets_dicts_and_emits_columns(self, mode: str) -> None:
        df = texts().flat_map(words)
        assert df.columns == ["word", "size"]
        assert rows(df) == [("a", 2), ("b", 2), ("c", 3)]

    def test_kinds_of_results(self, mode: str) -> None:
        kind = Kinds.struct({"a": Kinds.int64()})
        results: list[tuple[Any, list[Any]]] = [
            (None, []), (5, [5]), ((5,), [5]), ({"a": 5}, [5]), ([1, 2], [1, 2]), ([None], [None]), (iter([(3,)]), [3]),
        ]  # fmt: skip
        for result, expected in results:
            given = list(result) if hasattr(result, "__next__") else result
            found = texts().limit(1).flat_map(lambda row, given=given: given, return_dtype=kind)
            assert [row[0] for row in rows(found)] == expected, result

    def test_of_a_declaration_and_of_a_class(self, mode: str) -> None:
        @pf.udtf
        def numbers(row: Mapping[str, Any]) -> Iterator[int]:
            yield from range(row["i"])

        assert texts().flat_map(numbers).columns == ["f0"]
        assert rows(texts().flat_map(numbers)) == [(0,), (0,), (1,)]

        class Emitting:
            def __call__(self, row: dict[str, Any]) -> list[Pair]:
                return [{"a": row["i"]}]

        assert rows(texts().flat_map(Emitting)) == [(1, None), (2, None)]

    @pytest.mark.parametrize(
        ("func", "options", "message"),
        [
            (TableFunction, {}, r"flat_map accepts Python callables or a pf.udtf declaration\."),
            (lambda: None, {"return_dtype": "INT"}, r"flat_map requires a function accepting one row argument\."),
            (lambda a, b: None, {"return_dtype": "INT"}, r"flat_map requires a function accepting one row argument\."),
            (
                Callable,
                {"return_dtype": "INT"},
                "flat_map receives one dict row argument, got annotation <class",
            ),
            (pf.udtf(words), {"return_dtype": "INT"}, "return_dtype must not be specified for a DataFrame UDTF"),
            (lambda row: None, {}, r"Cannot infer UDTF return type; specify return_dtype explicitly\."),
        ],
    )
    def test_wrong_functions(self, func: Any, options: Any, message: str) -> None:
        with pytest.raises((TypeError, ValueError), match=message):
            texts().flat_map(func, **options)

    def test_tuples_have_no_names(self) -> None:
        def pairs(row: dict[str, Any]) -> Iterator[tuple[int, int]]:
            yield 1, 2

        with pytest.raises(ValueError, match=r"flat_map requires named output fields; use TypedDict or a named"):
            texts().flat_map(pairs)


@pf.udtf
def parts(text: str) -> Iterator[str]:
    yield from text.split() if text != "c" else []


class TestJoinLateral:
    def test_each_row_with_those_of_the_function(self, mode: str) -> None:
        call = parts(pf.col("t")).alias("part")
        assert rows(texts().join_lateral(call)) == [(1, "a b", "a"), (1, "a b", "b")]
        assert rows(texts().join_lateral(call, how="left"))[-1] == (2, "c", None)

    def test_has_the_plan_of_the_table(self, mode: str) -> None:
        df, call = texts(), parts(pf.col("t")).alias("part")
        table = df.to_table().join_lateral(call.expression.alias("part"))
        assert df.join_lateral(call).explain() == table.explain()

    def test_names_of_a_struct(self, mode: str) -> None:
        declared = pf.udtf(lambda value: [(value, "x")], return_dtype="ROW<a BIGINT, b STRING>")
        assert texts().join_lateral(declared(pf.col("i"))).columns == ["i", "t", "a", "b"]

    @pytest.mark.parametrize(
        ("call", "message"),
        [
            (
                parts(pf.col("t")),
                "UDTF calls passed to join_lateral require output names; use alias, a TypedDict",
            ),
            (pf.col("t"), r"Expression arguments passed to join_lateral require alias\."),
            (5, "table_function_call must be a DataFrame UDTF call or Expression, got int"),
            (parts(pf.col("t")).alias("i"), r"join_lateral output names conflict with input columns: \['i'\]"),
        ],
    )
    def test_wrong_calls(self, call: Any, message: str) -> None:
        with pytest.raises((TypeError, ValueError), match=message):
            texts().join_lateral(call)

    def test_aliases_fit(self) -> None:
        with pytest.raises(TypeError, match=r"UDTF output aliases must be strings\."):
            parts(pf.col("t")).alias(1)
        with pytest.raises(ValueError, match=r"UDTF output aliases must be non-empty, unique, and match"):
            parts(pf.col("t")).alias("a", "b")

    @pytest.mark.parametrize(
        ("func", "message"),
        [
            (Later().eval, r"DataFrame UDTFs must be synchronous; async functions are not supported\."),
            (lambda: 1, r"Cannot infer UDTF return type; specify return_dtype explicitly\."),
        ],
    )
    def test_wrong_declarations(self, func: Any, message: str) -> None:
        with pytest.raises(TypeError, match=message):
            pf.udtf(func)


class Total(AggregateFunction[int, list[int]]):
    def create_accumulator(self) -> list[int]:
        return [0]

    def accumulate(self, accumulator: list[int], *args: Any) -> None:
        accumulator[0] += args[0]

    def retract(self, accumulator: list[int], *args: Any) -> None:
        accumulator[0] -= args[0]

    def get_value(self, accumulator: list[int]) -> int:
        return accumulator[0]

    def get_accumulator_type(self) -> str:
        return "ARRAY<BIGINT>"


class TestAggregates:
    @pytest.mark.parametrize("func", [Total, Total()])
    def test_general(self, mode: str, func: Any) -> None:
        declared = pf.udaf(func)
        assert declared.return_dtype == Kinds.int64().not_null()
        assert rows(texts().agg(s=declared(pf.col("i")))) == [(3,)]
        assert rows(texts().group_by("t").agg(declared(pf.col("i")).alias("s"))) == [("a b", 1), ("c", 2)]

    def test_pandas(self, mode: str) -> None:
        @pf.udaf(func_type="pandas")  # type: ignore[untyped-decorator]
        def mean(column: pd.Series) -> float:
            return float(column.mean())

        class Greatest:
            def __call__(self, column: pd.Series) -> int:
                return int(column.max())

        df = texts().agg(a=mean(pf.col("i")), b=pf.udaf(Greatest, func_type="pandas")(pf.col("i")))
        assert rows(df) == [(1.5, 2)]

    @pytest.mark.parametrize(
        ("func", "options", "message"),
        [
            (Total, {"func_type": "x"}, r"func_type must be 'general' or 'pandas'\."),
            (len, {}, r"General UDAFs require an AggregateFunction instance or class\."),
            (
                len,
                {"func_type": "pandas", "return_dtype": "MAP<INT, INT>"},
                r"Pandas UDAFs do not support MAP",
            ),
            (Later().eval, {"func_type": "pandas"}, r"UDAFs must be synchronous"),
        ],
    )
    def test_wrong_declarations(self, func: Any, options: Any, message: str) -> None:
        with pytest.raises((TypeError, ValueError), match=message):
            pf.udaf(func, **options)

    def test_accumulators_have_a_type(self) -> None:
        class Untyped(Total):
            get_accumulator_type = AggregateFunction.get_accumulator_type  # type: ignore[assignment]

        with pytest.raises(TypeError, match=r"Specify accumulator_type or implement get_accumulator_type\(\)\."):
            pf.udaf(Untyped)
        assert pf.udaf(Untyped, accumulator_type=list[int]).accumulator_type is not None


class TestMap:
    def test_a_row_of_each_row(self, mode: str) -> None:
        def described(row: dict[str, Any]) -> Word:
            return {"word": row["t"], "size": row["i"] * 10}

        df = texts().map(described)
        assert df.columns == ["word", "size"]
        assert rows(df) == [("a b", 10), ("c", 20)]

    def test_a_single_column(self, mode: str) -> None:
        df = texts().map(lambda row: len(row["t"]), return_dtype=Kinds.int64())
        assert (df.columns, rows(df)) == (["f0"], [(1,), (3,)])

    @pytest.mark.parametrize("batch_size", [None, 1, 2, 100])
    def test_batches_of_pandas(self, mode: str, batch_size: int | None) -> None:
        def doubled(frame: Any) -> Any:
            assert isinstance(frame, pd.DataFrame) and len(frame) <= (batch_size or 100)
            return frame.assign(i=frame["i"] * 2, extra=0)

        kind = Kinds.struct({"t": Kinds.string(), "i": Kinds.int64()})
        df = texts().map_batches(doubled, return_dtype=kind, batch_size=batch_size)
        assert (df.columns, rows(df)) == (["t", "i"], [("a b", 2), ("c", 4)])

    @pytest.mark.parametrize("batch_size", [None, 1])
    def test_batches_of_arrow(self, mode: str, batch_size: int | None) -> None:
        def chosen(table: Any) -> Any:
            assert isinstance(table, pa.Table)
            return table.select(["i"])

        kind = Kinds.struct({"i": Kinds.int32()})
        options: dict[str, Any] = {"batch_format": "pyarrow", "batch_size": batch_size}
        assert rows(texts().map_batches(chosen, return_dtype=kind, **options)) == [(1,), (2,)]
        assert rows(texts().map_batches(chosen, return_dtype=Kinds.int64(), **options)) == [(1,), (2,)]

    def test_other_numbers_of_rows_are_refused(self, batch: None) -> None:
        kind = Kinds.struct({"i": Kinds.int64()})
        with pytest.raises(Exception, match="map_batches: the function got 2 rows and returned 1"):
            texts().map_batches(lambda frame: frame.head(1), return_dtype=kind).collect()
        with pytest.raises(Exception, match="map_batches: the function returned no column 'i'"):
            texts().map_batches(lambda frame: frame[["t"]], return_dtype=kind).collect()

    @pytest.mark.parametrize(
        ("call", "message"),
        [
            (lambda df: df.map(lambda: 1, return_dtype="INT"), r"map requires a function accepting one row argument\."),
            (lambda df: df.map(lambda row: 1), "Cannot infer return_dtype for '<lambda>'"),
            (lambda df: df.map(len, return_dtype="INT", concurrency=2), "concurrency: the operators of a job have one"),
            (lambda df: df.map_batches(len), "return_dtype is required"),
            (lambda df: df.map_batches(len, return_dtype="INT", batch_size=0), "batch_size must be at least 1, got 0"),
            (lambda df: df.map_batches(len, return_dtype="INT", batch_format="x"), "batch_format must be one of"),
        ],
    )
    def test_wrong_arguments(self, call: Any, message: str) -> None:
        with pytest.raises((TypeError, ValueError, NotImplementedError), match=message):
            call(texts())
