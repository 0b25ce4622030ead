"""Functions of users register metrics in both modes, as in PyFlink; those of BATCH are not reported."""

from __future__ import annotations

from typing import Any

import pytest

from scurry.table import DataTypes, FunctionContext, ScalarFunction
from scurry.table.udf import udf
from support.statements.tables import environment, rows


class Counting(ScalarFunction):
    def open(self, function_context: FunctionContext) -> None:
        group = function_context.get_metric_group().add_group("key", "value")
        self.counter = group.counter("seen")
        self.sizes = group.distribution("sizes")

    def eval(self, n: int) -> Any:
        self.counter.inc(n)
        self.sizes.update(n)
        return self.counter.get_count()


@pytest.mark.parametrize("streaming", [True, False])
def test_a_function_counts(streaming: bool) -> None:
    env = environment(streaming)
    env.create_temporary_function("counted", udf(Counting(), result_type=DataTypes.BIGINT()))
    assert sorted(rows(env, "SELECT counted(n) FROM (VALUES (1), (2), (3)) t(n)"))[-1] == (6,)
