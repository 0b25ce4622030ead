"""The runners: a program gives the same results on each of them, whatever the parallelism."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from scurry.common import Configuration
from scurry.connectors.collect_sink import CollectSink
from scurry.datastream import DataStream, StreamExecutionEnvironment

#: Builds a program and returns the streams whose records count, by name.
Program = Callable[[StreamExecutionEnvironment], dict[str, DataStream]]


@dataclass(frozen=True)
class Runner:
    """One way to execute a program."""

    name: str
    mode: str

    def run(self, program: Program, parallelism: int = 1) -> dict[str, list[Any]]:
        """The records of each stream, in the order they came."""
        configuration = Configuration()
        configuration.set_string("scurry.runner", self.name)
        configuration.set_string("execution.runtime-mode", self.mode)
        env = StreamExecutionEnvironment.get_execution_environment(configuration)
        env.set_parallelism(parallelism)
        results: dict[str, list[Any]] = {}
        for name, stream in program(env).items():
            results[name] = []
            stream._sink(CollectSink(results[name].extend), name)
        env.execute("parity")
        return results
