"""Graphs: PageRank in rounds of BATCH jobs, each of which reads what the one before has cached.

A page gives its rank to the pages it links to, in equal parts; the rank of pages without links goes to all pages. It
ends when ranks have changed by less than a millionth in sum.

Prints:

    home     0.3732
    about    0.2133
    news     0.2133
    legal    0.1454
    draft    0.0547
    1.0000 in sum
"""

from __future__ import annotations

from collections.abc import Callable

from scurry.datastream import DataStream, RuntimeExecutionMode, StreamExecutionEnvironment

LINKS = [
    ("home", "news"), ("home", "about"), ("news", "home"), ("about", "home"), ("about", "legal"), ("draft", "home"),
]  # fmt: skip
DAMPING = 0.85


def both_ends(link: tuple) -> list:
    source, target = link
    return [(source, (target,)), (target, ())]


def give(page: tuple) -> list:
    """Return the page with its former rank, and what it gives: name, links, former rank, new rank."""
    name, links, _, rank = page
    return [(name, links, rank, 0.0), *((other, (), 0.0, rank / len(links)) for other in links)]


def add(a: tuple, b: tuple) -> tuple:
    return a[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]


def total(pages: DataStream, of: Callable) -> float:
    sums = pages.map(of).key_by(lambda _: "all").reduce(lambda a, b: a + b)
    with sums.execute_and_collect() as results:
        return next(iter(results), 0.0)


env = StreamExecutionEnvironment.get_execution_environment()
env.set_runtime_mode(RuntimeExecutionMode.BATCH)
ends = env.from_collection(LINKS).flat_map(both_ends)
links = ends.key_by(lambda page: page[0]).reduce(lambda a, b: (a[0], a[1] + b[1])).cache()
count = total(links, lambda page: 1)
pages = links.map(lambda page: (page[0], page[1], 0.0, 1 / count))
change = 1.0
while change > 1e-6:
    lost = total(pages, lambda page: 0.0 if page[1] else page[3])
    given = pages.flat_map(give).key_by(lambda page: page[0]).reduce(add)
    base = (1 - DAMPING + DAMPING * lost) / count
    pages = given.map(lambda page, base=base: (*page[:3], base + DAMPING * page[3])).cache()
    change = total(pages, lambda page: abs(page[3] - page[2]))

with pages.execute_and_collect("ranks") as results:
    ranks = {name: rank for name, _, _, rank in results}
for name in sorted(ranks, key=lambda name: (-round(ranks[name], 9), name)):
    print(f"{name:8} {ranks[name]:.4f}")
print(f"{sum(ranks.values()):.4f} in sum")
