"""Keys for the Python code and packages that the workers of a job need; all but the last are PyFlink's."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable

from scurry.common._config.option import ConfigOption, parse_boolean
from scurry.errors.user_frames import user_stack_level

PYTHON_FILES = ConfigOption(
    "python.files", str, None, "Files of Python code (.py, .zip, .whl, .egg) and directories, separated by commas."
)
PYTHON_ARCHIVES = ConfigOption(
    "python.archives",
    str,
    None,
    "Archives, unpacked into the working directory of workers: `path` or `path#target`, separated by commas.",
)
PYTHON_REQUIREMENTS = ConfigOption(
    "python.requirements",
    str,
    None,
    "A requirements.txt whose packages workers need: `path`, or `path#directory` with a directory of packages.",
)
PYTHON_EXECUTABLE = ConfigOption("python.executable", str, None, "The Python interpreter of workers.")
PYTHON_CLIENT_EXECUTABLE = ConfigOption(
    "python.client.executable", str, None, "The Python interpreter that `scurry run` runs the program with."
)
PYTHON_PATH = ConfigOption(
    "python.pythonpath", str, None, "Directories on the workers' machines to import from, separated as in PYTHONPATH."
)
SHIP_PROGRAM = ConfigOption(
    "scurry.ship-program",
    parse_boolean,
    True,
    "Whether the modules of the program's directory are sent to the workers of a cluster.",
)

PYTHON_OPTIONS: tuple[ConfigOption[object], ...] = (
    PYTHON_FILES,
    PYTHON_ARCHIVES,
    PYTHON_REQUIREMENTS,
    PYTHON_EXECUTABLE,
    PYTHON_CLIENT_EXECUTABLE,
    PYTHON_PATH,
    SHIP_PROGRAM,
)  # type: ignore[assignment]


#: Beginning of a jar's name -> its contents.
_BUILT_IN = {
    r"flink-(sql-)?connector-kafka|kafka-clients": "Kafka",
    r"flink-connector-jdbc|postgresql|sqlite-jdbc": "JDBC",
    r"flink-connector-files|flink-file-sink-common": "files",
    r"flink-connector-datagen": "data generators",
    r"flink-connector-base|flink-streaming|flink-python|flink-core|flink-clients": "the DataStream API",
    r"flink-(sql-)?avro-confluent-registry": "Avro with a schema registry",
    r"flink-(sql-)?avro|avro": "Avro",
    r"flink-(sql-)?parquet|parquet": "Parquet",
    r"flink-(sql-)?orc|orc": "ORC",
    r"flink-(sql-)?protobuf|protobuf": "Protobuf",
    r"flink-(sql-)?csv": "CSV",
    r"flink-(sql-)?json": "JSON",
    r"flink-statebackend": "state of any size",
    r"iceberg-flink": "Iceberg",
    r"delta-flink": "Delta Lake",
}

_CONTENTS = [(re.compile(rf"({names})(?![a-z])"), content) for names, content in _BUILT_IN.items()]


def parse_list_value(value: str | None) -> list[str]:
    """Return the items of a list as configurations write it: `a;b`, `[a, b]`, or a YAML item per line."""
    text = (value or "").strip()
    if text.startswith("["):
        items = text.strip("[]").split(",")
    elif text.startswith("- "):
        items = [line.strip().removeprefix("- ") for line in text.splitlines()]
    else:
        items = text.split(";")
    return [item.strip().strip("'\"") for item in items if item.strip()]


def warn_about_jars(jars: Iterable[str]) -> None:
    """Warn once about jars that are not needed here, and once about unknown ones, whose classes will be missing.

    Args:
        jars: Paths or URLs.
    """
    needless, unknown = [], []
    for name in (jar.rstrip("/").rpartition("/")[2] for jar in jars):
        content = _content(name)
        if content is None:
            unknown.append(name)
        else:
            needless.append(f"{name} ({content})")
    if needless:
        _warn(f"scurry loads no jars; what these hold is built in: {', '.join(needless)}")
    if unknown:
        _warn(
            f"scurry loads no jars and has nothing in their place for: {', '.join(unknown)}. A connector of Spark's "
            "goes into spark.jars or spark.jars.packages and is used with env.from_spark and stream.to_spark; Java "
            "functions have to be written in Python"
        )


def _content(name: str) -> str | None:
    return next((content for names, content in _CONTENTS if names.match(name)), None)


def _warn(message: str) -> None:
    warnings.warn(message, stacklevel=user_stack_level())
