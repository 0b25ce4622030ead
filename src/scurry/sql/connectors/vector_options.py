"""The options `vector-search.*`, which all tables have that are read whole to be searched."""

from __future__ import annotations

from typing import Any

from scurry.common._config.option import parse_bytes
from scurry.connectors.vectors.contract import METRICS
from scurry.sql.catalog.table_options import TableOption, one_of, whole_number
from scurry.sql.connectors.durations import duration

METRIC = TableOption(
    "vector-search.metric",
    one_of(METRICS),
    "cosine",
    "The score of VECTOR_SEARCH: `cosine`, `dot_product`, or `euclidean` for 1 / (1 + distance).",
)
RELOAD_INTERVAL = TableOption(
    "vector-search.reload-interval",
    duration,
    None,
    "After which time VECTOR_SEARCH reads the table again; without it a job reads it once.",
)
MAX_ROWS = TableOption("vector-search.max-rows", whole_number, 1_000_000, "How many rows VECTOR_SEARCH keeps at most.")
MAX_BYTES = TableOption(
    "vector-search.max-bytes", parse_bytes, 1 << 30, "How much memory the rows of VECTOR_SEARCH take at most."
)
VECTOR_OPTIONS: tuple[TableOption[Any], ...] = (METRIC, RELOAD_INTERVAL, MAX_ROWS, MAX_BYTES)
