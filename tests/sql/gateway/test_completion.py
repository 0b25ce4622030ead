"""Completion offers exactly what runs here: functions, words, settings, connectors, formats and their options."""

from __future__ import annotations

import re

import pytest

from scurry.errors import ScurryError
from scurry.sql.functions.aggregate.catalogue import aggregate_names
from scurry.sql.functions.catalogue import callable_functions, is_syntax, names
from scurry.sql.gateway.completion import WORDS, candidates
from scurry.sql.statements.listing.options import option_keys, option_values, settings
from scurry.sql.statements.session import TableSession
from scurry.sql.syntax.keywords import KEYWORDS
from scurry.table import TableEnvironment
from support.statements.tables import environment


@pytest.fixture(scope="module")
def session() -> TableSession:
    env = environment()
    env.execute_sql("CREATE TABLE orders (id INT, amount DOUBLE) WITH ('connector' = 'print')")
    return env._session


def offered(session: TableSession, text: str) -> list[str]:
    return candidates(session, text, len(text))


#: Calls of functions that have a syntax of their own.
CALLS = {
    "JSON_OBJECTAGG": "JSON_OBJECTAGG(KEY s VALUE s)",
    "EXTRACT": "EXTRACT(YEAR FROM CURRENT_DATE)",
    "OVERLAY": "OVERLAY(s PLACING s FROM 1)",
    "POSITION": "POSITION(s IN s)",
    "TIMESTAMPADD": "TIMESTAMPADD(DAY, 1, CURRENT_DATE)",
    "TIMESTAMPDIFF": "TIMESTAMPDIFF(DAY, CURRENT_DATE, CURRENT_DATE)",
}
NO_SUCH = re.compile("No match found for function signature|Encountered|Incorrect syntax|not found")


WINDOWS = {"CUMULATE": ", INTERVAL '1' DAY", "HOP": ", INTERVAL '1' DAY", "SESSION": "", "TUMBLE": ""}


def windows(name: str) -> str:
    """Return a query of a function that makes windows of a table."""
    return f"SELECT 1 FROM TABLE({name}(TABLE timed, DESCRIPTOR(ts), INTERVAL '1' HOUR{WINDOWS[name]}))"


def is_known(name: str, env: TableEnvironment) -> bool:
    """Say whether a call of a function, with up to four arguments, is accepted or refused for its arguments only."""
    calls = [name, *(f"{name}({', '.join(['s'] * count)})" for count in range(5))]
    for call in [CALLS[name]] if name in CALLS else calls:
        try:
            env.sql_query(f"SELECT {call} FROM (VALUES ('a')) AS t(s)")
        except ScurryError as error:
            if NO_SUCH.search(str(error)) is None:
                return True
        else:
            return True
    return False


def test_every_offered_function_is_one() -> None:
    env = environment()
    env.execute_sql("CREATE TABLE timed (ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen')")
    for name in WINDOWS:
        env.sql_query(windows(name))
    assert [name for name in callable_functions() if name not in WINDOWS and not is_known(name, env)] == []
    assert not is_known("DATE_FROMAT", env)


def test_every_function_of_the_catalogue_is_offered(session: TableSession) -> None:
    known = {name for name in (*names(), *aggregate_names()) if not is_syntax(name)} - {
        "$SUM0", "MINUS_DATE", "OVERLAPS",
    }  # fmt: skip
    missing = {name for name in known if name not in offered(session, f"SELECT {name[:-1] or name}")}
    assert not missing
    assert known <= set(callable_functions())


@pytest.mark.parametrize("word", ["DATETIME_TRUNC", "DATETIME_INTERVAL_CODE", "JSON_OBJECTAGG_NULL_ON_NULL"])
def test_what_is_refused_is_not_offered(session: TableSession, word: str) -> None:
    assert word not in offered(session, f"SELECT {word[:-2]}")


def test_all_words_are_keywords() -> None:
    assert set(WORDS) <= KEYWORDS


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("SELECT DATE_FORM", "DATE_FORMAT"),
        ("SELECT LISTAG", "LISTAGG"),
        ("SELECT REGEXP_R", "REGEXP_REPLACE"),
        ("SELECT UNIX_", "UNIX_TIMESTAMP"),
        ("SELECT am FROM orders WHERE am", "amount"),
        ("SELECT id FROM ord", "orders"),
        ("WITH big AS (SELECT id FROM orders), `all` AS (SELECT 1) SELECT * FROM b", "big"),
        ("WITH big AS (SELECT id FROM orders), small AS (SELECT 1) SELECT * FROM big JOIN sm", "small"),
        ("WITH big AS (SELECT id + 1 AS next_id FROM orders) SELECT big.n", "next_id"),
        ("WITH a AS (SELECT id AS x FROM orders), b AS (SELECT x AS y FROM a) SELECT * FROM b AS c WHERE c.y", "y"),
        ("SELECT * FROM (SELECT COUNT(*) AS number FROM orders GROUP BY id) AS g WHERE g.nu", "number"),
        ("SELECT * FROM (SELECT COUNT(*) AS number FROM orders GROUP BY id) AS g WHERE nu", "number"),
        ("CREATE TABLE t (a INT) WITH ('connector' = 'ka", "kafka"),
        ("CREATE TABLE t (a INT) WITH ('conn", "connector"),
        ("CREATE MODEL m WITH ('prov", "provider"),
        ("CREATE MODEL m WITH ('provider' = 'open", "openai"),
        ("CREATE MODEL m WITH ('provider' = 'openai', 'sys", "system-prompt"),
        ("CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'pat", "path"),
        ("CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'format' = 'js", "json"),
        (
            "CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'format' = 'csv', 'csv.ig",
            "csv.ignore-parse-errors",
        ),
        ("CREATE CATALOG c WITH ('type' = 'ice", "iceberg"),
        ("SET 'execution.ru", "execution.runtime-mode"),
        ("SET 'table.exec.state", "table.exec.state.ttl"),
        ("RESET 'sql-client.ver", "sql-client.verbose"),
    ],
)
def test_the_first_candidate(session: TableSession, text: str, first: str) -> None:
    assert offered(session, text)[:1] == [first]


def test_the_columns_of_a_query_that_follows_are_offered(session: TableSession) -> None:
    text = "SELECT  FROM (SELECT amount * 2 AS doubled FROM orders) AS t"
    assert "doubled" in candidates(session, text, len("SELECT "))
    assert candidates(session, "SELECT t. FROM (SELECT amount * 2 AS doubled FROM orders) t", len("SELECT t.")) == [
        "doubled"
    ]


@pytest.mark.parametrize("query", ["SELECT nothing FROM orders", "SELECT (", "SELECT 1 FROM (SELECT", "VALUES"])
def test_nothing_is_offered_of_a_wrong_query(session: TableSession, query: str) -> None:
    assert offered(session, f"WITH w AS ({query}) SELECT w.") == []


def test_settings_that_are_offered_can_be_set() -> None:
    env = environment()
    assert "table.exec.legacy-cast-behaviour" not in settings(), "only its default is accepted"
    for key in settings():
        env.get_config().get_configuration().get_string(key, "")


@pytest.mark.parametrize("connector", option_values("connector", {}))
def test_every_connector_has_options_that_are_offered(connector: str) -> None:
    keys = option_keys({"connector": connector})
    assert "connector" not in keys
    assert keys == sorted(keys)


def test_nothing_is_offered_within_other_texts(session: TableSession) -> None:
    assert offered(session, "SELECT 'ab") == []
    assert offered(session, "SELECT id FROM orders WHERE note = 'a") == []
