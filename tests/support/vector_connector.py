"""A connector that searches by itself: 'connector' = 'shelf', sync or async."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from scurry.table.connectors import Options, RecordFactory, TableOption, boolean

BOOKS = [("cats", [1.0, 0.0]), ("dogs", [0.0, 1.0])]


class Shelf:
    #: The most searches at a time.
    most = 0
    closed = 0

    def search(self, vector: Sequence[float], top_k: int) -> list[tuple[Any, float]]:
        if len(vector) != 2:
            raise ValueError("the shelf has two sides")
        scores = [sum(x * y for x, y in zip(vector, each, strict=True)) for _, each in BOOKS]
        best = sorted(range(len(BOOKS)), key=lambda place: -scores[place])[:top_k]
        return [(BOOKS[place], scores[place]) for place in best]

    def close(self) -> None:
        Shelf.closed += 1


class PatientShelf(Shelf):
    running = 0

    async def search(self, vector: Sequence[float], top_k: int) -> list[tuple[Any, float]]:  # type: ignore[override]
        PatientShelf.running += 1
        Shelf.most = max(Shelf.most, PatientShelf.running)
        await asyncio.sleep(0.01 if vector[0] else 0.0)
        PatientShelf.running -= 1
        return super().search(vector, top_k)


class ShelfFactory(RecordFactory):
    identifier = "shelf"
    PATIENT = TableOption("patient", boolean, False, "Whether searches overlap.")

    def table_options(self) -> Sequence[TableOption[Any]]:
        return [self.PATIENT]

    def source(self, options: Options, columns: Any) -> Any:
        from scurry.connectors.collection import CollectionSource

        return CollectionSource(())

    def vector_finder(self, options: Options, columns: Any, column: str) -> Any:
        if column != "place":
            return None
        return PatientShelf() if options.get(self.PATIENT) else Shelf()
