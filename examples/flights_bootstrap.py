"""The flights of `flights.py` with a past: eleven months as history, December live, and nothing lost in between.

    scurry run examples/flights_bootstrap.py                    # on Spark
    scurry run --runner local examples/flights_bootstrap.py     # the same in this process, without Spark

A batch job reads the history, key by key, and ends in a savepoint. The streaming job is the same program over another
source; it starts from that savepoint, so that the days and weeks that were open at the cut, and the last flight of each
aircraft, continue. Together they find what one streaming job over the whole year would find.
"""

from __future__ import annotations

import argparse
from datetime import UTC, datetime

from flights import build, parse, read_reports, write_reports

from scurry.common import Configuration
from scurry.datastream import RuntimeExecutionMode, StreamExecutionEnvironment

# Reports come up to a day and a half after the departure. A batch job waits for all of them; the live job has to, too.
HOURS_OUT_OF_ORDER = 36


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--history", type=int, default=11, metavar="N", help="months read as history (default: 11)")
    args = parse(parser)
    if not 0 < args.history < args.months:
        parser.error(f"--history: 1 to {args.months - 1} of {args.months} months can be history")
    cut = datetime(2013, 1 + args.history, 1, tzinfo=UTC)
    reports = read_reports(args.data, args.months)
    write_reports([report for report in reports if report[0] < cut], args.output / "history")
    write_reports([report for report in reports if report[0] >= cut], args.output / "live")
    airports = args.data / "airports.csv"

    ending = Configuration.from_dict({"scurry.final-savepoint.dir": str(args.output / "savepoints")})
    env = StreamExecutionEnvironment.get_execution_environment(ending)
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    build(env, args.output / "history", airports, args.output, HOURS_OUT_OF_ORDER)
    savepoint = env.execute("history of flights").get_savepoint_path()
    assert savepoint is not None

    starting = {"execution.state-recovery.path": savepoint, "scurry.batch.max-bytes": "1 mb"}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(starting))
    env.set_runtime_mode(RuntimeExecutionMode.STREAMING)
    build(env, args.output / "live", airports, args.output, HOURS_OUT_OF_ORDER)
    env.execute("live flights")
    print(f"results: {args.output}")


if __name__ == "__main__":
    main()
