"""Joins, windows of time and collections as rows: the answers, in both modes, and what is refused."""

from __future__ import annotations

import datetime
from collections import namedtuple
from typing import Any

import pyarrow as pa
import pytest

import scurry.dataframe as pf

START = datetime.datetime(2026, 1, 1)
SECOND = datetime.timedelta(seconds=1)
Point = namedtuple("Point", ["p", "q"])


def rows(df: pf.DataFrame) -> list[tuple[Any, ...]]:
    frame = df.to_arrow()
    return sorted(zip(*(column.to_pylist() for column in frame.columns), strict=True), key=repr)


def left() -> pf.DataFrame:
    return pf.from_dict({"k": [1, 2, None], "a": ["x", "y", "z"]})


def right() -> pf.DataFrame:
    return pf.from_dict({"k": [1, 1, 3, None], "b": [10, 11, 12, 13]})


class TestJoin:
    @pytest.mark.parametrize(
        ("how", "expected"),
        [
            ("inner", [(1, "x", 10), (1, "x", 11)]),
            ("left", [(1, "x", 10), (1, "x", 11), (2, "y", None), (None, "z", None)]),
            ("right", [(1, "x", 10), (1, "x", 11), (3, None, 12), (None, None, 13)]),
            ("full", [(1, "x", 10), (1, "x", 11), (2, "y", None), (3, None, 12), (None, "z", None), (None, None, 13)]),
            ("semi", [(1, "x")]),
            ("anti", [(2, "y"), (None, "z")]),
        ],
    )
    def test_by_a_key_of_both(self, mode: str, how: str, expected: list[Any]) -> None:
        df = left().join(right(), on="k", how=how)
        assert rows(df) == sorted(expected, key=repr)
        assert df.columns == (["k", "a"] if how in ("semi", "anti") else ["k", "a", "b"])

    def test_outer_is_full(self, mode: str) -> None:
        one, other = left(), right()
        assert rows(one.join(other, on=["k"], how="outer")) == rows(one.join(other, on=["k"], how="full"))

    def test_by_keys_of_other_names_keeps_both(self, mode: str) -> None:
        other = right().rename_columns("k", "kk")
        expected = [(1, "x", 1, 10), (1, "x", 1, 11)]
        assert rows(left().join(other, left_on="k", right_on="kk")) == expected
        assert rows(left().join(other, left_on=["k"], right_on=["kk"])) == expected
        assert rows(left().join(other, left_on=pf.col("k") + 1, right_on="kk")) == [(2, "y", 3, 12)]

    def test_a_key_of_one_name_on_both_sides_is_shared(self, mode: str) -> None:
        assert left().join(right(), left_on="k", right_on="k").columns == ["k", "a", "b"]

    @pytest.mark.parametrize(("how", "expected"), [("inner", [(2, "y", 1, 10)]), ("semi", [(2, "y")])])
    def test_by_a_condition_also_without_equality(self, mode: str, how: str, expected: list[Any]) -> None:
        other = right().rename_columns("k", "kk")
        condition = (pf.col("k") > pf.col("kk")) & (pf.col("b") < 11)
        assert rows(left().join(other, on=condition, how=how)) == expected

    def test_all_pairs(self, mode: str) -> None:
        assert len(rows(left().join(right().select("b"), how="cross"))) == 12

    def test_has_the_plan_of_sql(self, mode: str) -> None:
        one, other = left(), right().rename_columns("k", "kk")
        made = one.join(other, left_on="k", right_on="kk")
        environment = pf.get_or_create_table_environment()
        environment.create_temporary_view("lefts", one.to_table())
        environment.create_temporary_view("rights", other.to_table())
        query = environment.sql_query("SELECT k, a, kk, b FROM lefts JOIN rights ON k = kk")
        assert made.explain().partition("== Optimized")[2] == query.explain().partition("== Optimized")[2]

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"how": 1, "on": "k"}, "how must be a string"),
            (
                {"how": "x", "on": "k"},
                'how must be one of "inner", "left", "right", "full", "outer", "semi", "anti", or',
            ),
            ({"how": "cross", "on": "k"}, "cross join does not accept on, left_on, or right_on"),
            ({}, r"join\(\) requires on or both left_on and right_on"),
            ({"on": "k", "left_on": "k"}, "on cannot be combined with left_on or right_on"),
            ({"left_on": "k"}, "left_on and right_on must be provided together"),
            ({"left_on": ["k", "a"], "right_on": "k"}, "left_on and right_on must have the same number of keys"),
            ({"on": []}, "on must not be empty"),
            ({"on": ("k",)}, "on must be a string, an expression, or a list of strings"),
            ({"on": ["k", "k"]}, "on must not contain duplicate column names"),
            ({"on": "x"}, r"on column 'x' does not exist, available columns: \['k', 'a'\]"),
            ({"on": "a"}, r"on column 'a' does not exist, available columns: \['k', 'b'\]"),
            ({"left_on": "a", "right_on": "b"}, r"join\(\) found duplicate non-key columns \['k'\]; rename them with"),
            (
                {"on": pf.col("k") > 1, "how": "semi"},
                r"join\(\) found columns of both DataFrames in its condition: \['k'\]",
            ),
        ],
    )
    def test_wrong_arguments_are_refused(self, options: Any, message: str) -> None:
        with pytest.raises((TypeError, ValueError), match=message):
            left().join(right(), **options)

    def test_wrong_partners_are_refused(self) -> None:
        one = left()
        with pytest.raises(TypeError, match="other must be a pyflink.dataframe.DataFrame"):
            one.join(one.to_table(), on="k")  # type: ignore[arg-type]
        pf.set_table_environment(None)
        with pytest.raises(ValueError, match="DataFrames must belong to the same TableEnvironment"):
            one.join(right(), on="k")


def events() -> pf.DataFrame:
    data = pa.table({"ts": [START + SECOND * each for each in (1, 5, 12, 31)], "k": [1, 1, 2, 1], "v": [1, 2, 3, 4]})
    return pf.from_arrow(data, watermark=("ts", "ts - INTERVAL '1' SECOND"))


class TestAsOf:
    RATES = ("rt", "rt")

    def rates(self) -> pf.DataFrame:
        data = pa.table({"rt": [START, START + SECOND * 4], "k": [1, 1], "rate": [100, 200]})
        return pf.from_arrow(data, watermark=self.RATES).drop_duplicates("k", keep="last", order_by="rt")

    def test_event_time(self) -> None:
        df = events().join_asof(self.rates(), on="ts", by="k", how="left").select("v", "rate")
        assert rows(df) == [(1, 100), (2, 200), (3, None), (4, 200)]
        assert [row[0] for row in rows(events().join_asof(self.rates(), on="ts", by="k").select("v"))] == [1, 2, 4]

    def test_processing_time_looks_up(self) -> None:
        pf.set_table_environment(None)
        environment = pf.get_or_create_table_environment()
        environment.execute_sql(
            "CREATE TABLE looked (k BIGINT, name STRING) WITH ('connector' = 'jdbc', 'url' = 'jdbc:sqlite:/tmp/x.db', "
            "'table-name' = 't')"
        )
        other = pf.from_table(environment.from_path("looked"))
        df = left().join_asof(other, on=pf.proctime(), by="k", how="left")
        assert df.columns == ["k", "a", "name"]
        assert "LookupJoin" in df.explain()

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"how": "right", "on": "ts", "by": "k"}, 'how must be one of "inner" or "left"'),
            ({"on": "ts"}, r"join_asof\(\) requires by or both left_by and right_by"),
            ({"by": "k"}, r"on is required: pf.proctime\(\), or a time column of the left DataFrame"),
            ({"on": "x", "by": "k"}, "on column 'x' does not exist"),
            ({"on": "ts", "left_by": "ts", "right_by": "rt"}, "found duplicate non-key columns"),
        ],
    )
    def test_wrong_arguments_are_refused(self, options: Any, message: str) -> None:
        with pytest.raises((TypeError, ValueError), match=message):
            events().join_asof(self.rates(), **options)

    def test_the_time_is_no_key(self) -> None:
        with pytest.raises(ValueError, match="the time column 'ts' must not be a key"):
            events().join_asof(self.rates().rename_columns("k", "kk"), on="ts", left_by="ts", right_by="rt")


class TestWindows:
    def sums(self, df: pf.DataFrame, *keys: str) -> list[tuple[Any, ...]]:
        grouped = df.group_by("window_start", "window_end", *keys).agg(n=pf.col("v").sum)
        return [
            ((row[0] - START) // SECOND, (row[1] - START) // SECOND, *row[2:])
            for row in sorted(rows(grouped), key=lambda row: row[:2])
        ]

    def test_tumble(self, mode: str) -> None:
        df = events().tumble(on="ts", size=10 * SECOND)
        assert df.columns == ["ts", "k", "v", "window_start", "window_end", "window_time"]
        assert self.sums(df) == [(0, 10, 3), (10, 20, 3), (30, 40, 4)]
        assert self.sums(events().tumble(on=pf.col("ts"), size=pf.lit(10).seconds)) == self.sums(df)

    def test_hop_and_cumulate(self, mode: str) -> None:
        hopped = self.sums(events().hop(on="ts", slide=20 * SECOND, size=40 * SECOND))
        assert hopped == [(-20, 20, 6), (0, 40, 10), (20, 60, 4)]
        grown = self.sums(events().cumulate(on="ts", step=10 * SECOND, size=20 * SECOND))
        assert grown == [(0, 10, 3), (0, 20, 6), (20, 40, 4)]

    def test_session_of_all_rows_and_of_keys(self) -> None:
        assert self.sums(events().session(on="ts", gap=10 * SECOND)) == [(1, 22, 6), (31, 41, 4)]
        expected = [(1, 15, 1, 3), (12, 22, 2, 3), (31, 41, 1, 4)]
        assert self.sums(events().session(on="ts", gap=10 * SECOND, partition_by="k"), "k") == expected
        computed = events().session(on="ts", gap=10 * SECOND, partition_by=[pf.col("k") + 1])
        assert computed.columns[-3:] == ["window_start", "window_end", "window_time"]
        assert [row[-1] for row in self.sums(computed)] == [3, 3, 4]

    def test_have_the_plan_of_sql(self, mode: str) -> None:
        df = events()
        environment = pf.get_or_create_table_environment()
        environment.create_temporary_view("events", df.to_table())
        query = "SELECT * FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
        assert df.tumble(on="ts", size=10 * SECOND).explain() == environment.sql_query(query).explain()

    def test_wrong_arguments_are_refused(self) -> None:
        df = events()
        with pytest.raises(TypeError, match="on must be a column name or expression"):
            df.tumble(on=1, size=SECOND)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="interval must be a datetime.timedelta or Expression"):
            df.hop(on="ts", slide=5, size=SECOND)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="partition_by must be a column name, expression, or a list of them"):
            df.session(on="ts", gap=SECOND, partition_by=1)
        with pytest.raises(ValueError, match="on must be a time column"):
            df.tumble(on=pf.col("v") + 1, size=SECOND)


class TestExplode:
    def lists(self) -> pf.DataFrame:
        return pf.from_dict({"i": [1, 2, 3, 4], "a": [[1, 2], [], None, [None]], "z": [0, 0, 0, 0]})

    def test_a_column_is_replaced_in_place(self, mode: str) -> None:
        df = self.lists().explode("a")
        assert df.columns == ["i", "a", "z"]
        assert rows(df) == [(1, 1, 0), (1, 2, 0), (2, None, 0), (3, None, 0), (4, None, 0)]
        assert rows(self.lists().explode("a", ignore_empty_and_null=True)) == [(1, 1, 0), (1, 2, 0), (4, None, 0)]
        assert self.lists().explode(pf.col("a").alias("e")).columns == ["i", "e", "z"]

    def test_of_an_expression_is_last(self, mode: str) -> None:
        df = pf.from_dict({"m": [{"u": 1}]}).explode(pf.col("m").map_keys, output_column="key")
        assert df.columns == ["m", "key"]
        assert [row[1] for row in rows(df)] == ["u"]

    def test_rows_stay_rows(self, mode: str) -> None:
        df = pf.from_dict({"i": [1, 2], "a": [[Point(1, "x"), Point(2, None)], None]}).explode("a")
        assert rows(df) == [(1, {"p": 1, "q": "x"}), (1, {"p": 2, "q": None}), (2, None)]

    def test_maps_and_multisets(self, mode: str) -> None:
        df = pf.from_dict({"m": [{"u": 1, "v": 2}]}).explode("m", output_column=["key", "value"])
        assert rows(df) == [("u", 1), ("v", 2)]
        bag = pf.from_dict({"i": [1, 1, 2]}).agg(m=pf.col("i").collect)
        assert rows(bag.explode("m")) == [(1,), (1,), (2,)]

    @pytest.mark.parametrize(
        ("column", "options", "message"),
        [
            (1, {}, "column must be a column name or expression"),
            ("i", {}, "column must have an ARRAY, MAP, or MULTISET type"),
            (pf.col("i").array_agg, {}, "column must be a row-wise expression, not an aggregation"),
            (pf.col("*"), {}, "column must select a single column"),
            ("a", {"ignore_empty_and_null": 1}, "ignore_empty_and_null must be a boolean"),
            ("a", {"output_column": 1}, "output_column must be a string or list of strings"),
            ("a", {"output_column": [1]}, "output_column must contain only strings"),
            ("a", {"output_column": ["x", "y"]}, r"output_column must contain 1 name\(s\)"),
            ("a", {"output_column": ""}, "output_column names must be non-empty and unique"),
            ("a", {"output_column": "i"}, "output_column names conflict with retained input columns"),
        ],
    )
    def test_wrong_arguments_are_refused(self, column: Any, options: Any, message: str) -> None:
        with pytest.raises((TypeError, ValueError), match=message):
            self.lists().explode(column, **options)

    def test_maps_need_two_names(self) -> None:
        with pytest.raises(ValueError, match="output_column is required for multiple output fields"):
            pf.from_dict({"m": [{"u": 1}]}).explode("m")


class TestFirstRows:
    """The exact queries of Flink: its planner makes a deduplication or a Top-N of them."""

    def text(self, monkeypatch: pytest.MonkeyPatch, call: Any) -> str:
        df = pf.from_dict({"id": [1, 1, 2], "name": ["a", None, "b"]})
        environment = df.to_table()._environment
        seen: list[str] = []
        original = environment.sql_query

        def query(text: str) -> Any:
            seen.append(text)
            return original(text)

        monkeypatch.setattr(environment, "sql_query", query)
        found = call(df)
        assert found.columns == ["id", "name"]
        return str(seen[0]).replace(str(df.to_table()), "SRC") if seen else ""

    def test_by_the_order_in_which_rows_come(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert self.text(monkeypatch, lambda df: df.drop_duplicates("id")) == (
            "SELECT `id`, `name` FROM (\n"
            "  SELECT *, ROW_NUMBER() OVER (PARTITION BY `id` ORDER BY PROCTIME() ASC) AS `__pf_row_number`\n"
            "  FROM `SRC`\n"
            ") WHERE `__pf_row_number` = 1"
        )

    @pytest.mark.parametrize(
        ("call", "window", "condition"),
        [
            (lambda df: df.drop_duplicates("id", keep="last"), "PARTITION BY `id` ORDER BY PROCTIME() DESC", "= 1"),
            (lambda df: df.drop_duplicates(["id", "name"], order_by="name", nulls_first=True),
             "PARTITION BY `id`, `name` ORDER BY `name` ASC NULLS FIRST", "= 1"),
            (lambda df: df.drop_duplicates("id", keep="last", order_by=["name", "id"], nulls_first=[True, False]),
             "PARTITION BY `id` ORDER BY `name` DESC NULLS FIRST, `id` DESC NULLS LAST", "= 1"),
            (lambda df: df.top_n(2, order_by="id"), "ORDER BY `id` ASC", "<= 2"),
            (lambda df: df.top_n(1, partition_by="id", order_by="name", descending=True),
             "PARTITION BY `id` ORDER BY `name` DESC", "= 1"),
        ],
    )  # fmt: skip
    def test_queries(self, monkeypatch: pytest.MonkeyPatch, call: Any, window: str, condition: str) -> None:
        text = self.text(monkeypatch, call)
        assert f"ROW_NUMBER() OVER ({window}) AS" in text
        assert text.endswith(f"WHERE `__pf_row_number` {condition}")

    def test_whole_rows_need_no_query(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert self.text(monkeypatch, lambda df: df.drop_duplicates()) == ""

    def test_the_column_of_the_rank_has_a_name_of_its_own(self, mode: str) -> None:
        df = pf.from_dict({"__pf_row_number": [2, 1], "__pf_order_0": [0, 0]})
        found = df.top_n(1, order_by=pf.col("__pf_row_number") * -1)
        assert rows(found) == [(2, 0)]

    def test_answers(self, mode: str) -> None:
        df = pf.from_dict({"id": [1, 1, 2, 2], "v": [3, 1, 5, 7]})
        assert rows(df.drop_duplicates("id", order_by="v")) == [(1, 1), (2, 5)]
        assert rows(df.drop_duplicates("id", keep="last", order_by="v")) == [(1, 3), (2, 7)]
        assert rows(df.top_n(1, partition_by="id", order_by=pf.col("v") % 5)) == [(1, 1), (2, 5)]
        assert rows(df.top_n(3, order_by="v", descending=True)) == [(1, 3), (2, 5), (2, 7)]

    @pytest.mark.parametrize(
        ("call", "message"),
        [
            (lambda df: df.drop_duplicates("id", keep="x"), 'keep must be "first" or "last"'),
            (lambda df: df.drop_duplicates(order_by="id"), "order_by requires subset; whole-row duplicates cannot be"),
            (lambda df: df.drop_duplicates("id", nulls_first=True), "nulls_first requires order_by"),
            (lambda df: df.drop_duplicates([]), "subset must not be empty"),
            (lambda df: df.drop_duplicates(1), "subset must be a string or a list of strings"),
            (lambda df: df.drop_duplicates("x"), "subset column 'x' does not exist, available columns: "),
            (lambda df: df.top_n(0, order_by="id"), "n must be an integer >= 1"),
            (lambda df: df.top_n(True, order_by="id"), "n must be an integer >= 1"),
            (lambda df: df.top_n(1), "top_n requires a non-empty order_by"),
            (lambda df: df.top_n(1, order_by="x"), "order_by column 'x' does not exist"),
        ],
    )
    def test_wrong_arguments_are_refused(self, call: Any, message: str) -> None:
        with pytest.raises((TypeError, ValueError), match=message):
            call(pf.from_dict({"id": [1]}))
