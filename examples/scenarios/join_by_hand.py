"""Joining two streams by hand: whichever side comes first waits in state for the other, but not for ever.

Prints:

    1: tea by bicycle
    2: cake by van
    unmatched: 3: cup
"""

from __future__ import annotations

from scurry.common import Types
from scurry.datastream import KeyedCoProcessFunction, OutputTag
from scurry.datastream.state import ValueStateDescriptor
from scurry.testing import TestHarness

UNMATCHED = OutputTag("unmatched", Types.STRING())


class Match(KeyedCoProcessFunction):
    def open(self, runtime_context):
        self.order = runtime_context.get_state(ValueStateDescriptor("order", Types.STRING()))
        self.delivery = runtime_context.get_state(ValueStateDescriptor("delivery", Types.STRING()))

    def process_element1(self, order, ctx):
        yield from self.meet(order[1], self.order, self.delivery, ctx)

    def process_element2(self, delivery, ctx):
        yield from self.meet(delivery[1], self.delivery, self.order, ctx)

    def meet(self, value, own, other, ctx):
        own.update(value)
        if other.value() is None:
            ctx.timer_service().register_event_time_timer(ctx.timestamp() + 60_000)
            return
        yield f"{ctx.get_current_key()}: {self.order.value()} by {self.delivery.value()}"
        self.order.clear()
        self.delivery.clear()

    def on_timer(self, timestamp, ctx):
        alone = self.order.value() or self.delivery.value()
        if alone:
            yield UNMATCHED, f"{ctx.get_current_key()}: {alone}"
        self.order.clear()
        self.delivery.clear()


def joined(orders, deliveries):
    return orders.connect(deliveries).key_by(lambda order: order[0], lambda delivery: delivery[0]).process(Match())


with TestHarness.of(joined) as harness:
    harness.process((1, "tea"), 0, input=1)
    harness.process((2, "van"), 1_000, input=2)
    harness.process((1, "bicycle"), 2_000, input=2)
    harness.process((2, "cake"), 3_000, input=1)
    harness.process((3, "cup"), 4_000, input=1)
    harness.advance_watermark(100_000)
    print(*harness.outputs(), sep="\n")
    print("unmatched:", *harness.side_output(UNMATCHED))
