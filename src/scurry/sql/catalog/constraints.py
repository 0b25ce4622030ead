"""The watermark of a table and the constraints on its rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import Enum

from scurry._dataclasses import dataclass
from scurry.sql.catalog.columns import ResolvedExpression
from scurry.sql.catalog.identifier import escape_identifier


@dataclass(frozen=True)
class WatermarkSpec:
    """The event-time column of a table and the expression of its watermark.

    Attributes:
        rowtime_attribute: Name of the column.
        watermark_expression: The watermark of a row.
    """

    rowtime_attribute: str
    watermark_expression: ResolvedExpression

    @staticmethod
    def of(rowtime_attribute: str, watermark_expression: ResolvedExpression) -> WatermarkSpec:
        """Return the watermark of a column."""
        return WatermarkSpec(rowtime_attribute, watermark_expression)

    def get_rowtime_attribute(self) -> str:
        """Return the name of the column."""
        return self.rowtime_attribute

    def get_watermark_expression(self) -> ResolvedExpression:
        """Return the watermark of a row."""
        return self.watermark_expression

    def as_summary_string(self) -> str:
        """Return the watermark as schemas show it."""
        expression = self.watermark_expression
        name = escape_identifier(self.rowtime_attribute)
        return f"WATERMARK FOR {name}: {expression.data_type.as_summary_string()} AS {expression.text}"

    def __str__(self) -> str:
        """Return the watermark as schemas show it."""
        return self.as_summary_string()


class Constraint(ABC):
    """A constraint on the rows of a table; it is declared, not enforced."""

    class ConstraintType(Enum):
        """The kinds of constraints."""

        PRIMARY_KEY = 0
        UNIQUE_KEY = 1

    @abstractmethod
    def get_name(self) -> str:
        """Return its name."""

    @abstractmethod
    def is_enforced(self) -> bool:
        """Return whether it is checked."""

    @abstractmethod
    def get_type(self) -> ConstraintType:
        """Return its kind."""

    @abstractmethod
    def as_summary_string(self) -> str:
        """Return the constraint as schemas show it."""


@dataclass(frozen=True)
class UniqueConstraint(Constraint):
    """A primary key.

    Attributes:
        name: Its name.
        columns: Names of its columns.
    """

    name: str
    columns: tuple[str, ...]

    @staticmethod
    def primary_key(name: str, columns: Sequence[str]) -> UniqueConstraint:
        """Return a primary key that is not enforced."""
        return UniqueConstraint(name, tuple(columns))

    def get_name(self) -> str:
        """Return its name."""
        return self.name

    def get_columns(self) -> list[str]:
        """Return the names of its columns."""
        return list(self.columns)

    def is_enforced(self) -> bool:
        """Return False: Flink does not own the data."""
        return False

    def get_type(self) -> Constraint.ConstraintType:
        """Return PRIMARY_KEY."""
        return Constraint.ConstraintType.PRIMARY_KEY

    def get_type_string(self) -> str:
        """Return the kind as SQL has it."""
        return "PRIMARY KEY"

    def as_summary_string(self) -> str:
        """Return the key as schemas show it."""
        columns = ", ".join(map(escape_identifier, self.columns))
        return f"CONSTRAINT {escape_identifier(self.name)} PRIMARY KEY ({columns}) NOT ENFORCED"

    def __str__(self) -> str:
        """Return the key as schemas show it."""
        return self.as_summary_string()
