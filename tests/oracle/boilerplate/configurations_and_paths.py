"""Values of configurations by their kind, bytes among them, and paths as getters show them."""

# compare: ordered
from __future__ import annotations

from pyflink.common import ConfigOptions, Configuration
from pyflink.datastream import (
    EmbeddedRocksDBStateBackend,
    FileSystemCheckpointStorage,
    JobManagerCheckpointStorage,
    StreamExecutionEnvironment,
)


def show(what, get):
    try:
        print(what, repr(get(what)))
    except Exception:
        print(what, "refused")


def savepoint_directory(path):
    env = StreamExecutionEnvironment.get_execution_environment()
    return env.set_default_savepoint_directory(path).get_default_savepoint_directory()


def rocks_paths(path):
    backend = EmbeddedRocksDBStateBackend()
    backend.set_db_storage_paths(path)
    return backend.get_db_storage_paths()


def text(value):
    return Configuration().set_string("k", value)


for value in ("5", "+5", "-0", " 5", "5.0", "5L", "1_000", "", "9223372036854775807", "9223372036854775808"):
    show(value, lambda value: text(value).get_integer("k", 0))
for value in ("1.5", " 1.5", "1", ".5", "1e3", "1.5f", "1d", "NaN", "nan", "Infinity", "-Infinity", "inf", "1_0", "-0"):
    show(value, lambda value: text(value).get_float("k", 0))
show("an int read as a float", lambda _: Configuration().set_integer("k", 5).get_float("k", 0))
show("a float read as an int", lambda _: Configuration().set_float("k", 5.7).get_integer("k", 0))
show("a boolean read as an int", lambda _: Configuration().set_boolean("k", True).get_integer("k", 0))
show("an int read as text", lambda _: Configuration().set_integer("k", 5).get_string("k", ""))
show("missing text", lambda _: Configuration().get_string("k", None))
show("missing int", lambda _: Configuration().get_integer("k", None))

for value in (b"", b"hi", bytes(range(100))):
    configuration = Configuration().set_bytearray("k", bytearray(value))
    print(configuration.get_bytearray("k", bytearray(b"default")) == bytearray(value))
    print(repr(configuration.get_string("k", "")), configuration.to_dict(), configuration.key_set())
    print(Configuration().add_all(configuration, "p.").get_bytearray("p.k", bytearray()) == bytearray(value))
    print(configuration == Configuration().set_bytearray("k", bytearray(value)), configuration.remove_config("k"))
typed = Configuration().set_string("s", "5").set_integer("i", 5).set_boolean("b", True).set_float("f", 5)
typed.set_bytearray("y", bytearray(b"hi"))
changed = Configuration(typed).set_string("i", "6")
changed.remove_config("b")
for configuration in (typed, Configuration().add_all(typed, "p."), changed):
    values = {}
    configuration.add_all_to_dict(values)
    print(sorted((key, bytes(value) if key.endswith("y") else value) for key, value in values.items()))
show("default", lambda _: Configuration().get_bytearray("k", bytearray(b"default")))
show("bytes read as an int", lambda _: Configuration().set_bytearray("k", bytearray(b"5")).get_integer("k", 0))
show("text read as bytes", lambda _: text("5").get_bytearray("k", bytearray()))
show("no bytes", lambda _: Configuration().set_bytearray("k", None))

PATHS = [
    "file:///tmp/sp", "file:///tmp//sp/", "file:/x", "file://host/x", "hdfs://nn:9000/a/b/", "s3://bucket/key",
    "file:///a b", "file:///a/./b/../c", "",
]  # fmt: skip
for path in [*PATHS, "/tmp/sp/", "tmp/x", "/a/../b", "/a%20b", "s3://bucket", "file:///", "  /a  "]:
    show(path, savepoint_directory)
for path in [*PATHS, "s3://bucket", "file:///", "hdfs://nn:9000/"]:
    show(path, lambda path: FileSystemCheckpointStorage(path).get_checkpoint_path())
    show(path, lambda path: JobManagerCheckpointStorage(path).get_checkpoint_path())
for path in ("/tmp/a", "/tmp//a/", "file:///tmp/b", "file:/tmp/c/", "hdfs://nn/y", "relative/x", ""):
    show(path, rocks_paths)
print(ConfigOptions.key("k").long_type().no_default_value() is not None)
