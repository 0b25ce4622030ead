"""The client on a terminal: one long conversation, because each start takes seconds."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import scurry
from support.terminal import Terminal


def terminal(directory: Path, *options: str) -> Terminal:
    source = str(Path(scurry.__file__).parent.parent)
    command = [sys.executable, "-m", "scurry", "sql", "--history", str(directory / "history"), *options]
    return Terminal(command, directory, {**os.environ, "PYTHONPATH": source})


def test_statements_are_typed_and_results_are_seen(tmp_path: Path) -> None:
    with terminal(tmp_path) as shown:
        shown.until("Scurry SQL>")
        # a statement ends with its semicolon, not with its line
        shown.type("SET 'sql-client.execution.result-mode' =\r")
        shown.type("'tableau';\r")
        shown.until("[INFO] Execute statement succeeded.")
        shown.type("CREATE TABLE g (grams INT) WITH ('connector' = 'datagen', 'rows-per-second' = '5');\r")
        shown.until("[INFO] Execute statement succeeded.")
        # Ctrl-C ends the query, not the client
        shown.type("SELECT grams FROM g;\r")
        shown.until("| +I |")
        shown.type("\x03")
        assert "seconds)" in shown.until("Query terminated, received a total of ") + shown.until("Scurry SQL>")
        # a name is completed
        shown.type("SELECT nope, gr FROM g;" + "\x1b[D" * 8 + "\t")
        shown.until("grams")
        shown.type("\x1b[F\r")
        shown.until("[ERROR] Could not execute SQL statement. Reason:")
        shown.until("^^^^")
        # a job goes on in the background
        shown.type("CREATE TABLE s (id INT) WITH ('connector' = 'blackhole'); INSERT INTO s SELECT grams FROM g;\r")
        shown.until("Job ID: ")
        job = shown.until("\n")
        shown.type("SHOW JOBS;\r")
        shown.until("RUNNING")
        shown.type(f"STOP JOB '{job.strip()}';\r")
        shown.until("[INFO] Execute statement succeeded.")
        # the whole terminal shows a result, which Q leaves
        shown.type("SET 'sql-client.execution.result-mode' = 'changelog';\r")
        shown.until("[INFO] Execute statement succeeded.")
        shown.type("SELECT x, COUNT(*) AS n FROM (VALUES ('a'), ('a')) AS t(x) GROUP BY x;\r")
        shown.until("SQL Query Result (Changelog)")
        shown.until("+U")  # only what changes is drawn
        shown.type("q")
        shown.until("3 rows in set")  # the result stays
        # without a chosen mode, a result that is complete is printed at once
        shown.type("RESET 'sql-client.execution.result-mode';\r")
        shown.until("[INFO] Execute statement succeeded.")
        shown.type("SELECT x, COUNT(*) AS n FROM (VALUES ('a'), ('a')) AS t(x) GROUP BY x;\r")
        assert "SQL Query Result" not in shown.until("1 row in set")
        # commands need no semicolon
        shown.type("help\r")
        shown.until("Hint: a statement ends with")
        shown.type("quit\r")
        assert shown.exit_status() == 0
    assert "SELECT grams FROM g;" in (tmp_path / "history").read_text()
    assert (tmp_path / "history").stat().st_mode & 0o077 == 0
