"""What a metric reporter does."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Protocol

from scurry.rest.job import ServedJob

__all__ = ["Options", "Reporter"]


class Options(Protocol):
    """The settings of one reporter."""

    @property
    def name(self) -> str:
        """The reporter's name."""

    @property
    def interval(self) -> float:
        """Seconds between two reports."""

    def text(self, key: str, default: str | None = None) -> str:
        """Return the text of a setting, which is required if it has no default."""

    def boolean(self, key: str, default: bool) -> bool:
        """Return a setting that is true or false."""

    def ports(self, key: str, default: str) -> tuple[int, ...]:
        """Return the ports of a list in Flink's syntax."""

    def wrong(self, key: str, reason: str) -> Exception:
        """Return the error of a setting that cannot be used."""


class Reporter(ABC):
    """Report the metrics of one job.

    Args:
        options: The settings.
    """

    #: the settings that it has, besides `factory.class` and `interval`
    KEYS: tuple[str, ...] = ()

    def __init__(self, options: Any) -> None:
        given: Options = options
        self.name, self.interval = given.name, given.interval

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
