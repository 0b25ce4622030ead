"""Fraud detection with rules that change: limits come on a stream of their own and hold for later payments.

    scurry run --runner local --parallelism 1 fraud_rules.py DIRECTORY

reads `DIRECTORY/rules` (limit per day,100) and `DIRECTORY/payments` (card 1,80), and writes `DIRECTORY/alerts`.
What a card has spent can be asked from outside: `GET /jobs/{jobid}/state/detector/spent?key=card 1`. Killed and started
again, the job has its rules, and what was spent.

Prints:

    card 1: limit per day, spent 120 of 100
    card 2 has spent 60
    stopped, a rule changes, started again
    card 1: limit per day, spent 120 of 100
    card 1: limit per day, spent 230 of 200
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from live_files import add, environment, lines, records_read, until, write, written

from scurry.common import Types
from scurry.common.job_client import JobClient
from scurry.datastream import DataStream, KeyedBroadcastProcessFunction
from scurry.datastream.state import MapStateDescriptor, ValueStateDescriptor

Payment = tuple[str, int]
Rule = tuple[str, int]
LIMITS = MapStateDescriptor("limits", Types.STRING(), Types.INT())
SPENT = ValueStateDescriptor("spent", Types.INT())


class Detector(KeyedBroadcastProcessFunction):
    def open(self, runtime_context):
        self.spent = runtime_context.get_state(SPENT)

    def process_element(self, payment: Payment, ctx) -> Iterator[str]:
        card, amount = payment
        self.spent.update((self.spent.value() or 0) + amount)
        for rule, limit in ctx.get_broadcast_state(LIMITS).items():
            if self.spent.value() > limit:
                yield f"{card}: {rule}, spent {self.spent.value()} of {limit}"

    def process_broadcast_element(self, rule: Rule, ctx) -> None:
        ctx.get_broadcast_state(LIMITS).put(*rule)


def parsed(line: str) -> tuple[str, int]:
    name, _, number = line.rpartition(",")
    return name, int(number)


def alerts(payments: DataStream[str], rules: DataStream[str]) -> DataStream[str]:
    by_card = payments.map(parsed).key_by(lambda payment: payment[0])
    return by_card.connect(rules.map(parsed).broadcast(LIMITS)).process(Detector(), Types.STRING()).uid("detector")


def start(directory: Path) -> JobClient:
    env = environment(directory)
    write(alerts(lines(env, directory / "payments"), lines(env, directory / "rules")), directory / "alerts")
    return env.execute_async("fraud rules")


def show(directory: Path) -> None:
    add(directory / "rules", "limit per day,100")
    job = start(directory)
    until(lambda: records_read(job) == 1)  # the rule is known
    add(directory / "payments", "card 1,80", "card 2,60", "card 1,40")
    until(lambda: records_read(job) == 4)
    print(*written(directory / "alerts"), sep="\n")
    print("card 2 has spent", job.query_state("detector", "spent", "card 2").result())
    job.cancel().result()

    print("stopped, a rule changes, started again")
    add(directory / "rules", "limit per day,200")
    job = start(directory)
    until(lambda: records_read(job) == 1)
    add(directory / "payments", "card 1,30", "card 1,80")
    until(lambda: records_read(job) == 3)
    print(*written(directory / "alerts"), sep="\n")
    job.cancel().result()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        start(Path(sys.argv[1])).get_job_execution_result().result()
    else:
        with tempfile.TemporaryDirectory() as name:
            show(Path(name))
