"""Files and tables of lakes in object stores: servers that answer as S3, Azure and Google Cloud Storage do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scurry.common import Configuration, Encoder, Types, WatermarkStrategy
from scurry.connectors.files.filesystem import file_system
from scurry.connectors.sink import WriterContext
from scurry.connectors.source import BatchLimits
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors import FileCompactor, FileCompactStrategy, FileSource, StreamFormat
from scurry.datastream.connectors.file_system import FileSink
from scurry.errors import SourceNotFoundError, StorageAccessError
from scurry.table import EnvironmentSettings, TableEnvironment
from support.servers import azurite as azure
from support.servers import gcs as google
from support.servers.seaweedfs import KEY, SECRET, SeaweedServer, client_of, environment_of

pytestmark = pytest.mark.servers

#: npm takes most of a minute to install Azurite.
AZURE = pytest.param("azure", marks=pytest.mark.nightly)
GCS = pytest.param("gcs", marks=pytest.mark.nightly)


@pytest.fixture(scope="module")
def seaweed() -> Iterator[SeaweedServer]:
    with SeaweedServer() as made:
        client_of(made.port).create_bucket(Bucket="lake")
        yield made


@pytest.fixture(scope="module")
def azurite() -> Iterator[azure.AzuriteServer]:
    with azure.AzuriteServer() as made:
        yield made


@pytest.fixture(scope="module")
def gcs() -> Iterator[google.GcsServer]:
    with google.GcsServer() as made:
        made.make_bucket("lake")
        yield made


@pytest.fixture(params=["s3", AZURE])
def path(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    name = "".join(letter if letter.isalnum() else "-" for letter in request.node.name)
    if request.param == "s3":
        given, root = environment_of(request.getfixturevalue("seaweed").port), "s3://lake"
    elif request.param == "gcs":
        given, root = google.environment_of(request.getfixturevalue("gcs").port), "gs://lake"
    else:
        given = azure.environment_of(request.getfixturevalue("azurite").port)
        root = "abfss://lake@devstoreaccount1.dfs.core.windows.net"
    for variable, value in given.items():
        monkeypatch.setenv(variable, value)
    return f"{root}/{name}"


#: pyarrow's client sometimes waits 7 s for an answer of Azurite when it deletes a file.
NIGHTLY_AZURE = pytest.param("azure", "csv", marks=pytest.mark.nightly)
NIGHTLY_GCS = pytest.param("gcs", "csv", marks=pytest.mark.nightly)
ON_S3 = pytest.mark.parametrize("path", ["s3"], indirect=True)


def environment() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment(Configuration.from_dict({"scurry.runner": "local"}))


def lines(path: str) -> list[str]:
    source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), path).build()
    stream = environment().from_source(source, WatermarkStrategy.no_watermarks(), "files")
    with stream.execute_and_collect() as found:
        return sorted(found)


def names(path: str) -> list[str]:
    files, inner = file_system(path)
    return sorted(status.path.rpartition("/")[2] for status in files.files(inner))


@pytest.mark.parametrize(
    ("path", "compacts"),
    [("s3", False), ("s3", True), *(pytest.param(name, False, marks=pytest.mark.nightly) for name in ("azure", "gcs"))],
    indirect=["path"],
)
def test_what_a_sink_writes_is_read(path: str, compacts: bool) -> None:
    texts = [f"v{number:04}" for number in range(2000)]
    builder = FileSink.for_row_format(path, Encoder.simple_string_encoder())
    if compacts:
        often = FileCompactStrategy.builder().enable_compaction_on_checkpoint(2).build()
        builder = builder.enable_compact(often, FileCompactor.concat_file_compactor())
    env = environment()
    env.from_collection(texts, Types.STRING()).sink_to(builder.build())
    env.execute()
    assert lines(path) == texts
    assert names(path) and all(name.startswith("compacted-") == compacts for name in names(path))


@pytest.mark.parametrize("path", ["s3", AZURE, GCS], indirect=True)
def test_an_object_that_was_copied_and_not_yet_deleted_is_committed_once(path: str) -> None:
    sink = FileSink.for_row_format(path, Encoder.simple_string_encoder()).build()
    files, _ = file_system(path)
    committer = sink.create_committer("job/1")
    writer = sink.create_writer(WriterContext(0, 1, 0, "job/1"))
    writer.write(["a", "b"])
    parts = writer.prepare_commit()
    with files.open_input(parts[0].staged) as staged, files.open_output(parts[0].target) as target:
        target.write(staged.read())  # a rename on an object store, half done
    for _ in range(2):
        committer.restarted()
        committer.commit(0, parts)
        assert lines(path) == ["a", "b"]
    assert not files.exists(parts[0].staged)


@pytest.mark.parametrize(
    ("path", "kind"),
    [NIGHTLY_AZURE, NIGHTLY_GCS, *(("s3", kind) for kind in ("csv", "json", "parquet", "orc", "avro"))],
    indirect=["path"],
)
def test_tables_of_files(path: str, kind: str) -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    env.get_config().set("scurry.runner", "local")
    env.execute_sql(
        f"CREATE TABLE t (v STRING, n INT, p STRING) PARTITIONED BY (p) WITH ('connector' = 'filesystem', "
        f"'path' = '{path}', 'format' = '{kind}')"
    )
    env.execute_sql("INSERT INTO t VALUES ('a', 1, 'x'), ('b', 2, 'y')").wait()
    env.execute_sql("INSERT OVERWRITE t PARTITION (p = 'x') VALUES ('c', 3)").wait()
    with env.execute_sql("SELECT v, n, p FROM t").collect() as rows:
        assert sorted(map(tuple, rows)) == [("b", 2, "y"), ("c", 3, "x")]


def in_both_modes(statements: list[str], query: str) -> list[Any]:
    found = []
    for settings in (EnvironmentSettings.in_streaming_mode(), EnvironmentSettings.in_batch_mode()):
        env = TableEnvironment.create(settings)
        env.get_config().set("scurry.runner", "local")
        for statement in statements if settings.is_streaming_mode() else statements[:1]:
            result = env.execute_sql(statement)
            if statement.startswith("INSERT"):
                result.wait()
    with env.execute_sql(query).collect() as rows:
        found = sorted(map(tuple, rows))
    return found


def test_tables_of_delta(path: str) -> None:
    create = f"CREATE TABLE t (k INT, v STRING) WITH ('connector' = 'delta', 'table-path' = '{path}')"
    written = "INSERT INTO t VALUES (1, 'a'), (2, 'b')"
    assert in_both_modes([create, written, written], "SELECT * FROM t") == [(1, "a"), (1, "a"), (2, "b"), (2, "b")]


@ON_S3
def test_tables_of_iceberg(path: str, tmp_path: Path, seaweed: SeaweedServer) -> None:
    store = {
        "s3.endpoint": f"http://127.0.0.1:{seaweed.port}", "s3.access-key-id": KEY, "s3.secret-access-key": SECRET,
        "s3.region": "us-east-1",
    }  # fmt: skip
    options = "".join(f", 'properties.{key}' = '{value}'" for key, value in store.items())
    create = (
        "CREATE TABLE t (k INT, v STRING) WITH ('connector' = 'iceberg', 'catalog-name' = 'c', 'catalog-type' = 'sql', "
        f"'catalog-database' = 'd', 'uri' = 'sqlite:///{tmp_path}/c.db', 'warehouse' = '{path}'{options})"
    )
    written = "INSERT INTO t VALUES (1, 'a'), (2, 'b')"
    assert in_both_modes([create, written, written], "SELECT * FROM t") == [(1, "a"), (1, "a"), (2, "b"), (2, "b")]


def test_what_is_not_there_or_refused_is_named(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), path).build()
    with pytest.raises(SourceNotFoundError, match="there is no file or directory lake/"):
        source.create_enumerator(1, BatchLimits())
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrongzy7wzy7w")
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", "d3Jvbmc3NzMxNzczMQ==")
    source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), path).build()
    with pytest.raises(
        StorageAccessError, match="access is refused.*AWS_ACCESS_KEY_ID.*AZURE_STORAGE_ACCOUNT_KEY"
    ) as caught:
        source.create_enumerator(1, BatchLimits())
    assert "zy7w" not in str(caught.value) and "NzMxNzczMQ" not in str(caught.value)
