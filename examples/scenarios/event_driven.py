"""An event-driven application: orders wait for payments, a service is asked without blocking, and a timer reminds.

    scurry run --runner local --parallelism 1 event_driven.py DIRECTORY

reads `DIRECTORY/events` (order,o1,0 or payment,o1,2000; the last field is the time in milliseconds), and writes
`DIRECTORY/messages`. Open orders can be asked from outside: `GET /jobs/{jobid}/state/reminders/open?key="o2"`. Killed
and started again, the job has its open orders and their timers.

Prints:

    o1 is paid
    o2 is open for bob
    stopped, an hour passes, started again
    o1 is paid
    remind bob of o2
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from live_files import add, environment, lines, until, write, written

from scurry.common import Time, Types, WatermarkStrategy
from scurry.common.job_client import JobClient
from scurry.datastream import AsyncDataStream, AsyncFunction, DataStream, KeyedProcessFunction
from scurry.datastream.state import ValueStateDescriptor

Event = tuple[str, str, int]  # kind, order, time
OPEN = ValueStateDescriptor("open", Types.STRING())
HOUR = 3_600_000


class Customer(AsyncFunction):
    """Asks a service for the customer of an order."""

    async def async_invoke(self, value: Event) -> list[tuple[str, str, str]]:
        kind, order, _ = value
        await asyncio.sleep(0.001)  # the service
        return [(kind, order, {"o1": "ann"}.get(order, "bob"))]


class Reminders(KeyedProcessFunction):
    def open(self, runtime_context):
        self.customer = runtime_context.get_state(OPEN)

    def process_element(self, event: tuple[str, str, str], ctx) -> Iterator[str]:
        kind, order, customer = event
        if kind == "order":
            self.customer.update(customer)
            ctx.timer_service().register_event_time_timer(ctx.timestamp() + HOUR)
        elif self.customer.value():
            self.customer.clear()
            yield f"{order} is paid"

    def on_timer(self, timestamp: int, ctx) -> Iterator[str]:
        if self.customer.value():
            yield f"remind {self.customer.value()} of {ctx.get_current_key()}"


def parsed(line: str) -> Event:
    kind, order, time = line.split(",")
    return kind, order, int(time)


def messages(events: DataStream[str]) -> DataStream[str]:
    by_time = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda event, _: event[2])
    in_time = events.map(parsed).assign_timestamps_and_watermarks(by_time)
    known = AsyncDataStream.ordered_wait(in_time, Customer(), Time.seconds(5), 10)
    return known.key_by(lambda event: event[1]).process(Reminders(), Types.STRING()).uid("reminders")


def start(directory: Path) -> JobClient:
    env = environment(directory)
    write(messages(lines(env, directory / "events")), directory / "messages")
    return env.execute_async("reminders")


def show(directory: Path) -> None:
    add(directory / "events", "order,o1,0", "order,o2,1000", "payment,o1,2000")
    job = start(directory)
    until(lambda: written(directory / "messages"))
    print(*written(directory / "messages"), sep="\n")
    print("o2 is open for", job.query_state("reminders", "open", "o2").result())
    job.cancel().result()

    print("stopped, an hour passes, started again")
    add(directory / "events", f"order,o3,{HOUR + 2000}")
    job = start(directory)
    until(lambda: len(written(directory / "messages")) == 2)
    print(*written(directory / "messages"), sep="\n")
    job.cancel().result()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        start(Path(sys.argv[1])).get_job_execution_result().result()
    else:
        with tempfile.TemporaryDirectory() as name:
            show(Path(name))
