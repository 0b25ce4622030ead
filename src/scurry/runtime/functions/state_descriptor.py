"""Protocols of state descriptors as the runtime reads them; the classes are the API's (`scurry.datastream.state`)."""

from __future__ import annotations

from typing import Any, Protocol

from scurry.common.state_migration import StateMigration
from scurry.common.typeinfo import TypeInformation


class TimeToLive(Protocol):
    """Expiry of a state's values, as Flink's StateTtlConfig describes it."""

    ttl_ms: int
    update_type: Any
    state_visibility: Any
    cleanup_strategies: Any


class StateDescriptor(Protocol):
    """A state as a program declares it: kind, name, type of its values, time to live and migration."""

    @property
    def kind(self) -> str:
        """value, list, map, reducing or aggregating."""

    @property
    def name(self) -> str:
        """Identifies the state within its operator, also across restarts."""

    @property
    def type_info(self) -> TypeInformation:
        """Declared type of the values."""

    @property
    def ttl_config(self) -> TimeToLive | None:
        """The time to live, None if the state does not expire."""

    @property
    def function(self) -> Any:
        """The ReduceFunction or AggregateFunction of the last two kinds."""

    @property
    def migration(self) -> StateMigration | None:
        """Return the conversion of values of earlier versions; None derives it from the types."""
