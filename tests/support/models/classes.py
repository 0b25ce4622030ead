"""Classes of models, which options name by their path."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, ClassVar


class Brackets:
    """Puts a text in brackets."""

    closed: ClassVar[int] = 0

    def __init__(self, left: str = "<", right: str = ">") -> None:
        self._sides = left, right

    def predict(self, text: str | None) -> str | None:
        return None if text is None else text.join(self._sides)

    def close(self) -> None:
        Brackets.closed += 1


class Letters:
    """Returns a row for each letter."""

    def predict(self, text: str | None) -> Iterator[str]:
        yield from text or ""


class TwoColumns:
    """Returns two columns for batches of rows, and notes their sizes."""

    sizes: ClassVar[list[int]] = []

    def predict_batch(self, rows: list[tuple[int]]) -> list[Any]:
        TwoColumns.sizes.append(len(rows))
        return [(number * 2, str(number)) for (number,) in rows]


class TooFew:
    """Returns fewer results than there are rows."""

    def predict_batch(self, rows: list[tuple[Any]]) -> list[Any]:
        return rows[1:]


class Failing:
    """Fails for texts that begin with x."""

    def predict(self, text: str) -> str:
        if text.startswith("x"):
            raise ValueError(f"cannot read {text}")
        return text


class Patient:
    """Answers in the reverse order of its calls: the last call of a round lets those before it go."""

    def __init__(self, calls: str = "3") -> None:
        self._calls = int(calls)
        self._begun = 0
        self._gates: list[asyncio.Event] = []

    async def predict(self, text: str) -> str:
        gate = asyncio.Event()
        self._gates.append(gate)
        if len(self._gates) == self._calls:
            gate.set()
        await gate.wait()
        self._gates.remove(gate)
        await asyncio.sleep(0)
        if self._gates:
            self._gates[-1].set()
        return text.upper()


class Counting:
    """Notes its calls and how many overlap."""

    calls: ClassVar[list[str]] = []
    most: ClassVar[int] = 0
    _now: ClassVar[int] = 0

    async def predict(self, text: str) -> str:
        Counting.calls.append(text)
        Counting._now += 1
        Counting.most = max(Counting.most, Counting._now)
        await asyncio.sleep(0)
        Counting._now -= 1
        return text


class Endless:
    """Never answers."""

    async def predict(self, text: str) -> str:
        await asyncio.Event().wait()
        return text


class FailsTwice:
    """Fails twice for each row."""

    def __init__(self) -> None:
        self._attempts: dict[str, int] = {}

    async def predict(self, text: str) -> str:
        self._attempts[text] = self._attempts.get(text, 0) + 1
        if self._attempts[text] < 3:
            raise ConnectionError("not now")
        return f"{text}{self._attempts[text]}"
