"""Product recommendation: clicks meet the catalogue, and what is clicked together is recommended together.

    scurry run --runner local --parallelism 1 recommendation.py DIRECTORY

reads `DIRECTORY/catalogue` (tea) and `DIRECTORY/clicks` (ann,tea), and writes `DIRECTORY/recommendations`. A shop asks
from outside what goes with a product: `GET /jobs/{jobid}/state/recommend/together?key="tea"`. Killed and started again,
the job has its catalogue, and what was clicked.

Prints:

    with cup: tea (1)
    with cup: tea (2)
    with tea: cup (1)
    with tea: cup (2)
    stopped, started again
    clicked together with tea: {'cup': 2, 'cake': 1}
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from live_files import add, environment, lines, records_read, until, write, written

from scurry.common import Types
from scurry.common.job_client import JobClient
from scurry.datastream import DataStream, KeyedBroadcastProcessFunction, KeyedProcessFunction
from scurry.datastream.state import ListStateDescriptor, MapStateDescriptor

Click = tuple[str, str]  # user, product
CATALOGUE = MapStateDescriptor("catalogue", Types.STRING(), Types.BOOLEAN())
CLICKED = ListStateDescriptor("clicked", Types.STRING())
TOGETHER = MapStateDescriptor("together", Types.STRING(), Types.INT())


class Pairs(KeyedBroadcastProcessFunction):
    """Per user: each click makes pairs with the earlier ones; products that nobody sells are passed over."""

    def open(self, runtime_context):
        self.clicked = runtime_context.get_list_state(CLICKED)

    def process_element(self, click: Click, ctx) -> Iterator[tuple[str, str]]:
        product = click[1]
        if not ctx.get_broadcast_state(CATALOGUE).contains(product):
            return
        for other in self.clicked.get():
            if other != product:
                yield product, other
                yield other, product
        self.clicked.add(product)

    def process_broadcast_element(self, product: str, ctx) -> None:
        ctx.get_broadcast_state(CATALOGUE).put(product, True)


class Recommend(KeyedProcessFunction):
    """Per product: what was clicked with it most often."""

    def open(self, runtime_context):
        self.together = runtime_context.get_map_state(TOGETHER)

    def process_element(self, pair: tuple[str, str], ctx) -> Iterator[str]:
        self.together.put(pair[1], (self.together.get(pair[1]) or 0) + 1)
        best, times = Counter(dict(self.together.items())).most_common(1)[0]
        yield f"with {pair[0]}: {best} ({times})"


def parsed(line: str) -> Click:
    user, product = line.split(",")
    return user, product


def recommendations(clicks: DataStream[str], catalogue: DataStream[str]) -> DataStream[str]:
    by_user = clicks.map(parsed).key_by(lambda click: click[0])
    pairs = by_user.connect(catalogue.broadcast(CATALOGUE)).process(Pairs()).uid("pairs")
    return pairs.key_by(lambda pair: pair[0]).process(Recommend(), Types.STRING()).uid("recommend")


def start(directory: Path) -> JobClient:
    env = environment(directory)
    found = recommendations(lines(env, directory / "clicks"), lines(env, directory / "catalogue"))
    write(found, directory / "recommendations")
    return env.execute_async("recommendation")


def show(directory: Path) -> None:
    add(directory / "catalogue", "tea", "cup", "cake")
    job = start(directory)
    until(lambda: records_read(job) == 3)  # the catalogue is known
    add(directory / "clicks", "ann,tea", "ann,cup", "bob,cup", "bob,gone", "bob,tea", "cid,cake")
    until(lambda: records_read(job) == 9)
    print(*written(directory / "recommendations"), sep="\n")
    job.cancel().result()

    print("stopped, started again")
    add(directory / "clicks", "cid,tea")
    job = start(directory)
    until(lambda: records_read(job) == 1)
    print("clicked together with tea:", job.query_state("recommend", "together", "tea").result())
    job.cancel().result()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        start(Path(sys.argv[1])).get_job_execution_result().result()
    else:
        with tempfile.TemporaryDirectory() as name:
            show(Path(name))
