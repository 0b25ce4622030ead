"""DataFrames of `pyflink.dataframe` on Spark: functions, joins and running streams give what they give in process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypedDict

import pytest

import scurry.dataframe as pf
from scurry.common._process import launch

pytestmark = pytest.mark.spark


class Word(TypedDict):
    word: str


class Times:
    def __init__(self) -> None:
        self.factor = 3

    def __call__(self, value: int) -> int:
        return value * self.factor


def words(row: dict[str, Any]) -> Iterator[Word]:
    for each in row["text"].split():
        yield {"word": each}


@pytest.mark.parametrize("mode", ["BATCH", "STREAMING"])
def test_functions_joins_and_a_part_of_a_stream(mode: str) -> None:
    with launch.activate(launch.LaunchOptions()):
        pf.config.set("scurry.runner", "spark").set("execution.runtime-mode", mode)
        df = pf.from_dict({"id": [1, 2], "text": ["a b", "c"]})
        assert sorted(row["word"] for row in df.flat_map(words).iter_rows()) == ["a", "b", "c"]
        names = pf.from_dict({"id": [1, 2], "name": ["x", "y"]})
        sums = df.join(names, on="id").group_by("name").agg(s=pf.udf(Times)(pf.col("id")).sum).to_pandas()
        assert sorted(zip(sums["name"], sums["s"], strict=True)) == [("x", 3), ("y", 6)]
        ticks = pf.read_generic("datagen", schema={"n": pf.DataType.int64()}, options={"number-of-rows": "20"})
        assert len(ticks.take(5, timeout=300)) == 5
