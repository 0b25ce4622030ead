"""Product recommendation: clicks meet the catalogue, and what is clicked together is recommended together.

Prints:

    with cup: tea (1)
    with tea: cup (1)
    with tea: cup (2)
    with cup: tea (2)
"""

from __future__ import annotations

from collections import Counter

from scurry.common import Types
from scurry.datastream import KeyedBroadcastProcessFunction, KeyedProcessFunction
from scurry.datastream.state import ListStateDescriptor, MapStateDescriptor
from scurry.testing import TestHarness

CATALOGUE = MapStateDescriptor("catalogue", Types.STRING(), Types.STRING())
CLICKED = ListStateDescriptor("clicked", Types.STRING())
TOGETHER = MapStateDescriptor("together", Types.STRING(), Types.INT())


class Pairs(KeyedBroadcastProcessFunction):
    """Per user: each click makes pairs with the earlier ones; products that nobody sells are passed over."""

    def open(self, runtime_context):
        self.clicked = runtime_context.get_list_state(CLICKED)

    def process_element(self, click, ctx):
        product = click[1]
        if not ctx.get_broadcast_state(CATALOGUE).contains(product):
            return
        for other in self.clicked.get():
            if other != product:
                yield product, other
                yield other, product
        self.clicked.add(product)

    def process_broadcast_element(self, entry, ctx):
        ctx.get_broadcast_state(CATALOGUE).put(*entry)


class Recommend(KeyedProcessFunction):
    """Per product: what was clicked with it most often."""

    def open(self, runtime_context):
        self.together = runtime_context.get_map_state(TOGETHER)

    def process_element(self, pair, ctx):
        self.together.put(pair[1], (self.together.get(pair[1]) or 0) + 1)
        best, times = Counter(dict(self.together.items())).most_common(1)[0]
        yield f"with {pair[0]}: {best} ({times})"


def recommendations(clicks, catalogue):
    pairs = clicks.key_by(lambda click: click[0]).connect(catalogue.broadcast(CATALOGUE)).process(Pairs())
    return pairs.key_by(lambda pair: pair[0]).process(Recommend())


with TestHarness.of(recommendations) as harness:
    for product in ("tea", "cup", "cake"):
        harness.process((product, product.title()), input=2)
    for click in [("ann", "tea"), ("ann", "cup"), ("bob", "cup"), ("bob", "gone"), ("bob", "tea"), ("cid", "cake")]:
        harness.process(click, input=1)
    print(*harness.outputs(), sep="\n")
