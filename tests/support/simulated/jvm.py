"""What the assignment stream uses of the JVM: the stream in memory and a few classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Stream:
    """Spark's MemoryStream: blocks by their offsets."""

    def __init__(self) -> None:
        self.blocks: dict[int, bytes] = {}
        self.latest = self.committed = -1

    def __getattr__(self, name: str) -> Callable[[int], None]:
        attribute = {"currentOffset_$eq": "latest", "lastOffsetCommitted_$eq": "committed"}[name]
        return lambda offset: setattr(self, attribute, offset)

    def addData(self, values: list[bytes]) -> None:
        for value in values:
            self.latest += 1
            self.blocks[self.latest] = value


class Array(list[Any]):
    add = list.append


class Java:
    """The classes of the JVM that the assignment stream uses, by their last names."""

    def __init__(self, name: str = "") -> None:
        self._name = name

    def __getattr__(self, name: str) -> Java:
        return Java(f"{self._name}.{name}")

    def __call__(self, *args: Any) -> Any:
        match self._name.rsplit(".", 2)[1:]:
            case ["MemoryStream", "apply"]:
                return Stream()
            case ["util", "ArrayList"]:
                return Array()
            case [_, "LongOffset"] | ["PythonUtils", "toSeq"]:
                return args[0]
            case ["Encoders", "BINARY"]:
                return None
        raise AssertionError(f"{self._name}{args}")
