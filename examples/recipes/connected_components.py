"""Graphs: connected components in rounds of BATCH jobs, each of which reads what the one before has cached.

A vertex carries its neighbours and the smallest name it has heard of. In a round it tells this name to its neighbours;
when no vertex has learnt a smaller one, vertices with the same name are a component.

Prints:

    5 rounds
    a: a b c d e
    x: x y
    z: z
"""

from __future__ import annotations

from scurry.datastream import DataStream, RuntimeExecutionMode, StreamExecutionEnvironment

EDGES = [("e", "d"), ("d", "c"), ("c", "b"), ("a", "b"), ("y", "x"), ("z", "z")]


def both_ends(edge: tuple) -> list:
    source, target = edge
    return [(source, (target,), source, False), (target, (source,), target, False)]


def tell(vertex: tuple) -> list:
    name, neighbours, component, _ = vertex
    return [(name, neighbours, component, False), *((other, (), component, False) for other in neighbours)]


def hear(a: tuple, b: tuple) -> tuple:
    """The vertex itself is the one with neighbours; it has changed if it has heard of a smaller name."""
    itself, message = (a, b) if a[1] else (b, a)
    name, neighbours, component, changed = itself
    return name, neighbours, min(component, message[2]), changed or message[3] or message[2] < component


def by_name(vertices: DataStream) -> DataStream:
    return vertices.key_by(lambda vertex: vertex[0])


env = StreamExecutionEnvironment.get_execution_environment()
env.set_runtime_mode(RuntimeExecutionMode.BATCH)
edges = env.from_collection(EDGES).flat_map(both_ends)
vertices = by_name(edges).reduce(lambda a, b: (a[0], a[1] + b[1], a[2], False)).cache()
rounds, changed = 0, True
while changed:
    vertices = by_name(vertices.flat_map(tell)).reduce(hear).cache()
    rounds += 1
    with vertices.filter(lambda vertex: vertex[3]).execute_and_collect(f"round {rounds}") as results:
        changed = any(results)

print(rounds, "rounds")
members = vertices.map(lambda vertex: (vertex[2], vertex[0])).key_by(lambda pair: pair[0])
with members.reduce(lambda a, b: (a[0], f"{a[1]} {b[1]}")).execute_and_collect("components") as results:
    for component, names in sorted(results):
        print(f"{component}: {' '.join(sorted(names.split()))}")
