"""Names and types of the columns of a plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from scurry._dataclasses import dataclass
from scurry.sql.types import DataType


@dataclass(frozen=True)
class Column:
    """A column of a plan."""

    name: str
    type: DataType


@dataclass(frozen=True)
class Schema:
    """The columns of a plan, in order; names may occur more than once, as below a join."""

    columns: tuple[Column, ...] = ()

    @classmethod
    def of(cls, names: Iterable[str], types: Iterable[DataType]) -> Schema:
        """Pair names with types.

        Raises:
            ValueError: There are more of one than of the other.
        """
        return cls(tuple(Column(name, type) for name, type in zip(names, types, strict=True)))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def types(self) -> tuple[DataType, ...]:
        return tuple(column.type for column in self.columns)

    def nullable(self) -> Schema:
        """Return the same columns, all nullable: the side of an outer join that may be missing."""
        return Schema(tuple(Column(column.name, column.type.nullable()) for column in self.columns))

    def select(self, indices: Iterable[int]) -> Schema:
        return Schema(tuple(self.columns[index] for index in indices))

    def renamed(self, names: Iterable[str]) -> Schema:
        """Return the same types under other names."""
        return Schema.of(names, self.types)

    def __add__(self, other: Schema) -> Schema:
        return Schema(self.columns + other.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, index: int) -> Column:
        return self.columns[index]

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)
