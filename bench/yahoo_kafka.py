"""The Yahoo streaming benchmark from Kafka to Kafka, scurry and PyFlink on one broker: events per second, and latency.

    python bench/yahoo_kafka.py                                         # some 15 minutes
    python bench/yahoo_kafka.py --n 200000 --rates 2000 --seconds 40    # does it work?

First a backlog is worked off, as fast as it goes. Then events come at a given rate, each with the time at which it was
due, and the latency of a result is the time from the end of its window until the broker has it. Every result is
checked. The program is bench/jobs/yahoo_kafka.py, run by both as it is; PyFlink runs in thread mode, its quicker one.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from kafka_peers import HERE, PARTITIONS, Writer, broker, create_topic, run
from processes import Run

WINDOW_MS = 10_000
EVENTS_PER_SECOND = 20_000  # of event time, in the backlog
#: results of so many seconds after the start of a live run do not count: programs start, and get warm
WARM_SECONDS = 25
#: how long results may be late before a run is given up
PATIENCE_SECONDS = 120

#: Campaign and start of window -> events.
Counts = Counter[tuple[str, int]]


class Events:
    """Makes events, and counts what the results have to be."""

    def __init__(self) -> None:
        """Make 100 campaigns of 10 ads each, and 10,007 kinds of events that come in turns."""
        chance = random.Random(7)

        def identifiers(count: int) -> list[str]:
            return [str(uuid.UUID(int=chance.getrandbits(128))) for _ in range(count)]

        ads, campaigns, users, pages = identifiers(1000), identifiers(100), identifiers(100), identifiers(100)
        self.campaigns = {ad: campaigns[number // 10] for number, ad in enumerate(ads)}
        self._kinds = []
        for _ in range(10_007):
            ad, kind = chance.choice(ads), chance.choice(("view", "click", "purchase"))
            head = json.dumps({"user_id": chance.choice(users), "page_id": chance.choice(pages), "ad_id": ad,
                               "ad_type": "banner", "event_type": kind, "ip_address": "1.2.3.4"})  # fmt: skip
            view = self.campaigns[ad] if kind == "view" else None
            self._kinds.append((head[:-1].encode() + b', "event_time": ', view))

    def write(self, writer: Writer, times: Iterable[int]) -> Counts:
        """Write an event for each time in milliseconds; return what comes of them."""
        counts: Counts = Counter()
        kinds = self._kinds
        for number, moment in enumerate(times):
            head, campaign = kinds[number % len(kinds)]
            writer.write(b"%b%d}" % (head, moment), number % PARTITIONS, moment)
            if campaign is not None:
                counts[campaign, moment - moment % WINDOW_MS] += 1
        writer.flush()
        return counts


def due(rate: int, seconds: float, writer: Writer) -> Iterator[int]:
    """The times at which events are due, each when it has come; ten milliseconds' events at once."""
    begun = time.time()
    for number in range(int(rate * seconds)):
        at = begun + number / rate
        if at > time.time():
            writer.poll()
            time.sleep(max(0.0, at + 0.01 - time.time()))
        yield int(at * 1000)


def produce_live(address: str, topic: str, rate: int, seconds: float, answer: Any) -> None:
    """In a process of its own: writes events as they are due, and sends what has to come of them."""
    writer = Writer(address, topic)
    answer.send(Events().write(writer, due(rate, seconds, writer)))


class Results:
    """Reads a topic of results while it fills."""

    def __init__(self, address: str, topic: str) -> None:
        """Begin at its beginning."""
        from confluent_kafka import Consumer, TopicPartition

        self._consumer = Consumer({"bootstrap.servers": address, "group.id": topic, "enable.auto.commit": False})
        self._consumer.assign([TopicPartition(topic, partition, 0) for partition in range(PARTITIONS)])
        self.counts: Counts = Counter()
        #: milliseconds from the end of the window to the broker, and that end
        self.latencies: list[tuple[int, int]] = []

    def read(self, seconds: float) -> int:
        """Take what has come; return how much that is."""
        messages = self._consumer.consume(10_000, seconds)
        for message in messages:
            campaign, start, count = message.value().decode().split(",")
            self.counts[campaign, int(start)] += int(count)
            end = int(start) + WINDOW_MS
            self.latencies.append((end, message.timestamp()[1] - end))
        return len(messages)

    def read_all(self) -> None:
        """Take all there is."""
        while self.read(2.0):
            continue

    def close(self) -> None:
        """Leave the broker."""
        self._consumer.close()


def keep(result: dict[str, Any]) -> None:
    """Appends a result to the file of all results."""
    with open(HERE / "results.jsonl", "a") as file:
        file.write(json.dumps({"case": "yahoo_kafka", **result}) + "\n")


def memory(done: Run) -> str:
    """What a run took up."""
    return ", ".join(f"{kind} {value:,.0f} MB" for kind, value in done.peaks.items() if value >= 1)


def backlog(peer: str, address: str, events: str, expected: Counts, campaigns: str, n: int) -> float:
    """Lets a peer work off a backlog; returns events per second."""
    topic = f"results-{uuid.uuid4().hex}"
    create_topic(address, topic)
    done = run(peer, "yahoo_kafka.py", address, events, topic, campaigns, "bounded")
    seconds = float(done.result()[0])
    results = Results(address, topic)
    results.read_all()
    results.close()
    if results.counts != expected:
        sys.exit(f"{peer}: WRONG RESULTS: {sum(results.counts.values())} of {sum(expected.values())} views are counted")
    keep({"peer": peer, "n": n, "secs": seconds, "rate": n / seconds})
    print(f"  {peer:8} {n:>10,} events  {seconds:7.1f} s  {n / seconds:>10,.0f}/s   peak: {memory(done)}", flush=True)
    return n / seconds


def live(peer: str, address: str, campaigns: str, rate: int, seconds: float) -> None:
    """Lets a peer keep up with a stream; prints how long results took."""
    events, topic = f"events-{uuid.uuid4().hex}", f"results-{uuid.uuid4().hex}"
    create_topic(address, events)
    create_topic(address, topic, message_timestamp_type="LogAppendTime")
    answer, question = multiprocessing.Pipe(duplex=False)
    context = multiprocessing.get_context("spawn")
    producer = context.Process(target=produce_live, args=(address, events, rate, seconds, question), daemon=True)
    results, expected, begun = Results(address, topic), Counter[tuple[str, int]](), time.time()
    producer.start()

    def over(_: Run) -> bool:
        results.read(0.2)
        if not expected:
            if answer.poll():
                counts = answer.recv()
                last = max(start for _, start in counts)  # nothing closes the last window
                expected.update({key: count for key, count in counts.items() if key[1] < last})
            return False
        return results.counts == expected

    done = run(peer, "yahoo_kafka.py", address, events, topic, campaigns, "live", until=over,
               limit=seconds + PATIENCE_SECONDS)  # fmt: skip
    producer.join()
    results.close()
    if results.counts != expected:
        got, wanted = sum(results.counts.values()), sum(expected.values())
        print(f"  {peer:8} {rate:>7,}/s  DOES NOT KEEP UP: {got:,} of {wanted:,} views counted {PATIENCE_SECONDS} s "
              f"after the last event\n{''.join(done.lines)[-600:]}", flush=True)  # fmt: skip
        return
    ends = sorted({end for end, _ in results.latencies if end >= (begun + WARM_SECONDS) * 1000})
    warm = sorted(latency for end, latency in results.latencies if end >= (begun + WARM_SECONDS) * 1000)
    if not warm:
        sys.exit(f"--seconds must be more than {WARM_SECONDS + 2 * WINDOW_MS // 1000}")
    points = {f"p{percent}": warm[min(len(warm) - 1, len(warm) * percent // 100)] for percent in (50, 90, 99)}
    by_window = [max(latency for end, latency in results.latencies if end == each) for each in ends]
    keep({"peer": peer, "rate": rate, "results": len(warm), **points, "max": warm[-1], "by_window": by_window})
    texts = "  ".join(f"{name} {value:,} ms" for name, value in {**points, "max": warm[-1]}.items())
    print(f"  {peer:8} {rate:>7,}/s  {texts}   slowest of each window: {by_window}   peak: {memory(done)}", flush=True)


def main() -> None:
    """Runs everybody: first the backlog, then each rate."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=2_000_000, help="events of the backlog; 0: none")
    parser.add_argument("--rates", default="5000,50000", help="events per second of the live runs")
    parser.add_argument("--seconds", type=float, default=120, help="of each live run")
    parser.add_argument("--peers", default="scurry,pyflink")
    given = parser.parse_args()
    peers = given.peers.split(",")
    with broker() as address, tempfile.TemporaryDirectory() as directory:
        table = Path(directory) / "campaigns.json"
        events = Events()
        table.write_text(json.dumps(events.campaigns))
        if given.n:
            create_topic(address, "backlog")
            first = 1_700_000_000_000
            times = (first + number * 1000 // EVENTS_PER_SECOND for number in range(given.n))
            expected = events.write(Writer(address, "backlog"), times)
            print("a backlog", flush=True)
            rates = {peer: backlog(peer, address, "backlog", expected, str(table), given.n) for peer in peers}
            if {"scurry", "pyflink"} <= rates.keys():
                print(f"  {rates['scurry'] / rates['pyflink']:.1f} times PyFlink's throughput", flush=True)
        for rate in [int(rate) for rate in given.rates.split(",") if rate]:
            print(f"a stream of {rate:,} events/s for {given.seconds:.0f} s: from the end of a window to its results",
                  flush=True)  # fmt: skip
            for peer in peers:
                live(peer, address, str(table), rate, given.seconds)


if __name__ == "__main__":
    main()
