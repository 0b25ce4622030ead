"""Processor seconds of whole processes per million records: scurry in-process and on Spark beside others, same files.

    python bench/cpu.py [--only REGEX] [--systems REGEX] [--n 1000000 3000000] [--events ...] [--rounds 1] [--history]

Each case runs over files of two sizes, all systems in turn. The processor time is that of all processes of a run,
those that outlive it included. `without start` is the difference of both sizes, by the least of all rounds; `whole` is
the larger size with the start. Every run must give the right answer. The limits beside them are a loop in plain Python
(`bare`) and DuckDB with one thread. `--history` appends the figures to bench/cpu.jsonl, from which `bench/cpu.py
--table` makes the table of docs/performance.md.

What is not there is left out: PyFlink 1.20 ($BENCH_PYFLINK_1), a Python with pyclink ($BENCH_PYCLINK), the peer
benchmark ($BENCH_PEERS) and Nexmark ($NEXMARK).
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import history
import nexmark
import processes
import run
import start

HERE = Path(__file__).resolve().parent
FIGURES = HERE / "cpu.jsonl"
DATA = nexmark.DATA
PYFLINK = os.environ.get("BENCH_PYFLINK_1", "")
PYCLINK = os.environ.get("BENCH_PYCLINK", "")
WINDOW, FIRST, KEYS = 10_000, 1_700_000_000_000, 100  # milliseconds, of the first record, keys of `windows`
ENGINES = {"in-process": ["--runner", "local"], "Spark": []}
#: Queries of Nexmark, and what DuckDB is asked instead; only what reads one table without time is the same.
QUERIES = {
    "q0": "auction, bidder, price, dateTime, extra FROM bid",
    "q1": "auction, bidder, 0.908 * price, dateTime, extra FROM bid",
    "q2": "auction, price FROM bid WHERE auction % 123 = 0",
    **dict.fromkeys(("q5", "q17", "q20")),
}


@dataclass(frozen=True)
class Case:
    """A program over files of one kind: `peer` those of the peer benchmark, `own` those made here, or of Nexmark."""

    name: str
    kind: str
    data: str

    def directory(self, n: int) -> Path:
        return DATA / f"{self.data}-{n}"


CASES = [
    *(Case(name, "peer", data) for name, data in {"w1": "w1_10000", "w2": "w2", "w3": "w3", "w4": "w3"}.items()),
    *(Case(f"windows {form}", "own", f"windows-{form}") for form in ("json", "parquet")),
    *(Case(f"nexmark {query}", "nexmark", "nexmark") for query in QUERIES),
]


def made(case: Case, n: int) -> tuple[int, int] | None:
    """Make the files of a case if they are missing; return the rows of the right answer and their sum, if known."""
    directory = case.directory(n)
    if case.kind == "peer":
        subprocess.run([sys.executable, run.PEERS / "gen.py", case.data, str(n)], check=True, stdout=subprocess.DEVNULL)
        meta = json.loads((directory / "meta.json").read_text())
        return meta["rows"], meta["sum"]
    if case.kind == "nexmark":
        if not (directory / "bid.json").exists():
            generate = [sys.executable, nexmark.NEXMARK / "gen.py", directory, "--events", str(n)]
            subprocess.run(generate, check=True, stdout=subprocess.DEVNULL)
        return None
    totals = windows(events(n))
    if not directory.exists():
        import pyarrow as pa
        import pyarrow.parquet as pq

        directory.mkdir(parents=True)
        names = ("key", "ts", "value")
        if case.name == "windows json":
            with open(directory / "events.json", "w", encoding="utf-8") as out:
                out.writelines(json.dumps(dict(zip(names, each, strict=True))) + "\n" for each in events(n))
        else:
            columns = dict(zip(names, zip(*events(n), strict=True), strict=True))
            pq.write_table(pa.table(columns), directory / "events.parquet")
    return len(totals), sum(totals)


def events(n: int) -> Iterator[tuple[int, int, int]]:
    return ((i * 7919 % KEYS, FIRST + 2 * i + i * 31 % 5_000, i % 100) for i in range(n))


def windows(records: Iterable[tuple[Any, int, int]]) -> list[int]:
    """Return the sums per key and window."""
    sums: dict[tuple[Any, int], int] = {}
    for key, time, value in records:
        slot = key, time - time % WINDOW
        sums[slot] = sums.get(slot, 0) + value
    return list(sums.values())


def lines_in(directory: Path) -> Iterator[str]:
    for path in sorted(directory.iterdir()):
        with open(path, encoding="utf-8") as file:
            yield from file


def counted(keys: Iterable[str]) -> Iterator[int]:
    counts: dict[int, int] = {}
    for key in map(int, keys):
        counts[key] = counts.get(key, 0) + 1
        yield counts[key]


def bare(case: Case, n: int) -> Iterable[int]:
    """Compute the numbers of the answer of a case in a loop."""
    directory = case.directory(n)
    match case.name:
        case "w1":
            return counted(key for key, _ in csv.reader(lines_in(directory / "csv")))
        case "w2":
            return windows((key, int(time), int(value)) for key, time, value in csv.reader(lines_in(directory / "csv")))
        case "w3" | "w4":
            campaigns = json.loads((directory / "campaigns.json").read_text())
            views = (each for each in map(json.loads, lines_in(directory / "jsonl")) if each["event_type"] == "view")
            return windows((campaigns[each["ad_id"]], each["event_time"], 1) for each in views)
        case "windows json":
            return windows((each["key"], each["ts"], each["value"]) for each in map(json.loads, lines_in(directory)))
    import pyarrow.parquet as pq

    batches = pq.ParquetFile(directory / "events.parquet").iter_batches()
    columns = ([column.to_pylist() for column in batch.columns] for batch in batches)
    return windows(each for some in columns for each in zip(*some, strict=True))


def in_duckdb(case: Case, n: int) -> Iterable[int]:
    """Compute the answer of a case in DuckDB."""
    import duckdb

    directory = case.directory(n)
    key, time, value = "key", "ts", "value"
    match case.name:
        case "w1" | "w2":
            names = ["key", *["ts"] * (case.name == "w2"), "value"]
            rows = f"read_csv('{directory}/csv/*', columns = { {each: 'BIGINT' for each in names} })"
        case "w3" | "w4":
            key, time, value = "campaign", "event_time", "1"
            ads = (
                f"SELECT column0 AS ad_id, column1 AS campaign FROM read_csv('{directory}/campaigns.csv', header=false)"
            )
            rows = f"(FROM read_json('{directory}/jsonl/*') JOIN ({ads}) USING (ad_id) WHERE event_type = 'view')"
        case "windows json" | "windows parquet":
            rows = f"read_{case.name.partition(' ')[2]}('{directory}/*')"
        case _:
            query = QUERIES[case.name.partition(" ")[2]]
            assert query is not None
            connection = duckdb.connect(config={"threads": 1})
            connection.execute(f"CREATE VIEW bid AS SELECT * FROM read_json('{directory}/bid.json')")
            return (batch.num_rows for batch in connection.execute(f"SELECT {query}").fetch_record_batch())
    query = f"SELECT SUM({value}) AS v FROM {rows} GROUP BY {key}, {time} // {WINDOW}"
    if case.name == "w1":
        query = f"SELECT COUNT(*) OVER (PARTITION BY key ROWS UNBOUNDED PRECEDING) AS v FROM {rows}"
    batches = duckdb.connect(config={"threads": 1}).execute(query).fetch_record_batch()
    return (int(each) for batch in batches for each in batch.column(0).to_pylist())


def in_pyclink(case: Case, n: int) -> Iterable[int]:
    """Compute the sums of windows in pyclink."""
    import pyclink

    form = case.name.partition(" ")[2]
    source = "connector='parquet'" if form == "parquet" else "connector='file', format='json'"
    path = case.directory(n) / f"events.{form}"
    with pyclink.Engine() as engine:
        engine.execute(f"""
            CREATE TABLE events (key BIGINT, ts BIGINT, value BIGINT) WITH ({source}, path='{path}',
                event_time_column='ts', watermark_lag_ms='5000');
            CREATE TABLE sums (key BIGINT, total BIGINT) WITH (connector='collect');
            INSERT INTO sums SELECT key, SUM(value) AS total FROM events GROUP BY key, TUMBLE(ts, INTERVAL '10' SECOND)
        """)
        totals = engine.collect("sums").read_all().column(1).to_pylist()
        engine.await_all()
    return map(int, totals)


LIMITS = {"bare": bare, "DuckDB": in_duckdb, "pyclink": in_pyclink}


def commands(case: Case, n: int) -> dict[str, list[str]]:
    """Return the command of each system that can run a case."""
    own = [str(Path(__file__)), "--run"]
    found = {"bare": [sys.executable, *own, "bare", case.name, str(n)]} if case.kind != "nexmark" else {}
    if QUERIES.get(case.name.partition(" ")[2], "") is not None:
        found["DuckDB"] = [sys.executable, *own, "DuckDB", case.name, str(n)]
    if PYCLINK and case.kind == "own":
        found["pyclink"] = [PYCLINK, *own, "pyclink", case.name, str(n)]
    if case.kind == "peer":
        script = [str(run.PEERS / "peers" / f"pyflink_{case.name}.py"), case.data, str(n), "thread"]
    elif case.kind == "own":
        script = [str(HERE / "jobs" / "windows_sql.py"), case.name.partition(" ")[2], str(case.directory(n))]
    else:
        script = [str(HERE / "nexmark.py"), "--query", case.name.partition(" ")[2], "--events", str(n)]
    for engine, options in ENGINES.items():
        found[engine] = [sys.executable, "-m", "scurry", "run", *options, *script]
    if PYFLINK and case.kind != "nexmark" and case.name != "windows parquet":  # needs another jar
        found["PyFlink"] = [PYFLINK, *script]
    return found


def measure(case: Case, sizes: list[int], rounds: int, systems: str) -> Iterator[dict[str, Any]]:
    """Run a case with each system in turn, and yield the figures of each."""
    answers = {n: made(case, n) for n in sizes}
    wanted = {n: {name: each for name, each in commands(case, n).items() if re.search(systems, name)} for n in sizes}
    least: dict[tuple[str, int], float] = {}
    for _ in range(rounds):
        for n in sizes:
            for system, command in wanted[n].items():
                environment = processes.environment_of_scurry()
                parts = [environment["PYTHONPATH"], str(HERE), str(run.PEERS / "peers"), str(run.PEERS)]
                environment["PYTHONPATH"] = os.pathsep.join(parts[system == "PyFlink" :])
                environment["PATH"] = os.pathsep.join([str(Path(command[0]).parent), environment["PATH"]])
                seconds, _, output = start.run_program(command, environment)
                result = re.search(r"^RESULT (.*)$", output, re.MULTILINE)
                found = json.loads(result[1]) if result else {}
                if not result or (answers[n] is not None and answers[n] != (found["rows"], found["sum"])):
                    sys.exit(f"{case.name}, {system}: not the right answer {answers[n]}:\n{output[-2000:]}")
                least[system, n] = min(seconds, least.get((system, n), seconds))
    for system in wanted[sizes[0]]:
        small, large = (least[system, n] for n in (sizes[0], sizes[-1]))
        without = (large - small) / (sizes[-1] - sizes[0]) * 1e6
        figures = {"without_start": round(without, 2), "whole": round(large / sizes[-1] * 1e6, 2)}
        yield {"case": case.name, "system": system, "sizes": [sizes[0], sizes[-1]], **figures}


def table() -> str:
    """Return the table of the last figures of each case and system in bench/cpu.jsonl."""
    last: dict[str, dict[str, dict[str, Any]]] = {}
    for line in FIGURES.read_text(encoding="utf-8").splitlines():
        figures = json.loads(line)
        last.setdefault(figures["case"], {})[figures["system"]] = figures
    systems = [*ENGINES, *LIMITS, "PyFlink"]
    rows = [["case, records", *systems], ["---"] * (len(systems) + 1)]
    for case, found in last.items():
        sizes = " and ".join(f"{n / 1e6:g} M" for n in next(iter(found.values()))["sizes"])
        shown = [_shown(found[each]) if each in found else "" for each in systems]
        rows.append([f"{case}, {sizes}", *shown])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _shown(figures: dict[str, Any]) -> str:
    """Return both figures, the first only if the start did not vary by more than the records took."""
    first = f"{figures['without_start']:g} " if figures["without_start"] > 0 else ""
    return f"{first}({figures['whole']:g})"


def main() -> None:
    """Measure the chosen cases, or run one as the process of a system."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="a regular expression searched for in the names of cases")
    parser.add_argument("--systems", default="", help="a regular expression searched for in the names of systems")
    parser.add_argument("--n", type=int, nargs=2, default=[1_000_000, 3_000_000], help="both numbers of records")
    parser.add_argument("--events", type=int, nargs=2, default=[300_000, 1_000_000], help="of Nexmark's events")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--history", action="store_true", help="append to bench/cpu.jsonl")
    parser.add_argument("--table", action="store_true", help="print the table of bench/cpu.jsonl")
    parser.add_argument("--run", nargs=3, metavar=("SYSTEM", "CASE", "N"), help="run a case in this process")
    options = parser.parse_args()
    if options.table:
        print(table())
    elif options.run:
        system, name, n = options.run
        numbers = list(LIMITS[system](next(case for case in CASES if case.name == name), int(n)))
        print(f'RESULT {{"rows": {len(numbers)}, "sum": {sum(numbers)}}}')
    else:
        start.own_what_outlives()
        for case in CASES:
            if re.search(options.only, case.name):
                sizes = options.events if case.kind == "nexmark" else options.n
                for figures in measure(case, sizes, options.rounds, options.systems):
                    print(
                        "{case:16} {system:11} {without_start:8.2f} s/M without start, {whole:8.2f} s/M".format(
                            **figures
                        )
                    )
                    if options.history:
                        history.record(FIGURES, {**figures, "load": round(os.getloadavg()[0], 1)})


if __name__ == "__main__":
    main()
