"""A ladder of latencies: how long records take through a job at growing rates, measured by the job itself."""

from __future__ import annotations

import argparse
import time
from statistics import quantiles

from scurry.common import Configuration, WatermarkStrategy
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors import DataGeneratorSource


def latencies(rate: int, seconds: float) -> list[float]:
    """Milliseconds from making a record to its result."""
    env = StreamExecutionEnvironment.get_execution_environment(Configuration())
    env.set_parallelism(1)
    source = DataGeneratorSource(lambda number: (number % 10, time.time()), int(rate * seconds), rate)
    made = env.from_source(source, WatermarkStrategy.no_watermarks(), "records")
    latest = made.key_by(lambda record: record[0]).reduce(lambda a, b: b)
    with latest.map(lambda record: (time.time() - record[1]) * 1000).execute_and_collect() as results:
        return list(results)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rates", type=int, nargs="*", default=[10, 100, 1000], help="records per second")
    parser.add_argument("--seconds", type=float, default=5, help="how long each rate is held")
    options = parser.parse_args()
    for rate in options.rates:
        measured = latencies(rate, options.seconds)
        steps = quantiles(measured, n=100)
        print(f"{rate:>7}/s  {len(measured)} records  median {steps[49]:.0f} ms  99 % {steps[98]:.0f} ms")


if __name__ == "__main__":
    main()
