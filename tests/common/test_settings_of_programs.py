"""A setting means the same however it is given: in a Configuration, to an environment, in SQL, on the command line."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable

import pytest

from scurry.common import Configuration
from scurry.common._process import launch
from scurry.datastream import StreamExecutionEnvironment
from scurry.errors import ConfigError, UnknownConfigError
from scurry.sql.statements.client_statements import ClientStatements
from scurry.sql.statements.session import TableSession
from scurry.sql.syntax.parser import parse
from scurry.table import EnvironmentSettings, TableEnvironment

#: Keys that programs for Flink set, with a value of each.
SILENT = {
    "akka.ask.timeout": "60 s",
    "classloader.check-leaked-classloader": "false",
    "classloader.resolve-order": "parent-first",
    "client.timeout": "60 s",
    "cluster.evenly-spread-out-slots": "true",
    "env.java.opts.all": "-Xmx1g",
    "execution.attached": "true",
    "execution.batch-shuffle-mode": "ALL_EXCHANGES_BLOCKING",
    "execution.buffer-timeout.interval": "10 ms",
    "execution.checkpointing.interval": "10 s",
    "execution.checkpointing.max-concurrent-checkpoints": "1",
    "execution.checkpointing.min-pause": "1 s",
    "execution.checkpointing.mode": "EXACTLY_ONCE",
    "execution.checkpointing.timeout": "10 min",
    "execution.checkpointing.tolerable-failed-checkpoints": "3",
    "execution.checkpointing.unaligned.enabled": "true",
    "execution.runtime-mode": "STREAMING",
    "execution.shutdown-on-attached-exit": "true",
    "heartbeat.timeout": "50000",
    "io.tmp.dirs": "/tmp",
    "jobmanager.memory.process.size": "1600m",
    "jobmanager.rpc.address": "localhost",
    "parallelism.default": "2",
    "pipeline.auto-watermark-interval": "200 ms",
    "pipeline.closure-cleaner-level": "RECURSIVE",
    "pipeline.generic-types": "true",
    "pipeline.global-job-parameters": "a:1,b:2",
    "pipeline.max-parallelism": "128",
    "pipeline.name": "orders",
    "pipeline.object-reuse": "true",
    "pipeline.operator-chaining.enabled": "true",
    "python.execution-mode": "thread",
    "python.fn-execution.arrow.batch.size": "1000",
    "python.fn-execution.bundle.size": "1000",
    "python.fn-execution.bundle.time": "1000",
    "python.fn-execution.memory.managed": "true",
    "python.metric.enabled": "false",
    "python.profile.enabled": "false",
    "python.state.cache-size": "1000",
    "restart-strategy.fixed-delay.attempts": "3",
    "restart-strategy.fixed-delay.delay": "10 s",
    "restart-strategy.type": "fixed-delay",
    "sql-client.execution.result-mode": "tableau",
    "state.backend.incremental": "true",
    "state.backend.local-recovery": "true",
    "state.backend.rocksdb.memory.managed": "true",
    "state.backend.type": "rocksdb",
    "state.checkpoints.dir": "file:///tmp/checkpoints",
    "state.savepoints.dir": "file:///tmp/savepoints",
    "table.display.max-column-width": "100",
    "table.dml-sync": "false",
    "table.exec.mini-batch.allow-latency": "1 s",
    "table.exec.mini-batch.enabled": "true",
    "table.exec.mini-batch.size": "1000",
    "table.exec.resource.default-parallelism": "2",
    "table.exec.source.idle-timeout": "5 s",
    "table.exec.state.ttl": "1 h",
    "table.local-time-zone": "UTC",
    "table.optimizer.agg-phase-strategy": "TWO_PHASE",
    "table.optimizer.distinct-agg.split.enabled": "true",
    "table.optimizer.join-reorder-enabled": "true",
    "table.planner": "blink",
    "taskmanager.memory.managed.fraction": "0.4",
    "taskmanager.memory.process.size": "2g",
    "taskmanager.memory.task.off-heap.size": "80m",
    "taskmanager.network.memory.fraction": "0.1",
    "taskmanager.numberOfTaskSlots": "4",
    "web.submit.enable": "false",
}
#: Keys of which a program would miss the effect.
WARNED = {
    "execution.target": "remote",
    "fs.default-scheme": "hdfs://host:1",
    "high-availability.type": "zookeeper",
    "kubernetes.cluster-id": "a",
    "metrics.scope.task": "<host>.<task_name>",
    "my.limit": "5",
    "pipeline.jars": "file:///lib/own-connector.jar",
    "s3.access-key": "a",
    "security.ssl.enabled": "true",
    "yarn.application.name": "a",
}
WRONG = {
    "execution.checkpointing.intervall": "1 s",
    "parallelism.default": "many",
    "parallelism.defualt": "2",
    "scurry.unheard-of": "1",
}


def in_a_configuration(key: str, value: str) -> None:
    StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({key: value}))


def configured(key: str, value: str) -> None:
    StreamExecutionEnvironment.get_execution_environment().configure(Configuration.from_dict({key: value}))


def in_settings_of_tables(key: str, value: str) -> None:
    TableEnvironment.create(Configuration.from_dict({key: value}))


def of_the_table_config(key: str, value: str) -> None:
    TableEnvironment.create(EnvironmentSettings.in_streaming_mode()).get_config().set(key, value)


def in_sql(key: str, value: str) -> None:
    ClientStatements(TableSession.create(Configuration())).execute(parse(f"SET '{key}' = '{value}'"))


def on_the_command_line(key: str, value: str) -> None:
    with launch.activate(launch.LaunchOptions(configuration={key: value})):
        StreamExecutionEnvironment.get_execution_environment()


def on_the_command_line_of_tables(key: str, value: str) -> None:
    with launch.activate(launch.LaunchOptions(configuration={key: value})):
        TableEnvironment.create(EnvironmentSettings.in_streaming_mode())


WAYS = [in_a_configuration, configured, in_settings_of_tables, of_the_table_config, in_sql, on_the_command_line,
        on_the_command_line_of_tables]  # fmt: skip
way = pytest.mark.parametrize("way", WAYS, ids=lambda each: each.__name__)


@way
def test_settings_of_flink_pass_silently(way: Callable[[str, str], None]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for key, value in SILENT.items():
            way(key, value)


@way
@pytest.mark.parametrize("key", WARNED)
def test_a_setting_whose_effect_is_missed_is_warned_about_once_by_name(
    way: Callable[[str, str], None], key: str
) -> None:
    with pytest.warns(UserWarning, match="own-connector.jar" if "jars" in key else re.escape(key)) as caught:
        way(key, WARNED[key])
    assert len(caught) == 1


@way
@pytest.mark.parametrize("key", WRONG)
def test_a_misspelt_key_or_an_unusable_value_is_refused(way: Callable[[str, str], None], key: str) -> None:
    kind = ConfigError if key == "parallelism.default" else UnknownConfigError
    with pytest.raises(kind, match=re.escape(f"configuration {key} ")):
        way(key, WRONG[key])
