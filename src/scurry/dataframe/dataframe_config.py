"""`config`: settings of the environment that DataFrames create."""

from __future__ import annotations

from typing import Any

from scurry.common._process import launch
from scurry.errors import ArgumentTypeError, TopologyError

__all__ = ["config"]


class _Current:
    """The environment of DataFrames, and the settings of the next one that is created: those of the running program."""

    def __init__(self) -> None:
        self._environment: Any = None
        self._buffered: dict[str, str] = {}
        self._program: Any = launch.current()

    @property
    def environment(self) -> Any:
        """The TableEnvironment, None before it is made."""
        self._forget_others()
        return self._environment

    @environment.setter
    def environment(self, value: Any) -> None:
        self._forget_others()
        self._environment = value

    @property
    def buffered(self) -> dict[str, str]:
        """The settings of the environment that will be created."""
        self._forget_others()
        return self._buffered

    @buffered.setter
    def buffered(self, value: dict[str, str]) -> None:
        self._forget_others()
        self._buffered = value

    def _forget_others(self) -> None:
        """Forget the environment of another program: one process may run several, one after the other."""
        program = launch.current()
        if program is not self._program:
            self._environment, self._buffered, self._program = None, {}, program


current = _Current()


class _DataFrameConfig:
    """Settings of the environment that `get_or_create_table_environment` creates."""

    def set(self, key: str, value: str) -> _DataFrameConfig:
        """Set an option of the environment that will be created.

        Args:
            key: The option, such as `execution.runtime-mode`.
            value: Its value as text.

        Returns:
            This object.

        Raises:
            TypeError: Key or value is no text.
            RuntimeError: There is an environment already.
        """
        if not isinstance(key, str):
            raise ArgumentTypeError("key must be a string")
        if not isinstance(value, str):
            raise ArgumentTypeError("value must be a string")
        if current.environment is not None:
            raise TopologyError(
                "DataFrame configuration must be set before the table environment exists. Set it at the beginning of "
                f"the program, or in this environment: get_table_environment().get_config().set({key!r}, {value!r})"
            )
        current.buffered[key] = value
        return self

    def get(self, key: str, default: str | None = None) -> str | None:
        """Return an option: of the environment, or of the one that will be created.

        Args:
            key: The option.
            default: What is returned if it is not set.

        Raises:
            TypeError: The key is no text, or the default neither a text nor None.
        """
        if not isinstance(key, str):
            raise ArgumentTypeError("key must be a string")
        if default is not None and not isinstance(default, str):
            raise ArgumentTypeError("default must be a string or None")
        if current.environment is None:
            return current.buffered.get(key, default)
        found = current.environment.get_config().get(key, default)
        return found if found is None else str(found)


config = _DataFrameConfig()
