"""Options of tables of topics are checked as Flink's connector does; no broker is asked."""

from __future__ import annotations

import pytest

from scurry.errors import ValidationError
from scurry.table import EnvironmentSettings, TableEnvironment

SERVERS = "'properties.bootstrap.servers' = 'localhost:1'"
KAFKA = f"'connector' = 'kafka', 'topic' = 't', {SERVERS}"
JSON = f"{KAFKA}, 'format' = 'json'"
UPSERT = f"'connector' = 'upsert-kafka', 'topic' = 't', {SERVERS}, 'key.format' = 'json', 'value.format' = 'json'"
KEYED = "a INT, b STRING, PRIMARY KEY (a) NOT ENFORCED"


@pytest.fixture(scope="module")
def env() -> TableEnvironment:
    made = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    made.get_config().set("scurry.runner", "local")
    return made


def refused(env: TableEnvironment, options: str, columns: str = "a INT, b STRING", statement: str = "") -> str:
    """Return the message with which a table is refused."""
    env.execute_sql(f"CREATE TABLE t ({columns}) WITH ({options})")
    try:
        with pytest.raises(ValidationError) as error:
            env.execute_sql(statement or "SELECT * FROM t")
    finally:
        env.execute_sql("DROP TABLE t")
    return str(error.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (KAFKA, "Could not find required scan format 'value.format'."),
        (JSON.replace("'topic' = 't', ", ""), "Either 'topic' or 'topic-pattern' must be set."),
        (f"{JSON}, 'topic-pattern' = 'x'", "Option 'topic' and 'topic-pattern' shouldn't be set together."),
        (JSON, "Property group.id is required when using committed offset for offsets initializer"),
        (
            f"{JSON}, 'scan.startup.mode' = 'timestamp'",
            "'scan.startup.timestamp-millis' is required in 'timestamp' startup mode but missing.",
        ),
        (
            f"{JSON}, 'scan.startup.mode' = 'specific-offsets', 'scan.startup.specific-offsets' = 'foo'",
            "Invalid properties 'scan.startup.specific-offsets' should follow the format "
            "'partition:0,offset:42;partition:1,offset:300', but is 'foo'.",
        ),
        (
            f"{JSON}, 'scan.startup.mode' = 'nope'",
            "Expected one of: [[earliest-offset, latest-offset, group-offsets, timestamp, specific-offsets]]",
        ),
        (
            f"{JSON}, 'scan.startup.mode' = 'latest-offset', 'scan.bounded.mode' = 'timestamp'",
            "'scan.bounded.timestamp-millis' is required in 'timestamp' bounded mode but missing.",
        ),
        (
            f"{JSON}, 'key.format' = 'json'",
            "A key format 'key.format' requires the declaration of one or more of key fields using 'key.fields'.",
        ),
        (
            f"{JSON}, 'key.fields' = 'a'",
            "The option 'key.fields' can only be declared if a key format is defined using 'key.format'.",
        ),
        (f"{JSON}, 'key.format' = 'json', 'key.fields' = 'z'", "selected in the 'key.fields' option:\n[a, b]"),
        (
            f"{JSON}, 'key.fields-prefix' = 'k_'",
            "A key prefix is not allowed when option 'value.fields-include' is set to 'ALL'. Set it to 'EXCEPT_KEY' "
            "instead to avoid field overlaps.",
        ),
        (f"{JSON}, 'debezium-json.schema-include' = 'true'", "Unsupported options: debezium-json.schema-include"),
    ],
)
def test_wrong_options_are_named_as_in_flink(env: TableEnvironment, options: str, message: str) -> None:
    assert message in refused(env, options)


def test_a_primary_key_needs_a_format_of_changes(env: TableEnvironment) -> None:
    assert refused(env, JSON, KEYED).startswith(
        "The Kafka table 'default_catalog.default_database.t' with 'json' format doesn't support defining PRIMARY KEY "
        "constraint on the table, because it can't guarantee the semantic of primary key."
    )


def test_unknown_metadata_lists_those_there_are(env: TableEnvironment) -> None:
    assert (
        "The table reads these metadata keys:\ntopic\npartition\nheaders\nleader-epoch\noffset\n"
        "timestamp\ntimestamp-type\n"
    ) in refused(env, JSON, "a INT, m STRING METADATA FROM 'nope'")


def test_what_is_only_read_is_not_written(env: TableEnvironment) -> None:
    columns = "a INT, m INT METADATA FROM 'partition'"
    assert "The table writes these metadata keys:\nheaders\ntimestamp\n" in refused(
        env, JSON, columns, "INSERT INTO t VALUES (1, 2)"
    )


def test_exactly_once_needs_a_prefix(env: TableEnvironment) -> None:
    options = f"{JSON}, 'sink.delivery-guarantee' = 'exactly-once'"
    assert refused(env, options, statement="INSERT INTO t VALUES (1, 'x')").startswith(
        "sink.transactional-id-prefix must be specified when using DeliveryGuarantee.EXACTLY_ONCE."
    )


def test_a_property_that_clients_do_not_have_is_refused_with_the_one_that_is_meant(env: TableEnvironment) -> None:
    options = f"{JSON}, 'properties.max.pol.records' = '5', 'scan.startup.mode' = 'earliest-offset'"
    for statement in ("SELECT * FROM t", "INSERT INTO t VALUES (1, 'x')"):
        text = refused(env, options, statement=statement)
        assert text.startswith('Kafka client: No such configuration property: "max.pol.records"')


def test_upserts_need_a_primary_key(env: TableEnvironment) -> None:
    assert "'upsert-kafka' tables require to define a PRIMARY KEY constraint." in refused(env, UPSERT)


def test_upserts_are_of_rows(env: TableEnvironment) -> None:
    options = UPSERT.replace("'value.format' = 'json'", "'value.format' = 'debezium-json'")
    assert refused(env, options, KEYED).startswith(
        "'upsert-kafka' connector doesn't support 'debezium-json' as value format, because 'debezium-json' is not in "
        "insert-only mode."
    )


def test_batch_reads_no_changes(env: TableEnvironment) -> None:
    options = f"{KAFKA}, 'format' = 'canal-json', 'scan.startup.mode' = 'earliest-offset'"
    options += ", 'scan.bounded.mode' = 'latest-offset'"
    assert "currently only possible for INSERT-only table sources" in refused(env, options)


@pytest.mark.parametrize("statement", ["SELECT * FROM t", "INSERT INTO t VALUES (1, 'a')"])
def test_a_message_class_that_there_is_not_is_named(env: TableEnvironment, statement: str) -> None:
    options = f"{KAFKA}, 'format' = 'protobuf', 'protobuf.message-class-name' = 'com.shop.Order'"
    env.execute_sql(f"CREATE TABLE p (a INT, b STRING) WITH ({options})")
    with pytest.raises(ValidationError, match="get com.shop.Order descriptors error!\nthere is no such Python class"):
        env.execute_sql(statement.replace(" t", " p"))
    env.execute_sql("DROP TABLE p")
