"""ML_PREDICT in tasks of Spark, in both modes, with a class that is sent to workers."""

from __future__ import annotations

from pathlib import Path

import pytest

from scurry.table import EnvironmentSettings, TableEnvironment

pytestmark = pytest.mark.spark

MODULE = """
import asyncio

class Brackets:
    async def predict(self, text):
        await asyncio.sleep(0)
        return f"<{text}>"
"""


@pytest.mark.parametrize("mode", ["batch", "streaming"])
def test_each_row_has_its_answer(mode: str, tmp_path: Path) -> None:
    module = tmp_path / f"sent_models_{mode}.py"
    module.write_text(MODULE)
    settings = EnvironmentSettings.in_batch_mode() if mode == "batch" else EnvironmentSettings.in_streaming_mode()
    settings.get_configuration().set_string("scurry.runner", "spark").set_string("parallelism.default", "2")
    env = TableEnvironment.create(settings)
    env.add_python_file(str(module))
    env.execute_sql(
        "CREATE MODEL m INPUT (a STRING) OUTPUT (b STRING) "
        f"WITH ('provider' = 'python', 'class' = '{module.stem}.Brackets')"
    )
    table = env.from_elements([(number, f"t{number}") for number in range(500)], ["id", "s"])
    env.create_temporary_view("v", table)
    query = "SELECT id, b FROM ML_PREDICT(TABLE v, MODEL m, DESCRIPTOR(s), MAP['max-concurrent-operations', '50'])"
    found = sorted(tuple(row) for row in env.execute_sql(query).collect())
    assert found == [(number, f"<t{number}>") for number in range(500)]
