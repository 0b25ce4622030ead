"""ML_PREDICT with models that are classes of Python."""

from __future__ import annotations

from typing import Any

import pytest

from scurry.errors import JobError, ScurryError, ValidationError
from scurry.table import DataTypes, ModelDescriptor, Schema, TableEnvironment
from scurry.table.expressions import descriptor
from support.models import classes


def model(env: TableEnvironment, cls: type, *options: str, columns: str = "INPUT (a STRING) OUTPUT (b STRING)") -> None:
    given = "".join(f", '{key}' = '{value}'" for key, value in zip(options[::2], options[1::2], strict=True))
    path = f"support.models.classes.{cls.__name__}"
    env.execute_sql(f"CREATE MODEL m {columns} WITH ('provider' = 'python', 'class' = '{path}'{given})")


def rows(env: TableEnvironment, query: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in env.execute_sql(query).collect()]


def predicted(env: TableEnvironment, config: str = "", table: str = "TABLE v", column: str = "s") -> list[Any]:
    config = f", MAP[{config}]" if config else ""
    return rows(env, f"SELECT * FROM ML_PREDICT({table}, MODEL m, DESCRIPTOR({column}){config})")


def test_rows_have_what_the_model_returns(env: TableEnvironment) -> None:
    model(env, classes.Brackets, "option.left", "(", "option.right", ")")
    assert predicted(env) == [(1, "a", "(a)"), (2, "bc", "(bc)"), (3, "d", "(d)")]


def test_the_object_is_closed_at_the_end(env: TableEnvironment) -> None:
    model(env, classes.Brackets)
    before = classes.Brackets.closed
    predicted(env)
    assert classes.Brackets.closed > before


def test_a_model_may_return_several_rows_or_none(env: TableEnvironment) -> None:
    model(env, classes.Letters)
    table = "(SELECT * FROM v UNION ALL SELECT 4, CAST(NULL AS STRING))"
    assert predicted(env, table=table) == [(1, "a", "a"), (2, "bc", "b"), (2, "bc", "c"), (3, "d", "d")]


def test_a_model_gets_and_returns_several_columns_by_batch(env: TableEnvironment) -> None:
    model(env, classes.TwoColumns, "batch-size", "2", columns="INPUT (a BIGINT) OUTPUT (b BIGINT, c STRING)")
    classes.TwoColumns.sizes.clear()
    assert predicted(env, column="id") == [(1, "a", 2, "1"), (2, "bc", 4, "2"), (3, "d", 6, "3")]
    assert max(classes.TwoColumns.sizes) <= 2


def test_calls_overlap_and_rows_keep_their_order(env: TableEnvironment) -> None:
    model(env, classes.Patient)
    assert predicted(env, "'max-concurrent-operations', '3'", table="TABLE w") == [("a", "A"), ("b", "B"), ("c", "C")]


def test_rows_come_in_the_order_of_their_answers_if_they_may(env: TableEnvironment) -> None:
    model(env, classes.Patient)
    config = "'max-concurrent-operations', '3', 'output-mode', 'ALLOW_UNORDERED', 'async', 'true'"
    assert predicted(env, config, table="TABLE w") == [("c", "C"), ("b", "B"), ("a", "A")]


@pytest.fixture(autouse=True)
def three_rows_in_one_batch(env: TableEnvironment) -> None:
    row = DataTypes.ROW([DataTypes.FIELD("s", DataTypes.STRING())])
    env.create_temporary_view("texts", env.from_elements([(each,) for each in "abc"], row))
    env.execute_sql("CREATE TEMPORARY VIEW w AS SELECT s FROM texts")


@pytest.mark.parametrize("limit", [1, 4])
def test_no_more_calls_overlap_than_may(env: TableEnvironment, limit: int) -> None:
    model(env, classes.Counting)
    classes.Counting.most = 0
    table = env.from_elements([(f"t{place}",) for place in range(50)], ["s"])
    found = env.from_model("m").predict(table, ["s"], {"max-concurrent-operations": str(limit)})
    assert len(list(found.execute().collect())) == 50
    assert classes.Counting.most == limit


def test_a_cache_asks_once_for_equal_rows(env: TableEnvironment) -> None:
    model(env, classes.Counting, "cache.max-rows", "10")
    classes.Counting.calls.clear()
    table = env.from_elements([(f"t{place % 3}",) for place in range(30)], ["s"])
    found = list(env.from_model("m").predict(table, descriptor("s")).execute().collect())
    assert [row[1] for row in found] == [f"t{place % 3}" for place in range(30)]
    assert sorted(classes.Counting.calls) == ["t0", "t1", "t2"]


def test_a_failed_call_is_repeated(env: TableEnvironment) -> None:
    model(env, classes.FailsTwice, "retry-num", "2")
    assert [row[2] for row in predicted(env)] == ["a3", "bc3", "d3"]


def test_the_job_fails_after_the_last_attempt(env: TableEnvironment) -> None:
    model(env, classes.FailsTwice, "retry-num", "1")
    with pytest.raises(JobError, match="ConnectionError: not now"):
        predicted(env)


@pytest.mark.parametrize(
    "options", [("error-handling-strategy", "ignore"), ("retry-num", "1", "retry-fallback-strategy", "ignore")]
)
def test_a_row_without_an_answer_may_be_left_out(env: TableEnvironment, options: tuple[str, ...]) -> None:
    model(env, classes.Failing, *options)
    env.execute_sql("CREATE TEMPORARY VIEW mixed AS SELECT * FROM (VALUES ('a'), ('xy'), ('b')) AS t (s)")
    assert predicted(env, table="TABLE mixed") == [("a", "a"), ("b", "b")]


def test_a_failure_names_the_line_the_model_and_the_row(env: TableEnvironment) -> None:
    model(env, classes.Failing)
    with pytest.raises(JobError) as failure:
        predicted(env, table="(SELECT 'xy' AS s)")
    said = str(failure.value)
    assert "ValueError: cannot read xy" in said and "classes.py" in said
    assert "MODEL default_catalog.default_database.m" in said and "record: ('xy',)" in said


def test_a_call_that_takes_too_long_fails(env: TableEnvironment) -> None:
    model(env, classes.Endless)
    with pytest.raises(JobError, match="has timed out for input: 'a'"):
        predicted(env, "'timeout', '1 ms'", table="(SELECT 'a' AS s)")


def test_a_batch_with_fewer_results_fails(env: TableEnvironment) -> None:
    model(env, classes.TooFew)
    with pytest.raises(JobError, match=r"predict_batch returned \d results for \d rows"):
        predicted(env)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("'class' = 'support.models.classes.Nope'", "has no attribute 'Nope'"),
        ("'class' = 'no.such.module.Nope'", "No module named 'no'"),
        ("'class' = 'Nope'", "expected 'module.Name'"),
        (
            "'class' = 'support.models.classes.Brackets', 'batch-size' = '3'",
            "with a method 'predict_batch'",
        ),
        ("'class' = 'support.models.classes.Brackets', 'nope' = '3'", "Unsupported options: nope"),
        ("'clas' = 'support.models.classes.Brackets'", "did you mean 'class' instead of 'clas'"),
        ("'class' = 'builtins.int'", "the class has no method 'predict'"),
    ],
)
def test_wrong_options_are_refused_before_anything_runs(env: TableEnvironment, options: str, says: str) -> None:
    env.execute_sql(f"CREATE MODEL m INPUT (a STRING) OUTPUT (b STRING) WITH ('provider' = 'python', {options})")
    with pytest.raises(ValidationError, match="Unable to create a model provider for model 'default") as refused:
        env.sql_query("SELECT * FROM ML_PREDICT(TABLE v, MODEL m, DESCRIPTOR(s))").explain()
    assert says in "\n".join([str(refused.value), *getattr(refused.value, "__notes__", ())])


def test_secrets_are_in_no_text(env: TableEnvironment) -> None:
    model(env, classes.Failing, "option.token", "tellnoone", "api-key", "tellnoone")
    query = "SELECT * FROM ML_PREDICT(TABLE v, MODEL m, DESCRIPTOR(s))"
    shown = [env.execute_sql("SHOW CREATE MODEL m").collect().__next__()[0]]
    with pytest.raises(ScurryError) as refused:
        env.explain_sql(query)
    shown += [str(refused.value), repr(refused.value), repr(env._session.catalogs.catalog("default_catalog"))]
    found = env._session.catalogs.models.find(env._named("m"))
    assert "tellnoone" not in "\n".join([*shown, repr(found)])
    assert "'api-key' = '******'" in shown[0]


def test_a_model_without_a_name_predicts(env: TableEnvironment) -> None:
    columns = [Schema.new_builder().column(name, DataTypes.STRING()).build() for name in "ab"]
    described = (
        ModelDescriptor.for_provider("python")
        .input_schema(columns[0])
        .output_schema(columns[1])
        .option("class", "support.models.classes:Brackets")
        .build()
    )
    found = env.from_model(described).predict(env.from_path("w"), ["s"])
    assert [row[1] for row in found.execute().collect()] == ["<a>", "<b>", "<c>"]
    assert env.list_models() == env.list_temporary_models() == []


def test_a_view_follows_its_model(env: TableEnvironment) -> None:
    model(env, classes.Brackets)
    env.execute_sql("CREATE VIEW p AS SELECT * FROM ML_PREDICT((SELECT 'a' AS s), MODEL m, DESCRIPTOR(s))")
    assert rows(env, "SELECT * FROM p") == [("a", "<a>")]
    env.execute_sql("ALTER MODEL m SET ('option.left' = '[')")
    assert rows(env, "SELECT * FROM p") == [("a", "[a>")]


def test_times_stay_times(env: TableEnvironment) -> None:
    """Windows over predictions: Flink's plan has the rowtime of the table behind ML_PREDICT."""
    model(env, classes.Counting)
    env.execute_sql(
        "CREATE TABLE timed (id BIGINT, ts AS TIMESTAMP '2026-01-01 00:00:00' + CAST(id AS INT) * INTERVAL '1' SECOND, "
        "WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen', 'fields.id.kind' = 'sequence', 'fields.id.start' = '0',"
        " 'fields.id.end' = '29', 'number-of-rows' = '30', 'rows-per-second' = '100000')"
    )
    table = "(SELECT *, CAST(id AS STRING) AS s FROM timed)"
    found = rows(
        env,
        "SELECT window_start, COUNT(b) FROM TUMBLE((SELECT * FROM ML_PREDICT("
        f"{table}, MODEL m, DESCRIPTOR(s))), DESCRIPTOR(ts), INTERVAL '10' SECOND) GROUP BY window_start, window_end",
    )
    assert sorted((str(start), count) for start, count in found) == [
        ("2026-01-01 00:00:00", 10),
        ("2026-01-01 00:00:10", 10),
        ("2026-01-01 00:00:20", 10),
    ]
