from __future__ import annotations

import warnings

import pytest

from scurry.common import Configuration
from scurry.common._config.python import warn_about_jars
from scurry.common._config.validation import validate
from scurry.datastream import StreamExecutionEnvironment


@pytest.mark.parametrize(
    ("jar", "content"),
    [
        ("flink-sql-connector-kafka-4.0.1-2.0.jar", "Kafka"),
        ("flink-connector-kafka-4.0.1-2.0.jar", "Kafka"),
        ("kafka-clients-3.9.0.jar", "Kafka"),
        ("flink-connector-jdbc-3.3.0-1.20.jar", "JDBC"),
        ("flink-connector-jdbc-core-4.0.0-2.0.jar", "JDBC"),
        ("postgresql-42.7.4.jar", "JDBC"),
        ("flink-sql-avro-2.3.0.jar", "Avro"),
        ("flink-sql-avro-confluent-registry-2.3.0.jar", "Avro with a schema registry"),
        ("flink-sql-parquet-2.3.0.jar", "Parquet"),
        ("parquet-avro-1.13.1.jar", "Parquet"),
        ("flink-json-2.3.0.jar", "JSON"),
        ("iceberg-flink-runtime-2.0-1.10.0.jar", "Iceberg"),
    ],
)
def test_jars_of_what_is_built_in_are_said_to_be_needless(jar: str, content: str) -> None:
    with pytest.warns(UserWarning, match="scurry loads no jars; what these hold is built in") as caught:
        warn_about_jars([f"file:///opt/jars/{jar}"])
    assert [str(warning.message).rpartition(": ")[2] for warning in caught] == [f"{jar} ({content})"]


@pytest.mark.parametrize("jar", ["my-udfs.jar", "jsonpath-2.9.jar", "mysql-connector-j-9.1.0.jar", "flink-avrora.jar"])
def test_other_jars_are_said_to_be_missed_with_what_to_do(jar: str) -> None:
    with pytest.warns(UserWarning, match=rf"nothing in their place for: {jar}\. .*spark.jars.packages.*env.from_spark"):
        warn_about_jars([f"file:///{jar}"])


def test_all_jars_of_a_call_take_one_warning_of_each_kind() -> None:
    env = StreamExecutionEnvironment()
    kafka, jdbc = "file:///flink-connector-kafka-4.jar", "file:///flink-connector-jdbc-3.jar"
    with pytest.warns(UserWarning) as caught:
        env.add_jars(kafka, "file:///a.jar", jdbc, "file:///b.jar")
    assert len(caught) == 2
    assert "flink-connector-kafka-4.jar (Kafka), flink-connector-jdbc-3.jar (JDBC)" in str(caught[0].message)
    assert "a.jar, b.jar" in str(caught[1].message)


def test_the_warning_names_the_line_of_the_program() -> None:
    with pytest.warns(UserWarning) as caught:
        StreamExecutionEnvironment().add_classpaths("file:///kafka-clients-3.9.0.jar")
    assert caught[0].filename == __file__


def test_no_jars_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        StreamExecutionEnvironment().add_jars()
        validate({"pipeline.jars": ""})


@pytest.mark.parametrize(
    "text", ["file:///kafka-clients-1.jar;file:///b.jar", "['file:///kafka-clients-1.jar', 'file:///b.jar']",
             "[file:///kafka-clients-1.jar, file:///b.jar]", "- file:///kafka-clients-1.jar\n- file:///b.jar"]
)  # fmt: skip
def test_jars_of_the_configuration_are_told_apart_too(text: str) -> None:
    assert Configuration.parse_list_value(text) == ["file:///kafka-clients-1.jar", "file:///b.jar"]
    with pytest.warns(UserWarning) as caught:
        validate({"pipeline.jars": text, "pipeline.classpaths": "file:///c.jar"})
    assert [str(warning.message).partition("for: ")[2].partition(". ")[0] for warning in caught] == ["", "b.jar, c.jar"]
