"""VectorIndex finds what comparing each pair finds."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from scurry.connectors.vectors import index
from scurry.connectors.vectors.contract import METRICS, WrongVectorError
from scurry.connectors.vectors.index import VectorIndex


def score(metric: str, one: np.ndarray, other: np.ndarray) -> float:
    if metric == "dot_product":
        return float(one @ other)
    if metric == "euclidean":
        return float(1 / (1 + np.linalg.norm(one - other)))
    lengths = np.linalg.norm(one) * np.linalg.norm(other)
    return float(one @ other / lengths) if lengths else 0.0


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("kind", [pa.float32(), pa.float64()])
@pytest.mark.parametrize("at_once", [1, 4 << 20])
def test_the_nearest_are_those_of_all_pairs(
    metric: str, kind: pa.DataType, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "_PRODUCTS_AT_ONCE", at_once)
    random = np.random.default_rng(7)
    table = random.normal(size=(3000, 5)).astype(kind.to_pandas_dtype())
    table[20] = table[10]  # equal scores are in the order of the rows
    table[30] = 0
    asked = random.normal(size=(9, 5)).astype(kind.to_pandas_dtype())
    asked[4] = 0
    found = VectorIndex(pa.array([None, *table.tolist()], pa.list_(kind)), metric)
    positions, places, scores = found.nearest(pa.array([*asked.tolist(), None], pa.list_(kind)), 7)
    for query in range(9):
        exact = [score(metric, asked[query].astype(float), each.astype(float)) for each in table]
        best = sorted(range(3000), key=lambda place: (-round(exact[place], 9), place))[:7]
        own = positions == query
        assert scores[own] == pytest.approx([exact[place] for place in best])
        assert (places[own] - 1).tolist() == best
    assert 9 not in positions


def test_a_score_does_not_depend_on_the_other_vectors_of_its_block() -> None:
    random = np.random.default_rng(3)
    table, asked = random.normal(size=(500, 33)), random.normal(size=(64, 33))
    found = VectorIndex(pa.array(table.tolist(), pa.list_(pa.float32())), "cosine")
    together = found.nearest(pa.array(asked.tolist(), pa.list_(pa.float32())), 5)
    alone = [found.nearest(pa.array([each], pa.list_(pa.float32())), 5) for each in asked.tolist()]
    assert together[1].tolist() == np.concatenate([each[1] for each in alone]).tolist()
    assert together[2].tolist() == np.concatenate([each[2] for each in alone]).tolist()


@pytest.mark.parametrize(
    ("vectors", "said"),
    [
        ([[1.0, 2.0], None, [1.0]], "has 1 elements, others of the table have 2"),
        ([[1.0, 2.0], None, [None, 1.0]], "has an element that is NULL"),
    ],
)
def test_vectors_that_cannot_be_compared_are_named(vectors: list[list[float] | None], said: str) -> None:
    with pytest.raises(WrongVectorError, match=said) as refused:
        VectorIndex(pa.array(vectors, pa.list_(pa.float64())), "cosine")
    assert refused.value.position == 2
