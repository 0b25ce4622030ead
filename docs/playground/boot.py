"""Prepare Pyodide for programs of scurry, and run them. The page and its tests share this."""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

Write = Callable[[str], object]


class _Printed(io.TextIOBase):
    """Passes on what is printed."""

    def __init__(self, write: Write) -> None:
        self._write = write

    def write(self, text: str) -> int:
        self._write(text)
        return len(text)


def packages(source: str) -> list[str]:
    """Return the packages of Pyodide that a program needs, beside the ones that scurry always does."""
    needed = {
        "pyarrow": r"\b(table|dataframe|pyarrow|parquet|orc|avro)\b|execute_sql|checkpoint|savepoint|simulation",
        "numpy": r"numpy|state|savepoint|checkpoint|rescale|simulation",
        "pandas": r"pandas",
        "sqlite3": r"checkpoint|sqlite|simulation",
    }
    return [package for package, words in needed.items() if re.search(words, source)]


def prepare() -> None:
    """Put time zones where Arrow looks for them, and name the only user."""
    import tzdata

    os.makedirs("/usr/share", exist_ok=True)
    if not os.path.exists("/usr/share/zoneinfo"):
        os.symlink(Path(tzdata.__file__).parent / "zoneinfo", "/usr/share/zoneinfo")
    for name in ("getuid", "geteuid"):
        if not hasattr(os, name):
            setattr(os, name, lambda: 0)


def prepare_tables() -> None:
    """Complete numpy and Arrow, once both are loaded, where Pyodide's are older or narrower than scurry expects."""
    import numpy as np
    import pyarrow as pa

    if hasattr(pa, "concat_batches"):
        return

    def concat_batches(batches: Any) -> Any:  # Arrow 19 has it
        table = pa.Table.from_batches(batches).combine_chunks()
        return table.to_batches()[0] if table.num_rows else pa.RecordBatch.from_pylist([], schema=table.schema)

    pa.concat_batches = concat_batches
    # Where addresses have 32 bits, these refuse numbers of 64 bits as places and counts.
    bincount, repeat, take = np.bincount, np.repeat, np.take
    np.bincount = lambda x, weights=None, minlength=0: bincount(np.asarray(x, np.intp), weights, minlength)
    np.repeat = lambda a, repeats, axis=None: repeat(a, np.asarray(repeats, np.intp), axis)
    np.take = lambda a, indices, *more, **named: take(a, np.asarray(indices, np.intp), *more, **named)


def run(source: str, parallelism: int, write: Write) -> int:
    """Run the text of a program as `scurry run --runner local` does, and return its exit status."""
    with tempfile.TemporaryDirectory() as directory:
        program = Path(directory, "program.py")
        program.write_text(source, encoding="utf-8")
        return run_file(program, parallelism, write, write)


def run_file(program: Path, parallelism: int, write: Write, write_error: Write) -> int:
    """Run a program, which prints by two functions, one for standard error; return its exit status."""
    from scurry.cli.program import run_program
    from scurry.common._process.launch import LaunchOptions

    options = LaunchOptions(runner="local", parallelism=parallelism or None)
    with contextlib.redirect_stdout(_Printed(write)), contextlib.redirect_stderr(_Printed(write_error)):
        try:
            return run_program(program, [], options, debug=False)
        except BaseException:  # of scurry itself, or of the interpreter
            traceback.print_exc()
            return 1
        finally:
            sys.stdout.flush()
