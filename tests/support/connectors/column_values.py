"""A column of every type that files and tables of rows have, each with a value."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

from scurry.common import Instant, Row
from scurry.table.types import DataTypes

COLUMNS: list[tuple[str, Any, Any]] = [
    ("s", DataTypes.STRING(), "ü"),
    ("b", DataTypes.BYTES(), b"\x00\xff"),
    ("t", DataTypes.BOOLEAN(), True),
    ("i", DataTypes.TINYINT(), -5),
    ("h", DataTypes.SMALLINT(), 300),
    ("j", DataTypes.INT(), 1 << 20),
    ("n", DataTypes.BIGINT(), 1 << 40),
    ("f", DataTypes.FLOAT(), 0.5),
    ("d", DataTypes.DOUBLE(), 0.1),
    ("e", DataTypes.DECIMAL(10, 2), Decimal("12.34")),
    ("a", DataTypes.DATE(), datetime.date(2026, 3, 4)),
    ("w", DataTypes.TIMESTAMP(6), datetime.datetime(2026, 3, 4, 5, 6, 7, 89)),
    ("z", DataTypes.TIMESTAMP_LTZ(3), Instant(1_700_000_000, 123_000_000)),
    ("l", DataTypes.ARRAY(DataTypes.INT()), [1, 2]),
    ("m", DataTypes.MAP(DataTypes.STRING(), DataTypes.INT()), {"k": 1}),
    ("r", DataTypes.ROW([DataTypes.FIELD("x", DataTypes.INT())]), Row(x=7)),
]
ROW_OF_ALL = DataTypes.ROW([DataTypes.FIELD(name, kind) for name, kind, _ in COLUMNS])
VALUES = [value for _, _, value in COLUMNS]
NULLS = [None] * len(COLUMNS)
