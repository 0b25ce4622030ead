"""States for triggers and evictors that are called directly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class ReducingStateInMemory:
    """Reducing state without a backend."""

    def __init__(self, reduce: Callable[[Any, Any], Any]) -> None:
        self.reduce = reduce
        self.content: Any = None

    def get(self) -> Any:
        return self.content

    def add(self, value: Any) -> None:
        self.content = value if self.content is None else self.reduce(self.content, value)

    def clear(self) -> None:
        self.content = None


class ValueStateInMemory:
    """Value state without a backend."""

    def __init__(self) -> None:
        self.content: Any = None

    def value(self) -> Any:
        return self.content

    def update(self, value: Any) -> None:
        self.content = value

    def clear(self) -> None:
        self.content = None
