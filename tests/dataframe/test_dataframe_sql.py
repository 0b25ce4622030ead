"""`sql()`: queries over the DataFrames and functions of a program."""

from __future__ import annotations

from typing import Any

import pytest

import scurry.dataframe as pf


def rows(df: pf.DataFrame) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in df.collect())


@pf.udf
def twice(value: int) -> int:
    return value * 2


def left_behind() -> list[str]:
    environment = pf.get_or_create_table_environment()
    views = [name for name in environment.list_temporary_views() if not name.startswith("Unnamed")]
    return [*views, *environment.list_user_defined_functions()]


class TestQueries:
    def test_find_variables(self, mode: str) -> None:
        numbers = pf.range(3)  # noqa: F841 - the query names it
        df = pf.sql("SELECT id, twice(id) AS t FROM numbers WHERE id > 0")
        assert left_behind() == []
        assert rows(df) == [(1, 2), (2, 4)]
        assert df.columns == ["id", "t"]

    def test_use_bindings(self, mode: str) -> None:
        assert rows(pf.sql("SELECT f(id) FROM given", auto_bind=False, given=pf.range(2), f=twice)) == [(0,), (2,)]
        assert left_behind() == []

    def test_bindings_win(self, mode: str) -> None:
        numbers = pf.range(3)  # noqa: F841
        assert rows(pf.sql("SELECT * FROM numbers", numbers=pf.range(1))) == [(0,)]

    def test_need_no_table(self, mode: str) -> None:
        assert rows(pf.sql("VALUES (1), (2)")) == [(1,), (2,)]

    def test_names_that_are_keywords_are_quoted(self, mode: str) -> None:
        order = pf.range(1)  # noqa: F841
        assert rows(pf.sql("SELECT * FROM `order`")) == [(0,)]

    def test_fail_without_a_trace(self) -> None:
        numbers = pf.range(3)  # noqa: F841
        with pytest.raises(ValueError, match="nothing"):
            pf.sql("SELECT nothing FROM numbers")
        assert left_behind() == []
        with pytest.raises(ValueError, match="SQL parse failed"):
            pf.sql("SELEC 1")

    def test_are_of_the_environment_of_the_dataframes(self) -> None:
        given = pf.range(1)
        first = given.to_table()._environment
        pf.set_table_environment(None)
        assert pf.sql("SELECT * FROM given").to_table()._environment is first
        assert pf.get_table_environment() is None
        other = pf.range(1)
        with pytest.raises(ValueError, match=r"sql\(\) explicit bindings belong to different TableEnvironments"):
            pf.sql("SELECT 1", a=given, b=other)
        with pytest.raises(ValueError, match=r"sql\(\) auto-bound DataFrames belong to different TableEnvironments"):
            pf.sql("SELECT 1")

    @pytest.mark.parametrize(
        "query", ["CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1)", "EXPLAIN SELECT 1", "SHOW TABLES"]
    )
    def test_are_queries(self, query: str) -> None:
        with pytest.raises(ValueError, match=r"sql\(\) only supports queries that return a result, such as SELECT"):
            pf.sql(query)

    def test_are_texts(self) -> None:
        with pytest.raises(TypeError, match="query must be a string"):
            pf.sql(1)  # type: ignore[arg-type]
        assert pf.get_table_environment() is None


class TestNames:
    def test_that_are_taken_are_skipped_with_a_warning(self) -> None:
        environment = pf.get_or_create_table_environment()
        environment.create_temporary_view("taken", pf.range(5).to_table())
        taken = pf.range(1)  # noqa: F841
        upper = twice  # noqa: F841
        with pytest.warns(UserWarning) as caught:
            found = pf.sql("SELECT * FROM taken")
        assert len(rows(found)) == 5
        assert {str(each.message) for each in caught} == {
            "sql() auto-bind skipped 'taken': a table or view with this name already exists.",
            "sql() auto-bind skipped 'upper': a function with this name already exists.",
        }

    def test_of_bindings_are_free(self) -> None:
        environment = pf.get_or_create_table_environment()
        df = pf.range(5)
        environment.create_temporary_view("taken", df.to_table())
        environment.create_temporary_system_function("known", twice)
        with pytest.raises(ValueError, match="cannot bind 'taken': a temporary table or view with this name already"):
            pf.sql("SELECT 1", auto_bind=False, taken=df)
        with pytest.raises(ValueError, match="cannot bind 'KNOWN': a temporary function with this name already exists"):
            pf.sql("SELECT 1", auto_bind=False, KNOWN=twice)
        with pytest.raises(ValueError, match="cannot bind 'a b': it is not a valid SQL identifier"):
            pf.sql("SELECT 1", auto_bind=False, **{"a b": df})
        assert left_behind() == ["taken", "known"]

    @pytest.mark.parametrize("value", [1, "SELECT 1", lambda: None])
    def test_stand_for_dataframes_and_functions(self, value: Any) -> None:
        with pytest.raises(TypeError, match=r"sql\(\) binding 'x' must be a DataFrame or a UDF created with"):
            pf.sql("SELECT 1", x=value)
