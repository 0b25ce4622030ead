"""Finds pairs of shapes of one colour, by rules that change while the job runs: Flink's example of broadcast state.

    scurry run examples/shapes.py
    scurry run --mode batch examples/shapes.py

Items, each a shape in a colour, are keyed by colour. A rule says which shape must follow which; rules come on a stream
of their own, which is broadcast, so that every subtask knows all rules, whatever colours it has. A batch job knows its
last rules before it sees the first item.
"""

from __future__ import annotations

import argparse
from random import Random
from typing import NamedTuple

from scurry.common import Types, WatermarkStrategy
from scurry.datastream import KeyedBroadcastProcessFunction, RuntimeContext, StreamExecutionEnvironment
from scurry.datastream.connectors import DataGeneratorSource
from scurry.datastream.state import MapStateDescriptor

ITEMS = 160
SHAPES = ["circle", "square", "triangle"]
COLORS = ["red", "green", "blue"]


class Item(NamedTuple):
    number: int
    shape: str
    color: str


class Rule(NamedTuple):
    """Some time after the first shape comes the second, in the same colour. Without shapes the rule is withdrawn."""

    name: str
    first: str = ""
    second: str = ""


RULE_BOOK = [
    Rule("growing", "triangle", "square"),
    Rule("twins", "circle", "circle"),
    Rule("growing", "square", "circle"),
    Rule("twins"),
]

RULES = MapStateDescriptor("rules", Types.STRING(), Types.PICKLED_BYTE_ARRAY())
WAITING = MapStateDescriptor("waiting", Types.STRING(), Types.PICKLED_BYTE_ARRAY())


def item(number: int) -> Item:
    random = Random(number)
    return Item(number, random.choice(SHAPES), random.choice(COLORS))


class Match(KeyedBroadcastProcessFunction):
    """Keeps the rules in broadcast state and, per colour, the items that wait for a second one in keyed state."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.waiting = runtime_context.get_map_state(WAITING)  # name of a rule -> items
        self.announces = runtime_context.get_index_of_this_subtask() == 0

    def process_element(self, item, ctx):
        for name, rule in ctx.get_broadcast_state(RULES).items():
            waiting = self.waiting.get(name) or []
            if item.shape == rule.second and waiting:
                for first in waiting:
                    yield f"{item.color}: {first.shape} {first.number}, {item.shape} {item.number} ({name})"
                self.waiting.remove(name)
                waiting = []
            if item.shape == rule.first:
                self.waiting.put(name, [*waiting, item])

    def process_broadcast_element(self, rule, ctx):
        rules = ctx.get_broadcast_state(RULES)
        if rule.first:
            rules.put(rule.name, rule)
        else:
            rules.remove(rule.name)
        # what waits for its second item was taken under the rule as it was before
        ctx.apply_to_keyed_state(WAITING, lambda color, waiting: waiting.remove(rule.name))
        if self.announces:  # all subtasks get the rule; one is enough to tell
            yield f"rule {rule.name}: " + (f"{rule.first}, then {rule.second}" if rule.first else "withdrawn")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rate", type=float, default=20, help="items per second (default: 20), a rule for each 40")
    args = parser.parse_args()

    env = StreamExecutionEnvironment.get_execution_environment()
    no_watermarks = WatermarkStrategy.no_watermarks()
    # one reader each, so that items and rules stay in order
    items = env.from_source(DataGeneratorSource(item, ITEMS, args.rate), no_watermarks, "items").set_parallelism(1)
    rule_source = DataGeneratorSource(RULE_BOOK.__getitem__, len(RULE_BOOK), args.rate / 40)
    rules = env.from_source(rule_source, no_watermarks, "rules").set_parallelism(1)

    by_color = items.key_by(lambda item: item.color, key_type=Types.STRING())
    matches = by_color.connect(rules.broadcast(RULES)).process(Match(), output_type=Types.STRING()).name("match")
    matches.print().set_parallelism(1)
    env.execute("shapes")


if __name__ == "__main__":
    main()
