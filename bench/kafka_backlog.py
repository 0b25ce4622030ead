"""A backlog in Kafka, worked off by scurry and by PyFlink: throughput, and memory with a ten times larger one.

    python bench/kafka_backlog.py                               # 5 M records, and 50 M for memory; some 20 minutes
    python bench/kafka_backlog.py --n 500000 --job window       # 500 k and 5 M

The program is bench/jobs/kafka_backlog.py, run by both as it is, reading from a broker that is started for it. PyFlink
runs in thread mode, its quicker one.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from kafka_peers import HERE, PARALLELISM, PARTITIONS, Writer, broker, create_topic, run
from processes import KINDS

FIRST_TIMESTAMP = 1_700_000_000_000
RECORDS_PER_SECOND = 20_000  # of event time
#: keys of the records: count has much state, window has some records in each
KEYS = {"count": 10_000, "window": 1_000}
REQUIRED = {"throughput": 8.0, "memory": 1.2}


def produce(address: str, topic: str, n: int, keys: int) -> None:
    """Fills a topic with `key,value`; each key comes equally often."""
    create_topic(address, topic)
    writer = Writer(address, topic)
    for number in range(n):
        value = b"%d,%d" % (number * 7919 % keys, number % 1000)
        timestamp = FIRST_TIMESTAMP + number * 1000 // RECORDS_PER_SECOND
        writer.write(value, number // 100 % PARTITIONS, timestamp)
        if number % 10_000 == 0:
            writer.poll()
    writer.flush()


def expected(job: str, n: int, keys: int) -> int:
    """The sum over the second fields of all results."""
    if job == "window":
        return sum(range(1000)) * (n // 1000) + sum(range(n % 1000))
    more, rest = divmod(n, keys)  # 7919 is prime to the numbers of keys, so they come in turns
    return (keys - rest) * (more * (more + 1) // 2) + rest * ((more + 1) * (more + 2) // 2)


def measure(peer: str, address: str, topic: str, job: str, n: int, options: tuple[str, ...]) -> dict[str, Any]:
    """Runs the job; returns what was measured."""
    with tempfile.TemporaryDirectory() as out:
        done = run(peer, "kafka_backlog.py", address, topic, job, out, options=options)
        seconds = float(done.result()[0])
        figures = [tuple(map(int, path.read_text().split())) for path in Path(out).iterdir()]
    total = sum(figure[1] for figure in figures)
    if total != expected(job, n, KEYS[job]):
        sys.exit(f"{peer}: WRONG RESULT {total}, expected {expected(job, n, KEYS[job])}")
    result = {"peer": peer, "job": job, "n": n, "secs": seconds, "rate": n / seconds, "whole_secs": done.seconds,
              "cpu_secs": round(sum(done.processors.values()), 1),
              "peak_mb": {kind: round(done.peaks.get(kind, 0)) for kind in (*KINDS, "all")}}  # fmt: skip
    with open(HERE / "results.jsonl", "a") as file:
        file.write(json.dumps({"case": "kafka_backlog", **result}) + "\n")
    memory = ", ".join(f"{kind} {value:,} MB" for kind, value in result["peak_mb"].items() if value)
    rate, processor = f"{result['rate']:>10,.0f}/s", f"processors {result['cpu_secs']:.0f} s"
    print(f"  {peer:8} {n:>12,} records  {seconds:8.1f} s  {rate}  {processor}  peak: {memory}", flush=True)
    return result


def verdict(what: str, ratio: float, good: bool) -> None:
    """Prints a ratio and whether it is what is required."""
    print(f"{what}: {ratio:.2f} ({'as required' if good else 'NOT AS REQUIRED'})", flush=True)


def main() -> None:
    """Fills topics, runs everybody, compares."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=5_000_000, help="records of the backlog")
    parser.add_argument("--times", type=int, default=10, help="how much larger the other backlog is; 1: no other")
    parser.add_argument("--job", choices=tuple(KEYS), default="count")
    parser.add_argument("--peers", default="scurry,pyflink")
    parser.add_argument("-D", dest="options", action="append", default=[], help="configuration of scurry, key=value")
    given = parser.parse_args()
    peers, job = given.peers.split(","), given.job
    options = tuple(word for option in given.options for word in ("-D", option))
    print(f"keyed {job}, {KEYS[job]:,} keys, parallelism {PARALLELISM}, {PARTITIONS} partitions", flush=True)
    results: dict[str, dict[str, Any]] = {}
    with broker() as address:
        produce(address, "backlog", given.n, KEYS[job])
        for peer in peers:
            results[peer] = measure(peer, address, "backlog", job, given.n, options)
        if given.times > 1 and "scurry" in peers:
            produce(address, "large", given.n * given.times, KEYS[job])
            results["large"] = measure("scurry", address, "large", job, given.n * given.times, options)
    if {"scurry", "pyflink"} <= results.keys():
        ratio = results["scurry"]["rate"] / results["pyflink"]["rate"]
        verdict("throughput, times PyFlink's", ratio, ratio >= REQUIRED["throughput"])
    if "large" in results:
        before, after = (results[name]["peak_mb"] for name in ("scurry", "large"))
        for kind in (*KINDS, "all"):
            ratio = after[kind] / max(before[kind], 1)
            verdict(f"peak memory with {given.times} times the backlog, {kind}", ratio, ratio < REQUIRED["memory"])


if __name__ == "__main__":
    main()
