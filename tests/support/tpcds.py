"""TPC-DS: its queries as Apache Spark's test jar ships them, its data and the right answers from DuckDB's generator."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import duckdb_extension_tpcds  # type: ignore[import-untyped]

from scurry.table import TableEnvironment
from support.maven import fetched

_VERSION = "4.0.0"
_JAR = f"org/apache/spark/spark-sql_2.13/{_VERSION}/spark-sql_2.13-{_VERSION}-tests.jar"
_DIGEST = "f90a8d03589d0c113aa330e970970390a1d7ec00837a6cf8d29309b309b6f3b1"

#: The 103 queries: four have two parts.
QUERIES = [
    f"q{number}{part}" for number in range(1, 100) for part in (("a", "b") if number in (14, 23, 24, 39) else ("",))
]

#: The mean of a whole number is a whole number in Flink and none in DuckDB.
_MEANS = {
    "catalog_sales": ["cs_quantity"],
    "customer": ["c_birth_year"],
    "customer_demographics": ["cd_dep_count", "cd_dep_employed_count", "cd_dep_college_count"],
    "inventory": ["inv_quantity_on_hand"],
    "store_returns": ["sr_return_quantity"],
    "store_sales": ["ss_quantity"],
    "web_returns": ["wr_return_quantity"],
    "web_sales": ["ws_quantity"],
}

Rows = list[tuple[Any, ...]]


class Benchmark:
    """The tables as Parquet files, with the queries and their answers.

    Args:
        directory: Where the files are written.
        scale: The scale factor; 0.03 has 86,000 rows in the largest table, and rows for 83 queries.
    """

    def __init__(self, directory: Path, scale: float = 0.03) -> None:
        with zipfile.ZipFile(fetched(_JAR, _DIGEST)) as jar:
            self._texts = {name: jar.read(f"tpcds/{name}.sql").decode() for name in QUERIES}
        extension = Path(duckdb_extension_tpcds.__file__).parent / f"extensions/v{duckdb.__version__}"
        self._duckdb = duckdb.connect(config={"allow_unsigned_extensions": "true"})
        self._duckdb.execute(f"LOAD '{extension / 'tpcds.duckdb_extension'}'")
        self._duckdb.execute(f"CALL dsdgen(sf={scale})")
        # as in Flink and Spark: NULL is the lowest value, and whole numbers divide to whole numbers
        self._duckdb.execute("SET default_null_order='nulls_first_on_asc_last_on_desc'")
        self._duckdb.execute("SET integer_division=true")
        self._duckdb.execute("ALTER TABLE customer RENAME c_last_review_date_sk TO c_last_review_date")
        for table, columns in _MEANS.items():
            for column in columns:
                self._duckdb.execute(f"ALTER TABLE {table} ALTER {column} TYPE DOUBLE")
        self._directory = directory
        self._tables = [row[0] for row in self._rows("SELECT table_name FROM information_schema.tables")]
        for table in self._tables:
            self._duckdb.execute(f"COPY {table} TO '{directory / table}.parquet' (FORMAT parquet)")

    def _rows(self, query: str) -> Rows:
        return self._duckdb.execute(query).fetchall()

    def declare(self, env: TableEnvironment) -> None:
        """Create the tables in the catalog of `env`."""
        for table in self._tables:
            columns = ", ".join(
                f"`{column}` {'STRING' if type_ == 'VARCHAR' else type_}"
                for column, type_, *_ in self._rows(f"DESCRIBE {table}")
            )
            path = self._directory / f"{table}.parquet"
            env.execute_sql(
                f"CREATE TABLE {table} ({columns}) WITH ('connector'='filesystem', 'path'='{path}', 'format'='parquet')"
            )

    def query(self, name: str) -> str:
        """Return a query in Flink's SQL: intervals have quoted numbers, and aliases are no reserved words."""
        text = self._texts[name].strip().rstrip(";")
        text = re.sub(r"\b(returns|year|at)\b", lambda word: f"{word[0].lower()}_", text, flags=re.IGNORECASE)
        text = text.replace("BETWEEN 5000 AND 5200", "BETWEEN 0 AND 9999")  # else q90 divides by no rows
        return re.sub(r"\binterval (\d+) days?\b", r"INTERVAL '\1' DAY", text, flags=re.IGNORECASE)

    def answer(self, name: str) -> Rows:
        """Return DuckDB's rows for a query."""
        return self._rows(self.query(name).replace("`", '"'))


def assert_same_rows(got: Rows, right: Rows) -> None:
    """Compare rows in any order; numbers to four digits, as the scales of quotients differ between systems."""
    assert len(got) == len(right)
    for ours, theirs in zip(sorted(map(_plain, got), key=_order), sorted(map(_plain, right), key=_order), strict=True):
        assert all(_close(a, b) for a, b in zip(ours, theirs, strict=True)), f"{ours}, right is {theirs}"


def _plain(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(float(v) if isinstance(v, Decimal | int | float) else None if v is None else str(v) for v in row)


def _order(row: tuple[Any, ...]) -> list[tuple[str, str]]:
    form: Callable[[Any], str] = lambda v: f"{v:.3e}" if isinstance(v, float) else str(v)  # noqa: E731
    return [(type(v).__name__, form(v)) for v in row]


def _close(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return abs(a - b) <= 1e-4 * max(abs(a), abs(b))
    return bool(a == b)
