"""TypeSerializer: base of custom serializers, which custom window assigners return."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import IO, Generic, TypeVar

__all__ = ["TypeSerializer"]

T = TypeVar("T")


class TypeSerializer(ABC, Generic[T]):
    """Write values as bytes and read them back."""

    @abstractmethod
    def serialize(self, element: T, stream: IO[bytes]) -> None:
        """Write a value."""

    @abstractmethod
    def deserialize(self, stream: IO[bytes]) -> T:
        """Read a value."""

    def __eq__(self, other: object) -> bool:
        """Compare class and fields."""
        return isinstance(other, self.__class__) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        """Hash the class's name."""
        return hash(str(self))

    def __repr__(self) -> str:
        """Return for example `TimeWindowSerializer()`."""
        return f"{type(self).__name__}()"
