"""Fraud detection with rules that change: limits per card come on a stream of their own and hold for later payments.

Prints:

    card 1: limit per day, spent 120 of 100
"""

from __future__ import annotations

from scurry.common import Types
from scurry.datastream import KeyedBroadcastProcessFunction
from scurry.datastream.state import MapStateDescriptor, ValueStateDescriptor
from scurry.testing import TestHarness

LIMITS = MapStateDescriptor("limits", Types.STRING(), Types.INT())
SPENT = ValueStateDescriptor("spent", Types.INT())


class Detector(KeyedBroadcastProcessFunction):
    def open(self, runtime_context):
        self.spent = runtime_context.get_state(SPENT)

    def process_element(self, payment, ctx):
        card, amount = payment
        self.spent.update((self.spent.value() or 0) + amount)
        for rule, limit in ctx.get_broadcast_state(LIMITS).items():
            if self.spent.value() > limit:
                yield f"{card}: {rule}, spent {self.spent.value()} of {limit}"

    def process_broadcast_element(self, rule, ctx):
        ctx.get_broadcast_state(LIMITS).put(*rule)


def alerts(payments, rules):
    return payments.key_by(lambda payment: payment[0]).connect(rules.broadcast(LIMITS)).process(Detector())


with TestHarness.of(alerts) as harness:
    harness.process(("limit per day", 100), input=2)
    harness.process(("card 1", 80), input=1)
    harness.process(("card 2", 60), input=1)
    harness.process(("card 1", 40), input=1)
    harness.process(("limit per day", 200), input=2)
    harness.process(("card 1", 30), input=1)
    print(*harness.outputs(), sep="\n")
