"""TableConfig: the settings of a TableEnvironment."""

from __future__ import annotations

import datetime
from typing import overload

from scurry.common._api import ApiObject
from scurry.common._config.tables import LOCAL_TIME_ZONE, STATE_TTL
from scurry.common._config.validation import validate
from scurry.common._removed import TABLE_CONFIG
from scurry.common.configuration import Configuration
from scurry.common.time import to_millis
from scurry.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from scurry.table.sql_dialect import SqlDialect

__all__ = ["TableConfig"]

_TIME_ZONE, _STATE_TTL = LOCAL_TIME_ZONE.key, STATE_TTL.key
_EXECUTABLE = "python.executable"
_CODE_LENGTH = "table.generated-code.max-length"


class TableConfig(ApiObject):
    """The settings of a TableEnvironment; they hold for statements that are executed later."""

    _instead = TABLE_CONFIG

    def __init__(self, configuration: Configuration | None = None) -> None:
        """Wrap a configuration, which is changed."""
        self._configuration = Configuration() if configuration is None else configuration

    @overload
    def get(self, key: str, default_value: str) -> str: ...

    @overload
    def get(self, key: str, default_value: None) -> str | None: ...

    def get(self, key: str, default_value: str | None) -> str | None:
        """Return a setting.

        Args:
            key: Its name.
            default_value: The answer if it is not set.
        """
        return self._configuration.get_string(key, "") if self._configuration.contains_key(key) else default_value

    def set(self, key: str, value: str) -> TableConfig:
        """Change a setting.

        Args:
            key: Its name.
            value: Its value as text.

        Raises:
            UnknownConfigError: The key is nearly one that means something.
            ConfigError: The value cannot be used.
            ValidationError: A setting of tables cannot be read.
            UnsupportedError: Results would be others with the setting, which scurry does not have.
        """
        given = Configuration().set_string(key, value)
        self.add_configuration(given)
        return self

    def get_local_timezone(self) -> str:
        """Return the session's time zone."""
        from scurry.sql.statements.session import local_time_zone

        zone = self._configuration.get_string(_TIME_ZONE, "default")
        return local_time_zone() if zone == "default" else zone

    def set_local_timezone(self, timezone_id: str) -> None:
        """Set the session's time zone.

        Args:
            timezone_id: Such as `Europe/Berlin` or `GMT-08:00`.

        Raises:
            ArgumentError: There is no such time zone.
        """
        from scurry.sql.functions.time_zones import check_session_zone

        try:
            check_session_zone(timezone_id)
        except ValueError as error:
            raise ArgumentError(f"time zone '{timezone_id}': {error}") from None
        self._configuration.set_string(_TIME_ZONE, timezone_id)

    def set_idle_state_retention(self, duration: datetime.timedelta) -> None:
        """Set for how long state is kept that nothing uses.

        Args:
            duration: The time; zero keeps state without limit.

        Raises:
            ArgumentTypeError: It is no timedelta.
        """
        if not isinstance(duration, datetime.timedelta):
            raise ArgumentTypeError(f"set_idle_state_retention takes a datetime.timedelta, got {duration!r}")
        self._configuration.set_string(_STATE_TTL, _in_greatest_unit(to_millis(duration)))

    def get_idle_state_retention(self) -> datetime.timedelta:
        """Return for how long state is kept that nothing uses."""
        from scurry.common._config.option import parse_duration

        return datetime.timedelta(milliseconds=parse_duration(self._configuration.get_string(_STATE_TTL, "0 ms")))

    def get_configuration(self) -> Configuration:
        """Return all settings."""
        return self._configuration

    def add_configuration(self, configuration: Configuration) -> None:
        """Add settings.

        Raises:
            UnknownConfigError: A key is nearly one that means something.
            ConfigError: A value cannot be used.
            ValidationError: A setting of tables cannot be read.
            UnsupportedError: Results would be others with a setting, which scurry does not have.
        """
        from scurry.sql.statements.table_options import check_table_options

        validate(configuration)
        check_table_options(configuration)
        self._configuration.add_all(configuration)

    def set_python_executable(self, python_exec: str) -> None:
        """Set the Python that runs user functions.

        Args:
            python_exec: Its path.
        """
        self._configuration.set_string(_EXECUTABLE, python_exec)

    def get_python_executable(self) -> str | None:
        """Return the Python that runs user functions, None if it is not set."""
        return self.get(_EXECUTABLE, None)

    def to_map(self) -> dict[str, str]:
        """Return all settings by their names."""
        return self._configuration.to_dict()

    def get_sql_dialect(self) -> int:
        """Return which SQL is read: `SqlDialect.DEFAULT`."""
        return SqlDialect.DEFAULT

    def set_sql_dialect(self, sql_dialect: int) -> None:
        """Choose which SQL is read.

        Args:
            sql_dialect: `SqlDialect.DEFAULT`.

        Raises:
            UnsupportedError: It is another one.
        """
        if sql_dialect != SqlDialect.DEFAULT:
            raise UnsupportedError("only Flink's own SQL is read: SqlDialect.DEFAULT")

    def get_max_generated_code_length(self) -> int:
        """Return the longest method of generated code, which Flink splits: a setting without effect."""
        return int(self._configuration.get_string(_CODE_LENGTH, "4000"))

    def set_max_generated_code_length(self, max_generated_code_length: int) -> None:
        """Set the longest method of generated code; no code is generated, so it has no effect.

        Args:
            max_generated_code_length: The length.
        """
        self._configuration.set_string(_CODE_LENGTH, str(max_generated_code_length))

    @staticmethod
    def get_default() -> TableConfig:
        """Return settings of which none is set."""
        return TableConfig()


def _in_greatest_unit(millis: int) -> str:
    """Return a time as Flink writes it: in the greatest unit of which it is a whole number."""
    for unit, length in (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1000)):
        if millis and millis % length == 0:
            return f"{millis // length} {unit}"
    return f"{millis} ms"
