"""Columns, filters, orders and results of DataFrames: what Flink's test_dataframe.py checks, and in both modes."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import scurry.dataframe as pf
from scurry.table.expressions import col as table_col
from scurry.table.expressions import lit as table_lit

ROWS = [(1, "a", 10), (2, "b", 20), (3, "a", 30)]


def orders() -> pf.DataFrame:
    return pf.from_records(ROWS, ["id", "item", "amount"])


def rows(df: pf.DataFrame) -> list[tuple[Any, ...]]:
    """The rows that are left when all changes are applied, in the order of their values."""
    frame = df.to_arrow()
    return sorted(zip(*(column.to_pylist() for column in frame.columns), strict=True), key=repr)


class TestSelect:
    def test_takes_names_expressions_lists_and_projections(self, mode: str) -> None:
        df = orders().select("id", ["item", pf.col("amount")], double=pf.col("amount") * 2)
        assert df.columns == ["id", "item", "amount", "double"]
        assert rows(df)[0] == (1, "a", 10, 20)

    def test_is_lazy_and_leaves_its_input(self) -> None:
        df = orders()
        assert df.select("id") is not df
        assert df.columns == ["id", "item", "amount"]

    @pytest.mark.parametrize("wrong", [1, None, [1], [["id"]]])
    def test_refuses_what_is_no_column(self, wrong: Any) -> None:
        with pytest.raises(TypeError, match="columns must be strings, expressions, or lists or tuples of them"):
            orders().select(wrong)

    def test_refuses_projections_that_are_no_expressions(self) -> None:
        with pytest.raises(TypeError, match="projections must be expressions"):
            orders().select(x="id")  # type: ignore[arg-type]

    def test_has_the_plan_of_the_table(self, mode: str) -> None:
        df = orders()
        made = df.filter(pf.col("amount") > 10).select("id", pf.col("amount") + 1)
        table = df.to_table().filter(table_col("amount") > 10).select(table_col("id"), table_col("amount") + 1)
        assert made.explain() == table.explain()


class TestColumns:
    def test_a_new_column_is_last_and_an_existing_one_stays_in_place(self, mode: str) -> None:
        df = orders().with_column("item", pf.lit("x")).with_column("more", lambda df: df.amount + 1)
        assert df.columns == ["id", "item", "amount", "more"]
        assert rows(df)[0] == (1, "x", 10, 11)

    def test_new_columns_see_the_old_ones(self, mode: str) -> None:
        df = orders().with_columns((pf.col("id") + 1).alias("id"), amount=pf.col("id") * 100)
        assert rows(df) == [(2, "a", 100), (3, "b", 200), (4, "a", 300)]

    @pytest.mark.parametrize("wrong", [1, "id", lambda df: 1, pf.DataFrame])
    def test_a_new_column_is_an_expression(self, wrong: Any) -> None:
        with pytest.raises(TypeError, match="expr must be an Expression"):
            orders().with_column("x", wrong)

    def test_a_new_column_has_a_name(self) -> None:
        with pytest.raises(TypeError, match="name must be a string"):
            orders().with_column(1, pf.lit(1))  # type: ignore[arg-type]

    def test_new_columns_are_expressions(self) -> None:
        with pytest.raises(TypeError, match="^exprs must be expressions"):
            orders().with_columns("id")  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="named_exprs must be expressions"):
            orders().with_columns(x=1)  # type: ignore[arg-type]

    def test_columns_are_dropped(self) -> None:
        assert orders().drop_columns("id", pf.col("amount")).columns == ["item"]

    def test_a_column_that_is_dropped_exists_unless_asked(self) -> None:
        df = orders()
        with pytest.raises(ValueError, match="Column 'x' not found in schema"):
            df.drop_columns("x")
        assert df.drop_columns("x", strict=False) is df
        assert df.drop_columns() is df
        with pytest.raises(TypeError, match="strict must be a boolean"):
            df.drop_columns("id", strict=1)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="columns must be strings or expressions"):
            df.drop_columns(1)  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        ("args", "mapping"),
        [(({"id": "key", "none": "x"},), None), (("id", "key"), None), ((), {"id": "key"}),
         ((lambda name: "key" if name == "id" else name,), None)],
    )  # fmt: skip
    def test_columns_are_renamed(self, args: tuple[Any, ...], mapping: Any) -> None:
        assert orders().rename_columns(*args, mapping=mapping).columns == ["key", "item", "amount"]

    @pytest.mark.parametrize(
        ("args", "mapping", "message"),
        [
            (("id",), {"id": "x"}, "accepts either positional arguments or mapping, not both"),
            (("id",), None, "positional arguments must be old/new name pairs"),
            (("id", 1), None, "column names must be strings"),
            (({"id": 1},), None, "mapping keys and values must be strings"),
            ((lambda name: 1,), None, "callable must return a string"),
            ((), 1, "mapping must be a dictionary or callable"),
        ],
    )
    def test_wrong_renamings_are_refused(self, args: tuple[Any, ...], mapping: Any, message: str) -> None:
        with pytest.raises((TypeError, ValueError), match=message):
            orders().rename_columns(*args, mapping=mapping)

    def test_nothing_to_rename_is_the_same_dataframe(self) -> None:
        df = orders()
        assert df.rename_columns({"id": "id"}) is df


class TestFilter:
    @pytest.mark.parametrize(
        ("predicates", "constraints", "expected"),
        [
            ((pf.col("amount") > 10,), {}, [2, 3]),
            (("amount > 10 AND item = 'a'",), {}, [3]),
            ((lambda df: df["amount"] == 20,), {}, [2]),
            ((), {"item": "a", "amount": 10}, [1]),
            ((pf.col("amount") > 10,), {"item": "a"}, [3]),
            ((), {"item": None}, []),
        ],
    )
    def test_keeps_rows(self, mode: str, predicates: Any, constraints: Any, expected: list[int]) -> None:
        assert [row[0] for row in rows(orders().filter(*predicates, **constraints))] == expected

    def test_needs_a_condition(self) -> None:
        with pytest.raises(ValueError, match=r"filter\(\) requires at least one predicate or equality constraint"):
            orders().filter()

    @pytest.mark.parametrize("wrong", [True, 1, None, type(pf.col("a"))])
    def test_refuses_what_is_no_condition(self, wrong: Any) -> None:
        with pytest.raises(TypeError, match="predicate must be an Expression, SQL string, or callable"):
            orders().filter(wrong)

    def test_functions_return_expressions(self) -> None:
        with pytest.raises(TypeError, match=r"filter\(\) callable predicates must return an Expression"):
            orders().filter(lambda df: True)  # type: ignore[arg-type,return-value]

    def test_an_error_shows_the_line_of_the_program(self) -> None:
        with pytest.raises(ValueError, match="amnt") as caught:
            orders().filter(pf.col("amnt") > 1)
        assert "test_dataframe_basics.py" in str(caught.value)

    def test_other_names_are_the_same_functions(self) -> None:
        frame: Any = pf.DataFrame
        assert frame.where is frame.filter and frame.drop is frame.drop_columns
        assert frame.rename is frame.rename_columns
        assert frame.distinct is frame.unique is frame.drop_duplicates


class TestItemsAndAttributes:
    def test_items(self) -> None:
        df = orders()
        assert str(df["none"]) == "none"  # not looked up
        assert df[["id", "item"]].columns == df[("id", "item")].columns == ["id", "item"]
        assert rows(df[pf.col("id") == 2]) == [(2, "b", 20)]
        with pytest.raises(TypeError, match="key must be a string, list, tuple, or Expression"):
            df[1]

    def test_attributes_are_columns_but_for_methods(self) -> None:
        df = pf.from_dict({"id": [1], "filter": [2], "match": [3], "größe": [4], "class": [5], "_x": [6], "a b": [7]})
        assert [str(each) for each in (df.id, df.match, df.größe)] == ["id", "match", "größe"]
        assert callable(df.filter)
        for name in ("class", "_x", "a b", "none"):
            with pytest.raises(AttributeError, match=f"'DataFrame' object has no attribute '{name}'"):
                getattr(df, name)

    def test_an_attribute_that_is_set_wins(self) -> None:
        df: Any = orders()
        df.id = 5
        assert df.id == 5

    def test_objects_without_a_table_and_failing_schemas(self) -> None:
        empty = object.__new__(pf.DataFrame)
        with pytest.raises(AttributeError):
            empty.id  # noqa: B018 - raises, and does not recurse

        class Failing:
            def get_schema(self) -> None:
                raise RuntimeError("no schema")

        with pytest.raises(RuntimeError, match="no schema"):
            pf.DataFrame(Failing()).id  # noqa: B018
        assert not hasattr(pf.DataFrame(Failing()), "_anything")
        assert copy.copy(orders()).columns == ["id", "item", "amount"]

    def test_pipe_returns_what_the_function_returns(self) -> None:
        df = orders()
        assert df.pipe(lambda frame, n, last: (frame is df, n, last), 1, last=2) == (True, 1, 2)


class TestRows:
    def test_limit_and_offset_of_a_sorted_dataframe(self, batch: None) -> None:
        df = orders().sort("amount", descending=True)
        assert [row[0] for row in df.offset(1).limit(1).collect()] == [2]
        assert [row[0] for row in df.head(2).collect()] == [3, 2]
        assert df.limit(0).collect() == []

    @pytest.mark.parametrize("method", ["limit", "offset", "head"])
    def test_numbers_of_rows_are_checked(self, method: str) -> None:
        call = getattr(orders(), method)
        for wrong in (True, 1.0, "1", None):
            with pytest.raises(TypeError, match="n must be an integer"):
                call(wrong)
        with pytest.raises(ValueError, match="n must be at least 0, got -1"):
            call(-1)
        with pytest.raises(ValueError, match="n must be less than or equal to 2147483647"):
            call(2**31)

    @pytest.mark.parametrize(
        ("descending", "nulls_first", "expected"),
        [(False, None, [1, 2, None]), (True, None, [None, 2, 1]), (False, True, [None, 1, 2]),
         (True, False, [2, 1, None]), ([True], [True], [None, 2, 1])],
    )  # fmt: skip
    def test_orders_of_null(self, batch: None, descending: Any, nulls_first: Any, expected: list[Any]) -> None:
        df = pf.from_dict({"x": [2, None, 1]})
        assert [row[0] for row in df.sort("x", descending=descending, nulls_first=nulls_first).collect()] == expected
        computed = df.sort(pf.col("x") + 0, descending=descending, nulls_first=nulls_first)
        assert computed.columns == ["x"]
        assert [row[0] for row in computed.collect()] == expected

    def test_an_order_has_the_plan_of_the_table(self, batch: None) -> None:
        df = orders()
        table = df.to_table().order_by(table_col("item").asc, table_col("id").desc)
        assert df.sort(["item", "id"], descending=[False, True]).explain() == table.explain()

    @pytest.mark.parametrize(
        ("by", "options", "message"),
        [
            (None, {}, "by must be a string, an expression, or a list or tuple of them"),
            ([], {}, "by must not be empty"),
            ("x", {}, r"by column 'x' does not exist, available columns: \['id', 'item', 'amount'\]"),
            (pf.col("id").desc, {}, r"sort\(\) expressions must not specify asc or desc; use descending instead"),
            ("id", {"descending": 1}, "descending must be a boolean or a list of booleans"),
            ("id", {"descending": [True, True]}, "descending must have the same length as the sort keys"),
            ("id", {"nulls_first": []}, "nulls_first must have the same length as the sort keys"),
        ],
    )
    def test_wrong_orders_are_refused(self, by: Any, options: Any, message: str) -> None:
        with pytest.raises((TypeError, ValueError), match=message):
            orders().sort(by, **options)


class TestAggregates:
    def test_groups(self, mode: str) -> None:
        df = orders().group_by("item").agg(pf.col("id").count.alias("n"), total=pf.col("amount").sum)
        assert df.columns == ["item", "n", "total"]
        assert rows(df) == [("a", 2, 40), ("b", 1, 20)]

    def test_all_rows(self, mode: str) -> None:
        assert rows(orders().agg(total=pf.col("amount").sum)) == [(60,)]

    def test_groups_have_the_plan_of_the_table(self, mode: str) -> None:
        df = orders()
        table = df.to_table().group_by(table_col("item")).select(table_col("item"), table_col("amount").sum.alias("s"))
        assert df.group_by("item").agg(s=pf.col("amount").sum).explain() == table.explain()
        whole = df.to_table().group_by().select(table_col("amount").max.alias("m"))
        assert df.agg(m=pf.col("amount").max).explain() == whole.explain()

    def test_computed_keys_are_columns(self, mode: str) -> None:
        df = orders().group_by((pf.col("id") % 2).alias("odd")).agg(n=pf.col("id").count)
        assert df.columns == ["odd", "n"]
        assert rows(df) == [(0, 1), (1, 2)]

    def test_types_of_aggregates(self) -> None:
        kinds = orders().group_by("item").agg(n=pf.col("id").count, s=pf.col("id").sum).schema.get_field_data_types()
        assert [kind.as_summary_string() for kind in kinds] == ["STRING", "BIGINT NOT NULL", "BIGINT"]

    def test_wrong_groups_are_refused(self) -> None:
        df = orders()
        with pytest.raises(ValueError, match=r"group_by\(\) requires at least one grouping key"):
            df.group_by()
        with pytest.raises(TypeError, match=r"group_by\(\) grouping keys must be strings or expressions"):
            df.group_by(1)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match=r"agg\(\) requires at least one aggregation"):
            df.agg()
        with pytest.raises(TypeError, match=r"agg\(\) aggregations must be expressions"):
            df.group_by("item").agg("sum")  # type: ignore[arg-type]


class TestSetOperations:
    def test_in_batch(self, batch: None) -> None:
        left, right = pf.from_dict({"a": [1, 1, 2, None]}), pf.from_dict({"b": [1, 3, None]})
        found = {
            name: [row[0] for row in rows(getattr(left, name)(right))]
            for name in ("union", "union_all", "intersect", "intersect_all", "minus", "minus_all")
        }
        assert found == {
            "union": [1, 2, 3, None],
            "union_all": [1, 1, 1, 2, 3, None, None],
            "intersect": [1, None],
            "intersect_all": [1, None],
            "minus": [2],
            "minus_all": [1, 2],
        }
        assert left.union(right).columns == ["a"]

    def test_in_streaming_only_union_all(self) -> None:
        df = orders()
        assert len(rows(df.union_all(df))) == 6
        for name in ("union", "intersect", "intersect_all", "minus", "minus_all"):
            with pytest.raises(ValueError, match="currently not supported"):
                getattr(df, name)(df)

    def test_wrong_partners_are_refused(self) -> None:
        df = orders()
        with pytest.raises(TypeError, match="other must be a DataFrame"):
            df.union_all(df.to_table())  # type: ignore[arg-type]
        pf.set_table_environment(None)
        with pytest.raises(ValueError, match="same TableEnvironment"):
            df.union_all(orders())


class TestMissingValues:
    def test_null(self, mode: str) -> None:
        df = pf.from_dict({"a": [1, None, 3], "b": ["x", "y", None]})
        assert rows(df.drop_null()) == [(1, "x")]
        assert rows(df.drop_null(["a"])) == [(1, "x"), (3, None)]
        assert rows(df.fill_null(0, ["a"])) == [(0, "y"), (1, "x"), (3, None)]
        assert rows(df.fill_null(0)) == [(0, "y"), (1, "x"), (3, "0")]

    def test_nan(self, mode: str) -> None:
        df = pf.from_dict({"a": [1.0, float("nan"), None]})
        assert rows(df.drop_nan()) == [(1.0,), (None,)]
        assert rows(df.fill_nan(0.5)) == [(0.5,), (1.0,), (None,)]

    @pytest.mark.parametrize(
        ("subset", "message"),
        [("a", "subset must be a list of strings"), ([], "subset cannot be empty"),
         (["y", "x"], r"Columns not found in DataFrame: \['x', 'y'\]")],
    )  # fmt: skip
    def test_wrong_columns_are_refused(self, subset: Any, message: str) -> None:
        df = pf.from_dict({"a": [1]})
        for call in (df.drop_null, df.drop_nan, lambda each: df.fill_null(0, each), lambda each: df.fill_nan(0, each)):
            with pytest.raises((TypeError, ValueError), match=message):
                call(subset)


class TestLiterals:
    def test_with_a_type(self, mode: str) -> None:
        kinds = pf.DataType
        df = pf.range(1).select(
            a=pf.lit(5, kinds.int8()),
            b=pf.lit([1, 2], kinds.list(kinds.int16())),
            c=pf.lit({1: 1.25}, kinds.map(kinds.int32(), kinds.float64())),
            d=pf.lit((1, "x"), kinds.struct({"p": kinds.int32(), "q": kinds.string()})),
            e=pf.lit(None, kinds.string()),
            f=pf.lit([1, 2]),
        )
        ((a, b, c, d, e, f),) = df.collect()
        assert (a, b, c, tuple(d), e, f) == (5, [1, 2], {1: 1.25}, (1, "x"), None, [1, 2])

    @pytest.mark.parametrize(
        ("value", "kind"),
        [(3.14, pf.DataType.int64()), (42, pf.DataType.string()), ([1.25], pf.DataType.list(pf.DataType.int16()))],
    )
    def test_of_another_type_are_refused(self, value: Any, kind: pf.DataType) -> None:
        with pytest.raises(ValueError):
            pf.lit(value, kind)

    def test_with_no_type_of_dataframes(self) -> None:
        with pytest.raises(TypeError, match="data_type must be a pyflink.dataframe.DataType"):
            pf.lit(1, table_lit(1))  # type: ignore[arg-type]

    def test_casts_take_types_of_dataframes(self, mode: str) -> None:
        df = pf.range(1).select(a=pf.col("id").cast(pf.DataType.string()), b=pf.lit("x").try_cast(pf.DataType.int32()))
        assert rows(df) == [("0", None)]


class TestDisplay:
    def test_text(self) -> None:
        assert repr(orders()) == "DataFrame[id: BIGINT, item: STRING, amount: BIGINT]"

    def test_notebooks_show_the_first_rows(self) -> None:
        html = orders()._repr_html_()
        assert "<th>item<br><small>STRING</small></th>" in html and "<td>30</td>" in html

    def test_completion_knows_the_columns(self) -> None:
        df = orders()
        assert df._ipython_key_completions_() == ["id", "item", "amount"]
        assert {"item", "filter"} <= set(dir(df))
