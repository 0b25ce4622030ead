"""A fraud job that begins with a year of history: what is usual for a card is known before the first live payment.

    scurry run --runner local --parallelism 1 fraud_bootstrap.py DIRECTORY

A BATCH job reads `DIRECTORY/history` (card 1,80), and ends in a savepoint. The job that runs on is the same pipeline;
it starts from there, reads `DIRECTORY/payments`, and writes `DIRECTORY/alerts`. What a card usually pays can be asked
from outside: `GET /jobs/{jobid}/state/usual/paid?key=card 1`. Killed and started again, it resumes from its
checkpoint.

Prints:

    history: 730 payments of a year
    card 1 pays 10 on average, in 365 payments
    card 1: 900 is 90 times the usual 10
    stopped, started again
    card 2: 500 is 20 times the usual 25
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from live_files import add, environment, lines, records_read, until, write, written

from scurry.common import Configuration, Types, WatermarkStrategy
from scurry.common.job_client import JobClient
from scurry.datastream import DataStream, KeyedProcessFunction, StreamExecutionEnvironment
from scurry.datastream.connectors.file_system import FileSource, StreamFormat
from scurry.datastream.state import ValueStateDescriptor

PAID = ValueStateDescriptor("paid", Types.TUPLE([Types.LONG(), Types.LONG()]))  # how often, how much


class Usual(KeyedProcessFunction):
    """Raises an alert for a payment of more than ten times the average, which does not count as usual then."""

    def open(self, runtime_context):
        self.paid = runtime_context.get_state(PAID)

    def process_element(self, payment: tuple[str, int], ctx) -> Iterator[str]:
        card, amount = payment
        times, total = self.paid.value() or (0, 0)
        if times >= 10 and amount * times > 10 * total:
            usual = total / times
            yield f"{card}: {amount} is {amount / usual:.0f} times the usual {usual:.0f}"
        else:
            self.paid.update((times + 1, total + amount))


def parsed(line: str) -> tuple[str, int]:
    card, _, amount = line.rpartition(",")
    return card, int(amount)


def alerts(payments: DataStream[str]) -> DataStream[str]:
    return payments.map(parsed).key_by(lambda payment: payment[0]).process(Usual(), Types.STRING()).uid("usual")


def learn(directory: Path) -> str:
    """Read the history in BATCH, once; return the savepoint."""
    learnt = directory / "learnt"
    if learnt.exists():
        return learnt.read_text()
    settings = {"execution.runtime-mode": "BATCH", "scurry.final-savepoint.dir": str(directory / "savepoints")}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings))
    format_ = StreamFormat.text_line_format()
    source = FileSource.for_record_stream_format(format_, str(directory / "history")).build()
    history = env.from_source(source, WatermarkStrategy.no_watermarks(), "history", Types.STRING())
    write(alerts(history), directory / "alerts of the past")
    savepoint = env.execute("a year of payments").get_savepoint_path()
    assert savepoint is not None
    whole = directory / ".learnt"
    whole.write_text(savepoint)
    return whole.replace(learnt).read_text()


def start(directory: Path) -> JobClient:
    """Start with the history, or resume: a job goes on from its newest checkpoint, and names where it began."""
    env = environment(directory, **{"execution.state-recovery.path": learn(directory)})
    write(alerts(lines(env, directory / "payments")), directory / "alerts")
    return env.execute_async("fraud")


def show(directory: Path) -> None:
    for _ in range(365):
        add(directory / "history", "card 1,10", "card 2,25")
    print("history: 730 payments of a year")
    job = start(directory)
    until(lambda: job.checkpoints())
    times, total = job.query_state("usual", "paid", "card 1").result()
    print(f"card 1 pays {total / times:.0f} on average, in {times} payments")
    add(directory / "payments", "card 1,12", "card 1,900", "card 2,20")
    until(lambda: records_read(job) == 3)
    print(*written(directory / "alerts"), sep="\n")
    job.cancel().result()

    print("stopped, started again")
    add(directory / "payments", "card 2,500")
    job = start(directory)
    until(lambda: len(written(directory / "alerts")) == 2)
    print(written(directory / "alerts")[-1])
    job.cancel().result()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        start(Path(sys.argv[1])).get_job_execution_result().result()
    else:
        with tempfile.TemporaryDirectory() as name:
            show(Path(name))
