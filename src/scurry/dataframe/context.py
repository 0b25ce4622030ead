"""The environment of DataFrames: one for the whole process, as in `pyflink.dataframe`."""

from __future__ import annotations

from scurry.common.configuration import Configuration
from scurry.dataframe.dataframe_config import current
from scurry.errors import ArgumentTypeError, TopologyError
from scurry.table.statement_set import StatementSet
from scurry.table.table_environment import StreamTableEnvironment, TableEnvironment

__all__ = [
    "create_statement_set",
    "get_or_create_table_environment",
    "get_table_environment",
    "set_table_environment",
]

_RUNNER = "scurry.runner"


def set_table_environment(t_env: TableEnvironment | None) -> None:
    """Let DataFrames be made in an environment from now on; those that exist stay in theirs.

    Args:
        t_env: The environment; None for a new one as soon as it is needed.

    Raises:
        TypeError: It is no environment.
        RuntimeError: `config` has values, which only the environment that it creates would get.
    """
    if t_env is not None and not isinstance(t_env, TableEnvironment):
        raise ArgumentTypeError("t_env must be a TableEnvironment or None")
    if t_env is not None and current.buffered:
        raise TopologyError(
            "pf.config holds buffered values that only apply to an environment created by "
            f"get_or_create_table_environment(): {', '.join(sorted(current.buffered))}. "
            "Set them in the configuration of the environment instead."
        )
    current.environment = t_env


def get_table_environment() -> TableEnvironment | None:
    """Return the environment of DataFrames, None before there is one."""
    found: TableEnvironment | None = current.environment
    return found


def get_or_create_table_environment() -> TableEnvironment:
    """Return the environment of DataFrames; the first call creates it, with the values of `config`.

    Its mode is that of `execution.runtime-mode`, STREAMING unless that is BATCH. Jobs run in this process, unless
    `scurry.runner` says otherwise.
    """
    if current.environment is None:
        current.environment = _created(current.buffered)
        current.buffered = {}
    made: TableEnvironment = current.environment
    return made


def create_statement_set() -> StatementSet:
    """Return an empty set of writes, which run as one job: writers take it as `statement_set`."""
    return get_or_create_table_environment().create_statement_set()


def _created(settings: dict[str, str]) -> StreamTableEnvironment:
    from scurry.datastream import StreamExecutionEnvironment
    from scurry.table.environment_settings import EnvironmentSettings

    configuration = Configuration()
    configuration.set_string(_RUNNER, "local")
    for key, value in settings.items():
        configuration.set_string(key, value)
    streams = StreamExecutionEnvironment.get_execution_environment(configuration)
    return StreamTableEnvironment.create(streams, EnvironmentSettings(streams._configuration))
