"""Machine learning with Spark's own library: pyspark.ml trains on history, a process function serves the model.

A model of pyspark.ml lives in the JVM, which workers do not have; its coefficients are numbers, which they take along.
Run it on Spark, not with `--runner local`.

Prints:

    trained on 200 flats: 1000 + 50 per square metre + 20 per room
    80 square metres, 3 rooms: 5060
    45 square metres, 2 rooms: 3290
"""

from __future__ import annotations

import numpy as np
from pyspark.ml.feature import VectorAssembler
from pyspark.ml.regression import LinearRegression
from pyspark.sql import SparkSession

from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.functions import ProcessFunction


def train(history: list[tuple]) -> np.ndarray:
    spark = SparkSession.builder.getOrCreate()
    flats = spark.createDataFrame(history, ["area", "rooms", "price"])
    features = VectorAssembler(inputCols=["area", "rooms"], outputCol="features").transform(flats)
    model = LinearRegression(labelCol="price").fit(features)
    per_metre, per_room = model.coefficients
    print(
        f"trained on {features.count()} flats: {model.intercept:.0f} + {per_metre:.0f} per square metre "
        f"+ {per_room:.0f} per room"
    )
    return np.array([model.intercept, per_metre, per_room])


class Predict(ProcessFunction):
    def __init__(self, weights: np.ndarray) -> None:
        self.weights = weights

    def process_element(self, flat, ctx):
        area, rooms = flat
        yield f"{area} square metres, {rooms} rooms: {np.dot([1, area, rooms], self.weights):.0f}"


random = np.random.default_rng(seed=1)
areas, rooms, noise = random.uniform(30, 150, 200), random.integers(1, 6, 200), random.normal(0, 0.01, 200)
prices = 1000 + 50 * areas + 20 * rooms + noise
weights = train(list(zip(areas.tolist(), rooms.tolist(), prices.tolist(), strict=True)))

env = StreamExecutionEnvironment.get_execution_environment()
env.from_collection([(80, 3), (45, 2)]).process(Predict(weights)).print()
env.execute("serve")
