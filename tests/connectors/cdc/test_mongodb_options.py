"""'connector' = 'mongodb-cdc' without a server: what is refused, and what errors of a server say to do."""

from __future__ import annotations

from typing import Any

import pytest
from pymongo.errors import OperationFailure

from scurry.connectors.cdc.mongodb.receiver import MongoCdcSettings, explained
from scurry.errors import DatabaseError, LogLostError, SourceConnectionError, UnsupportedError, ValidationError
from scurry.table import TableEnvironment
from support.cdc.tables import environment, hints

KEYED = "_id INT, name STRING, PRIMARY KEY (_id) NOT ENFORCED"


def define(columns: str = KEYED, streaming: bool = True, **options: str) -> TableEnvironment:
    env = environment(streaming)
    given = {"hosts": "h:27017", "database": "d", "collection": "c"}
    given |= {key.replace("__", "-").replace("_", "."): value for key, value in options.items()}
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
    env.execute_sql(f"CREATE TABLE t ({columns}) WITH ('connector' = 'mongodb-cdc', {listed})")
    return env


@pytest.mark.parametrize(
    ("columns", "options", "error", "message"),
    [
        ("_id INT", {}, ValidationError, "Primary key must be _id field"),
        ("k INT, PRIMARY KEY (k) NOT ENFORCED", {}, ValidationError, "Primary key must be _id field"),
        (KEYED, {"hosts": "ann:szy7w@h"}, ValidationError, "'hosts' has hosts and ports only"),
        (KEYED, {"username": "ann"}, ValidationError, "'username' and 'password' must be set at the same time"),
        (KEYED, {"scheme": "http"}, ValidationError, "'scheme' must be mongodb or mongodb+srv"),
        (KEYED, {"collection": "("}, ValidationError, "'collection' = '(' is no regular expression"),
        (KEYED, {"batch_size": "0"}, ValidationError, "'batch.size' must be at least 1"),
        (KEYED, {"scan_full__changelog": "true"}, UnsupportedError, "'scan.full-changelog' = 'true'"),
        (KEYED, {"scan_startup_mode": "snapshot"}, UnsupportedError, "'connector' = 'mongodb' reads the documents"),
        (KEYED, {"scan_startup_mode": "earliest"}, ValidationError, "Invalid value for option 'scan.startup.mode'"),
        (KEYED, {"scan_startup_mode": "timestamp"}, ValidationError, "'scan.startup.timestamp-millis' must be set"),
        (KEYED.replace("STRING", "TIME"), {}, UnsupportedError, "TIME"),
        (KEYED + ", m STRING METADATA FROM 'table_name' VIRTUAL", {}, ValidationError, "Invalid metadata key"),
    ],
)
def test_wrong_options_are_refused(columns: str, options: dict[str, str], error: type[Exception], message: str) -> None:
    env = define(columns, True, **options)
    with pytest.raises(error) as refused:
        env.execute_sql("SELECT * FROM t").collect()
    told = str(refused.value) + hints(refused.value)
    assert message in told
    assert "szy7w" not in told


def test_changes_do_not_end() -> None:
    with pytest.raises(ValidationError, match="unbounded table"):
        list(define(streaming=False).execute_sql("SELECT * FROM t").collect())


SETTINGS = MongoCdcSettings("mongodb://ann:szy7w@h", "d", "c")


@pytest.mark.parametrize(
    ("code", "error", "hint"),
    [
        (286, LogLostError, "start the job without its checkpoint"),
        (280, LogLostError, "start the job without its checkpoint"),
        (40576, LogLostError, "start the job without its checkpoint"),
        (40573, DatabaseError, "--replSet"),
    ],
)
def test_errors_of_change_streams_say_what_to_do(code: int, error: type[Exception], hint: str) -> None:
    told: Any = explained(SETTINGS, OperationFailure("cannot resume", code))
    assert isinstance(told, error) and not isinstance(told, SourceConnectionError)  # it is not tried again
    assert hint in hints(told)


def test_a_user_who_is_refused_is_told_the_options() -> None:
    told = str(explained(SETTINGS, OperationFailure("Authentication failed", 18)))
    assert "check 'username', 'password' and their rights" in told


def test_user_and_password_are_in_the_connection_string_and_not_shown() -> None:
    from scurry.sql.catalog.table_options import Options
    from scurry.sql.connectors.cdc.mongodb import _uri

    options = {"hosts": "a:1,b:2", "username": "a@n", "password": "szy7w/", "connection.options": "replicaSet=r"}
    assert _uri(Options(options)) == "mongodb://a%40n:szy7w%2F@a:1,b:2/?replicaSet=r"
    assert "szy7w" not in repr(SETTINGS)
