"""InputFormat: the input of `env.create_input(...)`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

__all__ = ["InputFormat"]


class InputFormat(ABC):
    """Something to read once, such as the Avro files of a directory."""

    @abstractmethod
    def create_source(self) -> Any:
        """Return the bounded source."""
