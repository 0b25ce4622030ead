"""The gateway answers as Flink's does, whose answers are recorded here and in tests/fixtures/gateway."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from scurry.sql.gateway.sessions import Sessions
from support import TESTS
from support.gateway import BATCH, Gateway, serving

TYPES = json.loads((TESTS / "fixtures" / "gateway" / "types.json").read_text())
NOWHERE = "00000000-0000-0000-0000-000000000000"


def test_it_says_what_it_is(gateway: Gateway) -> None:
    assert gateway.ask("GET", "/v1/info") == (200, {"productName": "Apache Flink", "version": "2.3.0"})
    assert gateway.ask("GET", "/info")[1] == gateway.ask("GET", "/v4/info")[1]
    assert gateway.ask("GET", "/v3/api_versions") == (200, {"versions": ["V1", "V2", "V3", "V4"]})


@pytest.mark.parametrize("row_format", ["JSON", "PLAIN_TEXT"])
def test_types_and_values_are_laid_out_as_flink_does(gateway: Gateway, row_format: str) -> None:
    operation = gateway.start(gateway.open(BATCH), TYPES["statement"])
    pages = [page for page in gateway.pages(operation, row_format) if "results" in page]
    assert pages[0]["results"]["columns"] == TYPES["results"][row_format]["columns"]
    rows = [row for page in pages for row in page["results"]["data"]]
    assert rows == TYPES["results"][row_format]["data"]


def test_a_page_has_the_keys_of_flink(gateway: Gateway) -> None:
    operation = gateway.start(gateway.open(BATCH), "SELECT 1 AS x")
    *pages, last = [page for page in gateway.pages(operation) if page["resultType"] != "NOT_READY"]
    (page,) = [page for page in pages if page["results"]["data"]]
    assert set(page) == {"resultType", "isQueryResult", "jobID", "resultKind", "results", "nextResultUri"}
    assert (page["resultType"], page["isQueryResult"], page["resultKind"]) == ("PAYLOAD", True, "SUCCESS_WITH_CONTENT")
    assert page["results"]["data"] == [{"kind": "INSERT", "fields": [1]}]
    assert page["nextResultUri"].startswith(f"{operation}/result/")
    assert (last["resultType"], last["results"]["data"], "nextResultUri" in last) == ("EOS", [], False)


def test_statements_without_content_answer_ok(gateway: Gateway) -> None:
    pages = list(gateway.pages(gateway.start(gateway.open(), "SET 'table.b' = 'c'")))
    page = next(page for page in pages if page["resultType"] == "PAYLOAD")
    assert (page["resultKind"], page["isQueryResult"], "jobID" in page) == ("SUCCESS", False, False)
    assert page["results"]["data"] == [{"kind": "INSERT", "fields": ["OK"]}]


def test_an_insertion_answers_with_the_id_of_its_job(gateway: Gateway, csv: str) -> None:
    session = gateway.open(BATCH)
    gateway.rows(session, csv)
    gateway.rows(session, "CREATE TABLE s (id INT) WITH ('connector' = 'blackhole')")
    page = next(p for p in gateway.pages(gateway.start(session, "INSERT INTO s SELECT id FROM t")) if "results" in p)
    assert [column["name"] for column in page["results"]["columns"]] == ["job id"]
    assert page["results"]["data"] == [{"kind": "INSERT", "fields": [page["jobID"]]}]
    assert [page["jobID"], "insert-into_default_catalog.default_database.s"] in [
        row[:2] for row in gateway.rows(session, "SHOW JOBS")
    ]


def test_changes_of_a_streaming_query_have_their_kinds(gateway: Gateway) -> None:
    statement = "SELECT id, COUNT(*) AS n FROM (VALUES (1), (1)) AS t(id) GROUP BY id"
    pages = gateway.pages(gateway.start(gateway.open(), statement))
    changes = [row for page in pages if "results" in page for row in page["results"]["data"]]
    assert changes[-1] == {"kind": changes[-1]["kind"], "fields": [1, 2]}
    assert {change["kind"] for change in changes} <= {"INSERT", "UPDATE_BEFORE", "UPDATE_AFTER"}


def test_a_long_result_comes_in_pages(gateway: Gateway) -> None:
    numbers = ", ".join(f"({number})" for number in range(20))
    statement = f"SELECT a.x FROM (VALUES {numbers}) a(x), (VALUES {numbers}) b(x), (VALUES {numbers}) c(x), " + (
        "(VALUES (1), (2)) d(x)"
    )
    pages = [p for p in gateway.pages(gateway.start(gateway.open(BATCH), statement)) if p["resultType"] == "PAYLOAD"]
    sizes = [len(page["results"]["data"]) for page in pages]
    assert sum(sizes) == 16_000
    assert max(sizes) <= 5000


def test_a_page_can_be_fetched_once_more_and_no_older_one(gateway: Gateway) -> None:
    operation = gateway.start(gateway.open(BATCH), "VALUES (1), (2)")
    pages = [page for page in gateway.pages(operation) if page["resultType"] == "PAYLOAD"]
    last = pages[-1]["nextResultUri"].rpartition("/")[2].partition("?")[0]
    before = f"{operation}/result/{int(last) - 1}?rowFormat=JSON"
    assert gateway.ask("GET", before)[1]["results"] == pages[-1]["results"]
    status, answer = gateway.ask("GET", f"{operation}/result/{int(last) + 7}?rowFormat=JSON")
    assert status == 500
    assert f"Expecting token to be {last} or {int(last) - 1}, but found {int(last) + 7}." in answer["errors"][1]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("SELECT nope FROM (VALUES 1)", "From line 1, column 8 to line 1, column 11: Column 'nope' not found in any"),
        ("SELECT FROM", "Incorrect syntax near the keyword 'FROM' at line 1, column 8."),
        ("SELECT 1; SELECT 2", "only single statement supported"),
        ("", 'Encountered "<EOF>" at line 0, column 0.'),
        ("SELECT CAST('a' AS INT)", "For input string: 'a'. Invalid character found."),
        ("END", "No Statement Set to submit. 'END' statement should be used after 'BEGIN STATEMENT SET'."),
        ("STOP JOB '00000000000000000000000000000000'", "Could not find Flink job (00000000000000000000000000000000)"),
    ],
)
def test_a_failing_statement_says_why_in_the_words_of_flink(gateway: Gateway, statement: str, message: str) -> None:
    assert message in gateway.failure(gateway.open(BATCH), statement)


def test_only_insertions_belong_into_a_statement_set(gateway: Gateway) -> None:
    session = gateway.open(BATCH)
    gateway.rows(session, "BEGIN STATEMENT SET")
    assert "Only 'INSERT/CREATE TABLE AS' statement is allowed in Statement Set" in gateway.failure(session, "SELECT 1")


def test_settings_of_a_statement_apply_to_it_alone(gateway: Gateway) -> None:
    session = gateway.open()
    operation = gateway.start(session, "SET", executionConfig={"my.key": "x"})
    shown = [row["fields"] for page in gateway.pages(operation) if "results" in page for row in page["results"]["data"]]
    assert ["my.key", "x"] in shown
    assert ["my.key", "x"] not in gateway.rows(session, "SET")


def test_configuring_a_session_takes_no_query(gateway: Gateway, csv: str) -> None:
    session = gateway.open(BATCH)
    assert gateway.ask("POST", f"{session}/configure-session", {"statement": csv}) == (200, {})
    assert gateway.rows(session, "SELECT COUNT(*) FROM t") == [[3]]
    status, answer = gateway.ask("POST", f"{session}/configure-session", {"statement": "SELECT 1"})
    assert status == 500
    assert "Unsupported statement for configuring session: SELECT 1" in answer["errors"][1]


def test_settings_of_a_session_show_no_secrets(gateway: Gateway) -> None:
    session = gateway.open({"my.password": "hunter2", "my.key": "x"})
    properties = gateway.ask("GET", session)[1]["properties"]
    assert properties["my.key"] == "x"
    assert "hunter2" not in properties["my.password"]


def test_a_statement_is_completed(gateway: Gateway, csv: str) -> None:
    session = gateway.open(BATCH)
    gateway.rows(session, csv)
    body = {"statement": "SELECT na FROM t", "position": 9}
    assert gateway.ask("GET", f"{session}/complete-statement", body)[1]["candidates"][0] == "name"
    assert gateway.ask("GET", f"{session}/complete-statement".replace("/v2/", "/v1/"), body)[0] == 404


def test_a_running_query_is_cancelled_when_its_operation_is_closed(gateway: Gateway) -> None:
    session = gateway.open()
    gateway.rows(session, "CREATE TABLE g (id INT) WITH ('connector' = 'datagen', 'rows-per-second' = '10')")
    operation = gateway.start(session, "SELECT id FROM g")
    for page in gateway.pages(operation):
        if "results" in page and page["results"]["data"]:
            job = page["jobID"]
            break
    assert gateway.ask("DELETE", f"{operation}/close") == (200, {"status": "CLOSED"})
    end = time.monotonic() + 120
    while [row[2] for row in gateway.rows(session, "SHOW JOBS") if row[0] == job] != ["CANCELED"]:
        assert time.monotonic() < end
        time.sleep(0.05)
    status, answer = gateway.ask("GET", f"{operation}/status")
    assert (status, "Can not find the submitted operation" in answer["errors"][1]) == (500, True)


def test_an_insertion_that_is_waited_for_is_cancelled_with_its_job(gateway: Gateway) -> None:
    session = gateway.open({"table.dml-sync": "true"})
    gateway.rows(session, "CREATE TABLE g (id INT) WITH ('connector' = 'datagen', 'rows-per-second' = '10')")
    gateway.rows(session, "CREATE TABLE s (id INT) WITH ('connector' = 'blackhole')")
    operation = gateway.start(session, "INSERT INTO s SELECT id FROM g")
    while not [row for row in gateway.rows(session, "SHOW JOBS") if row[2] == "RUNNING"]:
        time.sleep(0.02)
    assert gateway.ask("GET", f"{operation}/status") == (200, {"status": "RUNNING"})
    assert gateway.ask("GET", f"{operation}/result/0?rowFormat=JSON")[1]["resultType"] == "NOT_READY"
    assert gateway.ask("POST", f"{operation}/cancel") == (200, {"status": "CANCELED"})
    end = time.monotonic() + 120
    while [row for row in gateway.rows(session, "SHOW JOBS") if row[2] == "RUNNING"]:
        assert time.monotonic() < end
        time.sleep(0.05)


def test_what_does_not_exist_is_refused(gateway: Gateway) -> None:
    session = gateway.open()
    assert gateway.ask("GET", "/v2/nothing") == (404, {"errors": ["Not found: /v2/nothing"]})
    assert gateway.ask("GET", "/v9/info")[0] == 404
    assert gateway.ask("GET", "/v2/sessions/nope")[0] == 400
    status, answer = gateway.ask("POST", f"/v2/sessions/{NOWHERE}/statements", {"statement": "SELECT 1"})
    assert (status, f"Session '{NOWHERE}' does not exist." in answer["errors"][1]) == (500, True)
    assert gateway.ask("GET", f"{session}/operations/{NOWHERE}/status")[0] == 500


def test_a_materialized_table_is_refreshed(gateway: Gateway, tmp_path: Path) -> None:
    session = gateway.open()
    gateway.rows(
        session,
        f"CREATE MATERIALIZED TABLE mt PARTITIONED BY (k) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/mt', "
        "'format' = 'csv') FRESHNESS = INTERVAL '1' DAY AS SELECT 'x' AS k, 1 AS v UNION ALL SELECT 'y', 2",
    )
    refresh = f"{session.replace('v2', 'v3')}/materialized-tables/mt/refresh"
    operation = gateway.ask("POST", refresh, {"staticPartitions": {"k": "y"}})[1]["operationHandle"]
    while (
        gateway.ask("GET", f"{session}/operations/{operation}/result/0?rowFormat=JSON")[1]["resultType"] == "NOT_READY"
    ):
        time.sleep(0.02)
    end = time.monotonic() + 120
    while [part.read_text() for part in tmp_path.glob("mt/k=*/*")] != ["2\n"]:
        assert time.monotonic() < end
        time.sleep(0.02)
    for body, reason in (
        ({"isPeriodic": True}, "periodic refreshes"),
        ({"dynamicOptions": {"a": "b"}}, "dynamicOptions"),
    ):
        assert reason in gateway.ask("POST", refresh, body)[1]["errors"][1]
    gateway.rows(session, "DROP MATERIALIZED TABLE mt")


def test_a_closed_session_is_gone(gateway: Gateway) -> None:
    session = gateway.open()
    assert gateway.ask("POST", f"{session}/heartbeat") == (200, {})
    assert gateway.ask("DELETE", session) == (200, {"status": "CLOSED"})
    assert gateway.ask("POST", f"{session}/heartbeat")[0] == 500


def test_requests_without_the_token_or_from_web_pages_are_refused(gateway: Gateway) -> None:
    stranger = Gateway(gateway.url, gateway.sessions, "a-wrong-token-of-characters")
    for path in ("/v1/info", "/v2/sessions", "/nothing"):
        assert stranger.ask("GET", path)[0] == 401
        assert gateway.ask("GET", path, headers={"Origin": "http://evil.example"})[0] == 403
        assert gateway.ask("GET", path, headers={"Host": "evil.example"})[0] == 403


def test_without_token_web_pages_are_still_refused() -> None:
    with serving(Sessions({"scurry.runner": "local"}), None) as open_gateway:
        assert open_gateway.ask("GET", "/v1/info")[0] == 200
        assert open_gateway.ask("POST", "/v1/sessions", {}, {"Origin": "http://evil.example"})[0] == 403
        assert open_gateway.ask("POST", "/v1/sessions", {}, {"Host": "evil.example"})[0] == 403
