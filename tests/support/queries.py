"""Queries over tables of records, validated and executed in this process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from scurry.sql.evaluation.batch.executor import execute_batch
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan.nodes import Plan, Scan
from scurry.sql.planner.rules import optimized
from scurry.sql.syntax.parser import parse
from scurry.sql.types import DataType
from scurry.sql.types.arrow import arrow_type
from scurry.sql.types.values import from_values, to_values
from scurry.sql.validator import CatalogColumn, CatalogReader, CatalogTable, CatalogView, validate_query

__all__ = ["Tables", "read_table"]

BATCH = EvaluationContext()


class Tables(CatalogReader):
    """Tables by their names, and queries over them."""

    def __init__(self) -> None:
        self._tables: dict[str, CatalogTable | CatalogView] = {}

    def add(
        self, name: str, columns: Mapping[str, DataType], *rows: tuple[Any, ...], key: tuple[str, ...] = ()
    ) -> None:
        values = zip(*rows, strict=True) if rows else [()] * len(columns)
        arrays = [
            from_values(list(each), arrow_type(type)) for each, type in zip(values, columns.values(), strict=True)
        ]
        table = pa.table(arrays, names=list(columns))
        described = tuple(CatalogColumn(each, type) for each, type in columns.items())
        self._tables[name] = CatalogTable(("default_catalog", "default_database", name), described, table, key)

    def add_view(self, name: str, query: str) -> None:
        self._tables[name] = CatalogView(("default_catalog", "default_database", name), parse(query))  # type: ignore[arg-type]

    def find(self, names: tuple[str, ...]) -> CatalogTable | CatalogView | None:
        return self._tables.get(names[-1])

    def missing(self, names: tuple[str, ...]) -> tuple[int, str]:
        return len(names), f"Object '{names[-1]}' not found"

    def plan(self, query: str, session: EvaluationContext = BATCH) -> Plan:
        return validate_query(parse(query), self, session)  # type: ignore[arg-type]

    def types(self, query: str) -> list[str]:
        return [each.type.as_summary_string() for each in self.plan(query).schema]

    def names(self, query: str) -> list[str]:
        return list(self.plan(query).schema.names)

    def rows(self, query: str, session: EvaluationContext = BATCH) -> list[tuple[Any, ...]]:
        plan = optimized(self.plan(query, session), session)
        found: list[tuple[Any, ...]] = []
        for batch in execute_batch(plan, session, read_table):
            found += zip(*map(to_values, batch.columns), strict=True)
        return found


def read_table(scan: Scan) -> Iterator[pa.RecordBatch]:
    yield from scan.table.select(list(scan.schema.names)).to_batches()
