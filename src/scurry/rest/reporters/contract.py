"""The contract of metric reporters, and their settings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TypeVar

from scurry._dataclasses import dataclass
from scurry.common._config.option import parse_boolean, parse_duration
from scurry.common._config.rest import parse_ports
from scurry.errors import ConfigError
from scurry.rest.job import ServedJob

T = TypeVar("T")

#: Prefix of the keys of a reporter, before its name.
PREFIX = "metrics.reporter."


@dataclass(frozen=True)
class ReporterOptions:
    """The settings of one reporter.

    Attributes:
        values: Its settings, by the rest of their keys.
        all: The whole configuration.
    """

    name: str
    values: Mapping[str, str]
    all: Mapping[str, str]

    @property
    def interval(self) -> float:
        """Seconds between two reports."""
        return self._parsed("interval", "10 s", parse_duration) / 1000

    def text(self, key: str, default: str | None = None) -> str:
        """Return the text of a setting, which is required if it has no default."""
        value = self.values.get(key, default)
        if value is None:
            raise self.wrong(key, "it is required")
        return value

    def boolean(self, key: str, default: bool) -> bool:
        return self._parsed(key, str(default), parse_boolean)

    def ports(self, key: str, default: str) -> tuple[int, ...]:
        """Return the ports of a list in Flink's syntax."""
        return self._parsed(key, default, parse_ports)

    def wrong(self, key: str, reason: str) -> ConfigError:
        given = f" = {self.values[key]!r}" if key in self.values else ""
        return ConfigError(f"configuration {PREFIX}{self.name}.{key}{given}: {reason}")

    def _parsed(self, key: str, default: str, parse: Callable[[str], T]) -> T:
        try:
            return parse(self.values.get(key, default))
        except ValueError as error:
            raise self.wrong(key, str(error)) from None


class Reporter(ABC):
    """Report the metrics of one job.

    Args:
        options: The settings.
    """

    #: the settings that it has, besides `factory.class` and `interval`
    KEYS: tuple[str, ...] = ()

    def __init__(self, options: ReporterOptions) -> None:
        self.name, self.interval = options.name, options.interval

    def open(self, job: ServedJob) -> None:  # noqa: B027 - most need nothing
        """Begin to report a job."""

    @abstractmethod
    def report(self, job: ServedJob) -> None:
        """Send all metrics.

        Raises:
            OSError: They cannot be sent.
        """

    def close(self) -> None:  # noqa: B027 - most hold nothing
        """End."""
