"""Files of tables that are cut off or overwritten: rows, or an error that names the file."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet
import pytest

from scurry.errors import EvaluationError, ScurryError
from support.statements.tables import environment, rows

ROWS = [{"id": number, "s": f"text {number}"} for number in range(50)]
DAMAGES = 12


def write(path: Path, kind: str) -> None:
    table = pa.table({"id": pa.array([row["id"] for row in ROWS], pa.int32())})
    if kind == "parquet":
        pyarrow.parquet.write_table(table, path)
    elif kind == "orc":
        pyarrow.orc.write_table(table, path)
    else:
        lines = [json.dumps(row) if kind == "json.gz" else f"{row['id']},{row['s']}" for row in ROWS]
        path.write_bytes(gzip.compress("".join(line + "\n" for line in lines).encode()))


def damaged(data: bytes, seed: int) -> bytes:
    chance = random.Random(seed)
    if seed % 2:
        return data[: chance.randrange(1, len(data))]
    place = chance.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :]


@pytest.mark.parametrize("streaming", [True, False])
@pytest.mark.parametrize("kind", ["parquet", "orc", "json.gz", "csv.gz"])
def test_a_damaged_file_is_named(kind: str, streaming: bool, tmp_path: Path) -> None:
    path, errors = tmp_path / f"f.{kind}", list[Any]()
    write(path, kind)
    whole = path.read_bytes()
    env = environment(streaming)
    options = f"'connector' = 'filesystem', 'format' = '{kind.removesuffix('.gz')}', 'path' = '{tmp_path}'"
    text = ", s STRING" if kind.endswith("gz") else ""
    env.execute_sql(f"CREATE TABLE t (id INT{text}) WITH ({options})")
    assert len(rows(env, "SELECT * FROM t")) == len(ROWS)
    for seed in range(DAMAGES):
        path.write_bytes(damaged(whole, seed))
        try:
            rows(env, "SELECT * FROM t")
        except ScurryError as error:
            errors.append(error)
            assert path.name in str(error)
    assert errors


@pytest.mark.parametrize("streaming", [True, False])
@pytest.mark.parametrize("kind", ["parquet", "orc"])
def test_a_column_of_texts_that_are_no_utf8_is_named(kind: str, streaming: bool, tmp_path: Path) -> None:
    offsets, data = pa.py_buffer(b"\0\0\0\0\2\0\0\0\4\0\0\0"), pa.py_buffer(b"ab\xff\xfe")
    table = pa.table({"s": pa.Array.from_buffers(pa.utf8(), 2, [None, offsets, data])})
    write_table = pyarrow.parquet.write_table if kind == "parquet" else pyarrow.orc.write_table
    write_table(table, tmp_path / "f")
    env = environment(streaming)
    options = f"'connector' = 'filesystem', 'format' = '{kind}', 'path' = '{tmp_path}'"
    env.execute_sql(f"CREATE TABLE t (s STRING) WITH ({options})")
    with pytest.raises(EvaluationError, match=r"column 's': the STRING b'\\xff\\xfe' is no UTF-8"):
        rows(env, "SELECT * FROM t")
