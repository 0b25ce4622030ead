"""Machine learning: a model is trained in BATCH over history and served in a process function.

Training is one pass that any number of workers share: each record becomes its part of the normal equations, and the
parts are added. The solution is the least-squares fit of the price on area and rooms.

Prints:

    trained on 200 flats: 1000 + 50 per square metre + 20 per room
    80 square metres, 3 rooms: 5060
    45 square metres, 2 rooms: 3290
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from scurry.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from scurry.datastream.functions import ProcessFunction


def normal_equations(flat: tuple) -> list[float]:
    """Return the products of all pairs of 1, area, rooms and price, row by row."""
    values = [1.0, *flat]
    return np.outer(values, values).ravel().tolist()


def train(history: list[tuple], model: Path) -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    parts = env.from_collection(history).map(normal_equations).key_by(lambda part: "all")
    with parts.reduce(lambda a, b: np.add(a, b).tolist()).execute_and_collect("train") as results:
        (total,) = results
    sums = np.reshape(total, (4, 4))
    weights = np.linalg.solve(sums[:3, :3], sums[:3, 3])
    np.save(model, weights)
    base, per_metre, per_room = weights
    print(f"trained on {sums[0, 0]:.0f} flats: {base:.0f} + {per_metre:.0f} per square metre + {per_room:.0f} per room")


class Predict(ProcessFunction):
    """Loads the model once per subtask."""

    def __init__(self, model: Path) -> None:
        self.model = model

    def open(self, runtime_context):
        self.weights = np.load(self.model)

    def process_element(self, flat, ctx):
        area, rooms = flat
        yield f"{area} square metres, {rooms} rooms: {np.dot([1, area, rooms], self.weights):.0f}"


def serve(flats: list[tuple], model: Path) -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.from_collection(flats).process(Predict(model)).print()
    env.execute("serve")


random = np.random.default_rng(seed=1)
areas, rooms, noise = random.uniform(30, 150, 200), random.integers(1, 6, 200), random.normal(0, 0.01, 200)
prices = 1000 + 50 * areas + 20 * rooms + noise
model = Path(tempfile.mkdtemp()) / "flats.npy"
train(list(zip(areas.tolist(), rooms.tolist(), prices.tolist(), strict=True)), model)
serve([(80, 3), (45, 2)], model)
