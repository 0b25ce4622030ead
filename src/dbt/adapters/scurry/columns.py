"""ScurryColumn: a column, whose type is a text of Flink's SQL."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from dbt.adapters.base.column import Column

_TEXT = re.compile(r"(?:VAR)?CHAR\(\d+\)")
_NUMERIC = re.compile(r"(?:DECIMAL|NUMERIC|DEC)\b", re.IGNORECASE)
#: Marks of time attributes, which DESCRIBE shows.
_TIME_ATTRIBUTE = re.compile(r" \*(?:ROWTIME|PROCTIME)\*")


@dataclass
class ScurryColumn(Column):
    """A column of a table or view."""

    TYPE_LABELS: ClassVar[dict[str, str]] = {
        "STRING": "STRING",
        "TEXT": "STRING",
        "TIMESTAMP": "TIMESTAMP(6)",
        "FLOAT": "DOUBLE",
        "FLOAT8": "DOUBLE",
        "INTEGER": "INT",
        "NUMERIC": "DECIMAL(38, 9)",
    }

    @property
    def quoted(self) -> str:
        """Return the name in backticks."""
        return "`" + self.column.replace("`", "``") + "`"

    @property
    def data_type(self) -> str:
        """Return the type, which has its length or precision."""
        return self.dtype

    def is_string(self) -> bool:
        """Return whether values are texts."""
        return self.dtype == "STRING" or _TEXT.fullmatch(self.dtype) is not None

    def is_integer(self) -> bool:
        """Return whether values are whole numbers."""
        return self.dtype in ("TINYINT", "SMALLINT", "INT", "BIGINT")

    def is_float(self) -> bool:
        """Return whether values are approximate numbers."""
        return self.dtype in ("FLOAT", "DOUBLE")

    def is_numeric(self) -> bool:
        """Return whether values are decimal numbers."""
        return _NUMERIC.match(self.dtype) is not None

    def string_size(self) -> int:
        """Return the length of texts: any."""
        return 2147483647

    def can_expand_to(self, other_column: Column) -> bool:
        """Return False: texts have any length here."""
        return False

    @classmethod
    def numeric_type(cls, dtype: str, precision: object, scale: object) -> str:
        """Return the type of decimal numbers."""
        return f"DECIMAL({precision or 38}, {scale or 0})"


def type_of(text: str) -> str:
    """Return the type of a column without NOT NULL and time attributes; texts have any length."""
    plain = _TIME_ATTRIBUTE.sub("", text).removesuffix(" NOT NULL")
    return "STRING" if _TEXT.fullmatch(plain) else plain
