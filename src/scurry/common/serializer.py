"""What serializers of the user's own have in common; window assigners of the user's own name one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import IO, Generic, TypeVar

__all__ = ["TypeSerializer"]

T = TypeVar("T")


class TypeSerializer(ABC, Generic[T]):
    """Writes values as bytes and reads them back."""

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
