"""Which casts keep keys: those that Flink's `LogicalTypeCasts.supportsInjectiveCast` names."""

from __future__ import annotations

import pytest

from scurry.sql.types import DataType
from scurry.sql.types.cast_rules import is_injective_cast
from support.queries import Tables

#: From each type to which others, of all of them; recorded from Flink 2.3.
FLINKS = {
    "TINYINT": "SMALLINT; INT; BIGINT; CHAR(50); VARCHAR(50); STRING",
    "INT": "BIGINT; CHAR(50); VARCHAR(50); STRING",
    "BIGINT": "CHAR(50); VARCHAR(50); STRING",
    "DOUBLE": "CHAR(50); VARCHAR(50); STRING",
    "DECIMAL(10, 0)": "",
    "DECIMAL(20, 2)": "",
    "BOOLEAN": "CHAR(50); VARCHAR(50); STRING",
    "DATE": "CHAR(50); VARCHAR(50); STRING",
    "TIME(0)": "CHAR(50); VARCHAR(50); STRING",
    "TIMESTAMP(0)": "CHAR(50); VARCHAR(50); STRING",
    "TIMESTAMP(3)": "TIMESTAMP_LTZ(3); CHAR(50); VARCHAR(50); STRING",
    "TIMESTAMP_LTZ(3)": "TIMESTAMP(3); CHAR(50); VARCHAR(50); STRING",
    "CHAR(3)": "CHAR(50); VARCHAR(3); VARCHAR(50); STRING; VARBINARY(50); BYTES",
    "CHAR(50)": "VARCHAR(50); STRING; BYTES",
    "VARCHAR(3)": "VARCHAR(50); STRING; VARBINARY(50); BYTES",
    "VARCHAR(50)": "STRING; BYTES",
    "STRING": "BYTES",
    "BINARY(3)": "VARBINARY(50); BYTES",
    "VARBINARY(50)": "BYTES",
    "BYTES": "",
    "SMALLINT": "INT; BIGINT; CHAR(50); VARCHAR(50); STRING",
}


def typed(text: str) -> DataType:
    return Tables().plan(f"SELECT CAST(NULL AS {text}) AS x").schema[0].type


@pytest.mark.parametrize("source", FLINKS)
def test_casts_that_keep_values_apart(source: str) -> None:
    found = {each for each in FLINKS if each != source and is_injective_cast(typed(source), typed(each))}
    expected = {each for each in FLINKS[source].split("; ") if each}
    assert found == expected
