"""An event-driven application: orders wait for payments, a service is asked without blocking, and a timer reminds.

Its state can be asked from outside while it runs: `GET /jobs/{jobid}/state/reminders/open?key="o3"` (docs/rest.md).

Prints:

    o1 is paid
    remind bob of o2
"""

from __future__ import annotations

import asyncio

from scurry.common import Time, Types
from scurry.datastream import AsyncDataStream, AsyncFunction, KeyedProcessFunction
from scurry.datastream.state import ValueStateDescriptor
from scurry.testing import TestHarness

OPEN = ValueStateDescriptor("open", Types.STRING())


class Customer(AsyncFunction):
    """Asks a service for the customer of an order."""

    async def async_invoke(self, value):
        kind, order = value
        await asyncio.sleep(0.001)  # the service
        return [(kind, order, {"o1": "ann"}.get(order, "bob"))]


class Reminders(KeyedProcessFunction):
    def open(self, runtime_context):
        self.customer = runtime_context.get_state(OPEN)

    def process_element(self, event, ctx):
        kind, order, customer = event
        if kind == "order":
            self.customer.update(customer)
            ctx.timer_service().register_event_time_timer(ctx.timestamp() + 3_600_000)
        else:
            self.customer.clear()
            yield f"{order} is paid"

    def on_timer(self, timestamp, ctx):
        if self.customer.value():
            yield f"remind {self.customer.value()} of {ctx.get_current_key()}"


def application(events):
    known = AsyncDataStream.ordered_wait(events, Customer(), Time.seconds(5), 10)
    return known.key_by(lambda event: event[1]).process(Reminders()).uid("reminders")


with TestHarness.of(application) as harness:
    harness.process(("order", "o1"), 0)
    harness.process(("order", "o2"), 1_000)
    harness.process(("payment", "o1"), 2_000)
    harness.advance_watermark(3_601_000)
    print(*harness.outputs(), sep="\n")
