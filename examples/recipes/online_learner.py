"""Machine learning: an online learner per key, whose weights are keyed state.

Each record is predicted before the learner sees its answer, so the errors tell how well it does on data that is new.
Recursive least squares keeps the weights and the inverse of their normal equations: its memory does not grow.

Prints:

    meter a: mean error 0.20 over the first 20 records, 0.00 over the last 20: weights 3.0 -2.0
    meter b: mean error 0.33 over the first 20 records, 0.00 over the last 20: weights 0.5 7.0
"""

from __future__ import annotations

import numpy as np

from scurry.common import Types
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.functions import KeyedProcessFunction
from scurry.datastream.state import ValueStateDescriptor


class RecursiveLeastSquares(KeyedProcessFunction):
    def open(self, runtime_context):
        self.learner = runtime_context.get_state(ValueStateDescriptor("learner", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, record, ctx):
        meter, x, answer = record
        x = np.array(x)
        weights, inverse = self.learner.value() or (np.zeros(len(x)), np.eye(len(x)) * 1000)
        error = answer - x @ weights
        gain = inverse @ x / (1 + x @ inverse @ x)
        weights = weights + gain * error
        self.learner.update((weights, inverse - np.outer(gain, x @ inverse)))
        yield meter, abs(error), weights


random = np.random.default_rng(seed=1)
TRUTH = {"meter a": np.array([3.0, -2.0]), "meter b": np.array([0.5, 7.0])}
records = [
    (meter, x.tolist(), float(x @ truth + random.normal(0, 0.001)))
    for x in random.uniform(-1, 1, (100, 2))
    for meter, truth in TRUTH.items()
]

env = StreamExecutionEnvironment.get_execution_environment()
learned = env.from_collection(records).key_by(lambda record: record[0]).process(RecursiveLeastSquares())
with learned.execute_and_collect("learn") as results:
    steps = list(results)
for meter in TRUTH:
    errors = [error for name, error, _ in steps if name == meter]
    weights = [weights for name, _, weights in steps if name == meter][-1]
    first, last = np.mean(errors[:20]), np.mean(errors[-20:])
    shown = " ".join(f"{weight:.1f}" for weight in weights)
    print(f"{meter}: mean error {first:.2f} over the first 20 records, {last:.2f} over the last 20: weights {shown}")
