"""A real broker, started once, on free ports of this machine."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import pytest

from scurry.common import Configuration
from scurry.datastream import StreamExecutionEnvironment
from scurry.errors import JavaMissingError
from scurry.spark.session.java import ensure_java
from scurry.testing.kafka import CENTRAL, fetch
from support.kafka.broker import Kafka, tool_named
from support.model.kept import protocol_is_kept, protocol_trace

__all__ = ["protocol_is_kept", "protocol_trace"]

#: Why there is no broker.
_missing: list[str] = []


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says once what all skipped tests lack."""
    for reason in dict.fromkeys(_missing):
        terminalreporter.write_line(f"Kafka tests were skipped: {reason}")


def _skip(reason: str) -> NoReturn:
    _missing.append(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    try:
        ensure_java()
        fetch()
    except JavaMissingError:
        _skip("no Java 17 for the broker; make setup brings one")
    except OSError as error:
        _skip(f"the broker's jars cannot be fetched from {CENTRAL}: {error}")
    kafka = Kafka(tmp_path_factory.mktemp("kafka"))
    kafka.broker.start()
    yield kafka
    kafka.broker.stop()


@pytest.fixture(scope="session")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a real schema registry, with Confluent's API."""
    tool = tool_named("apicurio")
    if shutil.which("java") is None:
        pytest.skip("a schema registry needs Java")
    try:
        tool.fetch()
    except OSError as error:
        pytest.skip(f"the schema registry cannot be fetched from {tool.CENTRAL}: {error}")
    registry = tool.Registry(tmp_path_factory.mktemp("apicurio"))
    registry.start()
    yield registry.url
    registry.stop()


@pytest.fixture
def env_of() -> Callable[..., StreamExecutionEnvironment]:
    """Environments of the in-process runner."""

    def make(mode: str = "STREAMING", **configuration: Any) -> StreamExecutionEnvironment:
        settings = Configuration().set_string("scurry.runner", "local")
        settings.set_string("execution.runtime-mode", mode)
        for name, value in configuration.items():
            settings.set_string(name.replace("__", "-").replace("_", "."), str(value))
        return StreamExecutionEnvironment.get_execution_environment(settings)

    return make
