"""Readers and writers: what they give the connectors, what comes back, and catalogs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import scurry.dataframe as pf
from scurry.dataframe._kafka import sink_options

Kinds = pf.DataType
SCHEMA = {"id": Kinds.int64(), "name": Kinds.string()}


def rows(df: pf.DataFrame) -> list[tuple[Any, ...]]:
    return sorted((tuple(row) for row in df.collect()), key=repr)


def people() -> pf.DataFrame:
    return pf.from_dict({"id": [1, 2], "name": ["a", None]})


class Described(Exception):
    """The description of a table that would be read."""


@pytest.fixture
def described(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the description that a call gives to the environment."""
    environment: Any = pf.get_or_create_table_environment()

    def refuse(descriptor: Any) -> None:
        raise Described(descriptor)

    monkeypatch.setattr(environment, "from_descriptor", refuse)

    def call(function: Any, *args: Any, **kwargs: Any) -> Any:
        with pytest.raises(Described) as caught:
            function(*args, **kwargs)
        return caught.value.args[0]

    return call


class TestFiles:
    @pytest.mark.parametrize("format", ["json", "parquet"])
    def test_what_is_written_is_read(self, mode: str, tmp_path: Path, format: str) -> None:
        write, read = getattr(people(), f"write_{format}"), getattr(pf, f"read_{format}")
        assert write(str(tmp_path)) is None
        write(str(tmp_path))
        assert rows(read(str(tmp_path), schema=SCHEMA)) == [(1, "a"), (1, "a"), (2, None), (2, None)]

    @pytest.mark.parametrize("format", ["json", "parquet"])
    def test_partitions_are_in_the_path(self, mode: str, tmp_path: Path, format: str) -> None:
        df = pf.from_dict({"id": [1, 2], "day": ["mon", "tue"]})
        getattr(df, f"write_{format}")(str(tmp_path), partition_by="day")
        assert sorted(name for name in os.listdir(tmp_path) if not name.startswith(".")) == ["day=mon", "day=tue"]
        schema = {"id": Kinds.int64(), "day": Kinds.string()}
        read = getattr(pf, f"read_{format}")
        assert rows(read(str(tmp_path), schema=schema, partition_by=["day"])) == [(1, "mon"), (2, "tue")]

    def test_overwriting(self, batch: None, tmp_path: Path) -> None:
        people().write_json(str(tmp_path))
        people().limit(1).write_json(str(tmp_path), mode="overwrite")
        assert len(rows(pf.read_json(str(tmp_path), schema=SCHEMA))) == 1

    def test_streaming_does_not_overwrite(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match="Streaming mode not support overwrite"):
            people().write_json(str(tmp_path), mode="overwrite")

    def test_computed_columns_and_watermarks(self, mode: str, tmp_path: Path) -> None:
        (tmp_path / "a.json").write_text('{"id": 1, "ts": "2026-01-01 00:00:00"}\n')
        schema = {"id": Kinds.int64(), "ts": Kinds.timestamp(3)}
        df = pf.read_json(
            str(tmp_path),
            schema=schema,
            computed_columns={"more": "id + 1"},
            watermark=("ts", "ts - INTERVAL '1' SECOND"),
        )
        assert df.columns == ["id", "ts", "more"]
        assert [row[2] for row in rows(df)] == [2]
        assert "WATERMARK FOR `ts`" in str(df.to_table().get_resolved_schema())

    def test_options(self, described: Any) -> None:
        found = described(
            pf.read_json, "/data", schema=SCHEMA, monitor_interval="10 s", path_regex_pattern=".*", partition_by="name",
            ignore_parse_errors=True, fail_on_missing_field=False, timestamp_format="ISO-8601",
            connector_options={"source.report-statistics": "NONE"}, format_options={"map-null-key.mode": "DROP"},
        )  # fmt: skip
        assert found.get_partition_keys() == ["name"]
        assert found.get_options() == {
            "connector": "filesystem", "format": "json", "path": "/data", "source.monitor-interval": "10 s",
            "source.path.regex-pattern": ".*", "json.ignore-parse-errors": "true",
            "json.fail-on-missing-field": "false",
            "json.timestamp-format.standard": "ISO-8601", "source.report-statistics": "NONE",
            "json.map-null-key.mode": "DROP",
        }  # fmt: skip
        parquet = described(pf.read_parquet, "/data", schema=SCHEMA, utc_timezone=True)
        assert parquet.get_options()["parquet.utc-timezone"] == "true"

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"path": ""}, "path must not be empty"),
            ({"path": 1}, "path must be a string"),
            ({"connector_options": {"path": "x"}}, "'path' must not be specified in connector_options"),
            ({"connector_options": {"json.x": "x"}}, "format option 'json.x' must be specified in format_options"),
            ({"format_options": {"x": "1", "json.x": "1"}}, "duplicate format option: 'json.x'"),
            ({"ignore_parse_errors": 1}, "ignore_parse_errors must be a bool or None"),
            ({"ignore_parse_errors": True, "format_options": {"ignore-parse-errors": "false"}},
             "conflicting values for option 'json.ignore-parse-errors'"),
            ({"partition_by": ["id", 1]}, "partition_by must be a string or a list of strings"),
            ({"partition_by": []}, "partition_by must not be empty"),
            ({"partition_by": ["id", "id"]}, "partition_by column names must not be duplicated"),
            ({"partition_by": "x"}, "Partition column 'x' not defined in the table schema"),
        ],
    )  # fmt: skip
    def test_wrong_options(self, options: Any, message: str) -> None:
        with pytest.raises((TypeError, ValueError), match=message):
            pf.read_json(**{"path": "/data", "schema": SCHEMA, **options})

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"mode": 1}, "mode must be a string"),
            ({"mode": "x"}, "mode must be 'append' or 'overwrite'"),
            ({"sink_parallelism": "2"}, "sink_parallelism must be an int or None"),
            ({"auto_compaction": "x"}, "auto_compaction must be a bool or None"),
            ({"statement_set": 1}, "statement_set must be a StatementSet or None"),
        ],
    )
    def test_wrong_arguments_of_writers_are_found_before_anything_runs(self, options: Any, message: str) -> None:
        with pytest.raises((TypeError, ValueError), match=message):
            pf.DataFrame(None).write_json("/data", **options)


class TestGeneric:
    def test_any_connector(self, mode: str, capfd: pytest.CaptureFixture[str]) -> None:
        df = pf.read_generic(
            "datagen", schema={"id": Kinds.int64()},
            options={"number-of-rows": "3", "fields.id.kind": "sequence", "fields.id.start": "1", "fields.id.end": "3"},
        )  # fmt: skip
        df.write_generic("print", options={})
        printed = [line.rpartition("> ")[2] for line in capfd.readouterr().out.splitlines()]
        assert sorted(printed) == ["+I[1]", "+I[2]", "+I[3]"]

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"connector": ""}, "connector must not be empty"),
            ({"schema": []}, "schema must be a dict of column names and DataType values"),
            ({"schema": {}}, "schema must not be empty"),
            ({"schema": {1: Kinds.int8()}}, "schema column names must be strings"),
            ({"schema": {"a": "INT"}}, "schema column 'a' must use a DataType value"),
            ({"options": []}, "options must be a dict of string keys and values"),
            ({"options": {"": "x"}}, "option keys must not be empty"),
            ({"options": {"a": 1}}, "option 'a' must have a string value"),
            (
                {"options": {"connector": "x"}},
                "connector must be specified with the connector argument",
            ),
            ({"computed_columns": []}, "computed_columns must be a dict of string keys and values"),
            ({"computed_columns": {"a": 1}}, "computed column 'a' must use a string expression"),
            ({"computed_columns": {"a": " "}}, "computed column 'a' expression must not be empty"),
            ({"watermark": ("a", 1)}, "watermark column and expression must be strings"),
            ({"watermark": ("a", " ")}, "watermark column and expression must not be empty"),
            ({"computed_columns": {"id": "1"}}, "duplicate column names"),
        ],
    )
    def test_wrong_arguments(self, options: Any, message: str) -> None:
        given = {"connector": "datagen", "schema": {"id": Kinds.int64()}, "options": {}, **options}
        with pytest.raises((TypeError, ValueError), match=message):
            pf.read_generic(given.pop("connector"), **given)

    def test_tables_of_catalogs(self, mode: str, tmp_path: Path) -> None:
        environment = pf.get_or_create_table_environment()
        environment.execute_sql(
            f"CREATE TABLE t (id BIGINT, name STRING) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', "
            "'format' = 'json')"
        )
        people().write_catalog_table("t")
        assert rows(pf.read_catalog_table("default_catalog.default_database.t")) == [(1, "a"), (2, None)]
        more = pf.read_catalog_table("t", computed_columns={"more": "id * 2"})
        assert rows(more.select("more")) == [(2,), (4,)]
        with pytest.raises(ValueError, match="Table `none` was not found"):
            pf.read_catalog_table("none")
        environment.create_temporary_view("v", people().to_table())
        with pytest.raises(ValueError, match="is a view, computed columns and watermarks can only be added to tables"):
            pf.read_catalog_table("v", computed_columns={"a": "1"})
        with pytest.raises(ValueError, match="none"):
            people().write_catalog_table("none")
        with pytest.raises(TypeError, match="overwrite must be a bool"):
            people().write_catalog_table("t", overwrite=1)  # type: ignore[arg-type]

    def test_statement_sets_run_writes_together(self, mode: str, tmp_path: Path) -> None:
        together = pf.create_statement_set()
        people().write_json(str(tmp_path / "a"), statement_set=together)
        people().write_parquet(str(tmp_path / "b"), statement_set=together)
        assert not (tmp_path / "a").exists()
        assert together.explain() == together.explain() != ""
        together.execute().wait()
        assert len(rows(pf.read_json(str(tmp_path / "a"), schema=SCHEMA))) == 2
        assert len(rows(pf.read_parquet(str(tmp_path / "b"), schema=SCHEMA))) == 2
        df = people()
        pf.set_table_environment(None)
        with pytest.raises(ValueError, match="DataFrame and statement_set must belong to the same TableEnvironment"):
            df.write_json("/data", statement_set=pf.create_statement_set())


class TestKafka:
    GIVEN = {"schema": SCHEMA, "topic": "t"}

    def test_source(self, described: Any) -> None:
        found = described(
            pf.read_kafka, "h:1", schema=SCHEMA, topic=["a", "b"], group_id="g", format_options={"x": "1"},
            key_format="raw", key_fields=["id"], startup_mode="specific-offsets",
            startup_specific_offsets={0: 10, 1: 20}, topic_partition_discovery_interval=None,
            properties={"client.id": "c"}, options={"scan.parallelism": "2"},
        )  # fmt: skip
        assert found.get_options() == {
            "connector": "kafka", "properties.bootstrap.servers": "h:1", "topic": "a;b", "properties.group.id": "g",
            "value.format": "json", "value.json.x": "1", "key.format": "raw", "key.fields": "id",
            "value.fields-include": "ALL", "scan.startup.mode": "specific-offsets",
            "scan.startup.specific-offsets": "partition:0,offset:10;partition:1,offset:20",
            "scan.topic-partition-discovery.interval": "0", "scan.bounded.mode": "unbounded",
            "properties.client.id": "c", "scan.parallelism": "2",
        }  # fmt: skip

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"topic": None}, "either 'topic' or 'topic_pattern'"),
            ({"topic_pattern": ".*"}, "mutually exclusive"),
            ({"topic": []}, "topic must not be an empty list"),
            ({"topic": [1]}, "topic list elements must be strings"),
            ({"key_fields": "id"}, "key_fields must be a list"),
            ({"key_fields": []}, "key_fields must not be empty"),
            ({"key_fields": [1]}, "key_fields elements must be strings"),
            ({"startup_timestamp_millis": "1"}, "startup_timestamp_millis must be an int"),
            ({"startup_specific_offsets": {"0": 1}}, "offsets keys must be integers"),
            ({"startup_specific_offsets": {0: "1"}}, "offsets values must be integers"),
            ({"options": {"topic": "x"}}, "conflicting values for option 'topic'"),
            ({"format_options": {"x": "1"}, "value_format_options": {"x": "2"}}, "conflicting values for option 'x'"),
        ],
    )
    def test_wrong_arguments(self, options: Any, message: str) -> None:
        with pytest.raises((TypeError, ValueError), match=message):
            pf.read_kafka("h:1", **{**self.GIVEN, **options})

    def test_sink(self) -> None:
        given: dict[str, Any] = {
            "format": "json", "format_options": None, "key_format": None, "key_format_options": None,
            "key_fields": None, "value_format": "avro", "value_format_options": None, "value_fields_include": "ALL",
            "transactional_id_prefix": None, "partitioner": "fixed", "properties": None, "sink_parallelism": 2,
            "options": None,
        }  # fmt: skip
        found = sink_options("h:1", "t", "none", **given)
        assert found == {
            "properties.bootstrap.servers": "h:1", "topic": "t", "value.format": "avro", "value.fields-include": "ALL",
            "sink.delivery-guarantee": "none", "sink.partitioner": "fixed", "sink.parallelism": "2",
        }  # fmt: skip
        with pytest.raises(ValueError, match="transactional_id_prefix is required"):
            sink_options("h:1", "t", "exactly-once", **given)


class TestCatalogs:
    def test_are_made_and_used(self) -> None:
        assert (pf.get_current_catalog(), pf.get_current_database()) == ("default_catalog", "default_database")
        pf.create_catalog("mine", {"type": "generic_in_memory", "default-database": "first"})
        assert "mine" in pf.list_catalogs()
        pf.use_catalog("mine")
        assert (pf.get_current_catalog(), pf.list_databases()) == ("mine", ["first"])
        pf.get_or_create_table_environment().execute_sql("CREATE DATABASE later")
        pf.use_database("later")
        assert pf.get_current_database() == "later"
        assert pf.get_catalog("mine") is not None and pf.get_catalog("none") is None

    @pytest.mark.parametrize(
        ("call", "message"),
        [
            (
                lambda: pf.create_catalog("default_catalog", {"type": "x"}),
                "a catalog named 'default_catalog' alrea",
            ),
            (lambda: pf.create_catalog("c", {"type": "none"}), "none"),
            (lambda: pf.create_catalog(1, {}), "name must be a string"),  # type: ignore[arg-type]
            (lambda: pf.create_catalog("c", []), "options must be a dict of string keys and values"),  # type: ignore
            (lambda: pf.use_catalog("none"), "no catalog named 'none' exists"),
            (lambda: pf.use_database("none"), "no database named 'none' exists in catalog 'default_catalog'"),
            (lambda: pf.get_catalog(""), "name must not be empty"),
        ],
    )
    def test_wrong_arguments(self, call: Any, message: str) -> None:
        with pytest.raises((TypeError, ValueError), match=message):
            call()
