"""Nexmark queries in STREAMING: scurry on Spark beside Flink's SQL (JVM) on the same files.

    python bench/nexmark.py [--events 500000] [--only q5 q7] [--runs 1] [--with scurry flink] [--mini-batch]
        [--history]

Each query runs in a process of its own; its rows go into a blackhole. `secs` is the statement alone, from its execution
to the end of the job: for scurry it includes the start of Spark, which `start` measures with a statement of one row and
`net` leaves out; Flink's cluster starts in the same way with the job.
The queries and the generator are those of `../shared/conformance/sql/nexmark`, or of `$NEXMARK`; PyFlink is the one of
`bench/run.py` ($BENCH_VENVS). q6 is left out, which Flink refuses in STREAMING; q12 and q13_lookup, too, as they
read the clock or a table that cannot be looked up.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import history

HERE = Path(__file__).resolve().parent
NEXMARK = Path(os.environ.get("NEXMARK", HERE.parent.parent / "shared" / "conformance" / "sql" / "nexmark"))
DATA = Path(os.environ.get("BENCH_DATA", "/tmp/bench-data"))
VENVS = Path(os.environ.get("BENCH_VENVS", "/tmp/venvs"))
LEFT_OUT = {"q6", "q12", "q13_lookup"}
#: queries whose aggregates or joins are of windows
WINDOWED = {"q5", "q7", "q8", "q11", "q11_tvf"}
START = "start"


def main() -> None:
    """Run what was asked for, or one query as the process of one of the systems."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=500_000)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--with", dest="systems", nargs="*", default=["scurry", "flink"])
    parser.add_argument("--mini-batch", action="store_true", help="with Flink's two-phase aggregation by mini-batches")
    parser.add_argument("--history", action="store_true", help="append the geometric means to bench/history.jsonl")
    parser.add_argument("--query", help="run this query in this process")
    options = parser.parse_args()
    data = DATA / f"nexmark-{options.events}"
    if options.query:
        run_query(options.query, data, options.mini_batch)
    else:
        compare(options, data)


# ---------------------------------------------------------------- one query, in the process of a system


def run_query(name: str, data: Path, mini_batch: bool) -> None:
    """Run a query and print how long it took."""
    from pyflink.table import EnvironmentSettings, TableEnvironment

    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    settings = {"parallelism.default": "2", "table.local-time-zone": "UTC"}
    if name == "q10":
        settings["execution.checkpointing.interval"] = "1 s"
    if mini_batch:
        settings |= {
            "table.exec.mini-batch.enabled": "true",
            "table.exec.mini-batch.allow-latency": "2 s",
            "table.exec.mini-batch.size": "50000",
            "table.optimizer.distinct-agg.split.enabled": "true",
        }
    for key, value in settings.items():
        environment.get_config().set(key, value)
    if name == START:
        environment.execute_sql("CREATE TABLE sink (v INT) WITH ('connector' = 'blackhole')")
        statement = "INSERT INTO sink VALUES (1)"
    else:
        statement = _statement(environment, name, data)
    began = time.time()
    environment.execute_sql(statement).wait()
    print("RESULT " + json.dumps({"secs": round(time.time() - began, 3)}), flush=True)


def _statement(environment: Any, name: str, data: Path) -> str:
    conformance = _conformance()
    conformance.tables(environment, str(data))
    if name == "q14_udf":
        from pyflink.table import DataTypes
        from pyflink.table.udf import udf

        environment.create_temporary_function(
            "count_char", udf(lambda text, char: text.count(char), result_type=DataTypes.BIGINT())
        )
    text: str = conformance.query(name)[0]
    columns = (
        "auction BIGINT, bidder BIGINT, price BIGINT, `dateTime` TIMESTAMP(3), extra STRING, dt STRING, hm STRING"
        if name == "q10"
        else _columns(environment, text)
    )
    environment.execute_sql(f"CREATE TABLE sink ({columns}) WITH ('connector' = 'blackhole')")
    return text if name == "q10" else f"INSERT INTO sink {text}"


def _columns(environment: Any, text: str) -> str:
    schema = environment.sql_query(text).get_schema()
    types = [schema.get_field_data_type(index) for index in range(schema.get_field_count())]
    names = [f"`c{index}`" for index in range(len(types))]
    return ", ".join(f"{each} {_sql_type(data_type)}" for each, data_type in zip(names, types, strict=True))


def _sql_type(data_type: Any) -> str:
    """Return a type as SQL, without time attributes."""
    found = re.match(r"[A-Z]+", type(data_type).__name__.upper().removesuffix("TYPE"))
    assert found is not None
    name = found[0]
    match name:
        case "VARCHAR" | "CHAR" | "STRING":
            return "STRING"
        case "DECIMAL":
            return f"DECIMAL({data_type.precision}, {data_type.scale})"
        case "TIMESTAMP":
            return "TIMESTAMP(3)"
        case "LOCALZONEDTIMESTAMP":
            return "TIMESTAMP_LTZ(3)"
        case _:
            return name


def _conformance() -> Any:
    sys.path[:0] = [str(NEXMARK), str(NEXMARK.parent)]
    spec = importlib.util.spec_from_file_location("nexmark_conformance", NEXMARK / "run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# ---------------------------------------------------------------- all of them


def compare(options: argparse.Namespace, data: Path) -> None:
    """Run the queries with each system in turn, and print times and ratios."""
    if not (data / "bid.json").exists():
        subprocess.run([sys.executable, NEXMARK / "gen.py", data, "--events", str(options.events)], check=True)
    names = sorted((path.stem for path in (NEXMARK / "queries").glob("*.sql")), key=_order)
    names = [name for name in names if (name in options.only if options.only else name not in LEFT_OUT)]
    starts = {system: _median(options, system, START) for system in options.systems}
    print(f"{options.events:,} events; start: " + ", ".join(f"{each} {secs:.1f} s" for each, secs in starts.items()))
    ratios: dict[str, float] = {}
    for name in names:
        secs = {system: _median(options, system, name) for system in options.systems}
        line = f"{name:8}" + "".join(f"  {system} {value:7.2f}" for system, value in secs.items())
        if len(secs) == 2 and not any(map(math.isnan, secs.values())):
            ours, theirs = (secs[system] for system in ("scurry", "flink"))
            ratios[name] = theirs / ours
            net = max(theirs - starts["flink"], 0.05) / max(ours - starts["scurry"], 0.05)
            line += f"   {ratios[name]:.2f} x   net {net:.2f} x"
        print(line, flush=True)
    for label, some in (("all", ratios), ("windowed", {name: ratios[name] for name in WINDOWED & ratios.keys()})):
        if some:
            mean = statistics.geometric_mean(some.values())
            if options.history:
                case = f"Nexmark, {label}, {options.events:,} events{', mini-batch' * options.mini_batch}"
                history.append([{"case": case, "beside": "Flink SQL", "ratio": round(mean, 2)}])
            print(f"{label}: geometric mean {mean:.2f} x, least {min(some.values()):.2f} x ({min(some, key=some.get)})")  # type: ignore[arg-type]


def _order(name: str) -> tuple[int, str]:
    return int(name.partition("_")[0][1:]), name


def _median(options: argparse.Namespace, system: str, name: str) -> float:
    """Return the median time of a query; not a number if it failed."""
    own = [__file__, "--query", name, "--events", str(options.events), *["--mini-batch"] * options.mini_batch]
    environment = dict(os.environ)
    if system == "scurry":
        command = [sys.executable, "-m", "scurry", "run", own[0], *own[1:]]
        environment["PYTHONPATH"] = os.pathsep.join([str(HERE.parent / "src"), environment.get("PYTHONPATH", "")])
    else:
        command = [str(VENVS / "pyflink" / "bin" / "python"), *own]
        environment["PATH"] = os.pathsep.join([str(VENVS / "pyflink" / "bin"), environment["PATH"]])
    found = []
    for _ in range(options.runs):
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=900)
        result = re.search(r"^RESULT (.*)$", done.stdout, re.MULTILINE)
        if result is None:
            print(f"{name} {system}: {done.stderr.strip()[-600:]}", file=sys.stderr)
            return math.nan
        found.append(json.loads(result[1])["secs"])
    with open(HERE / "results.jsonl", "a") as out:
        out.write(json.dumps({"case": f"nexmark {name}", "peer": system, "n": options.events, "secs": found}) + "\n")
    return statistics.median(found)


if __name__ == "__main__":
    main()
