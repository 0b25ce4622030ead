"""The settings of the sessions that scurry makes."""

from __future__ import annotations

import pytest

from scurry.spark.session.options import SPILL, session_options

RETAINED = "spark.ui.retainedTasks"


def test_without_its_ui_spark_keeps_a_short_history() -> None:
    assert int(session_options("local[2]", {}, bounded=True)[RETAINED]) < 1000


def test_with_its_ui_spark_keeps_what_it_keeps_by_default() -> None:
    assert RETAINED not in session_options("local[2]", {"spark.ui.enabled": "true"}, bounded=True)


def test_in_the_default_heap_what_tasks_sort_is_bounded() -> None:
    assert int(session_options("local[2]", {}, bounded=True)[SPILL]) < 1 << 28


@pytest.mark.parametrize(
    ("master", "settings"), [("local[2]", {"spark.driver.memory": "8g"}), ("spark://10.0.0.1:7077", {})]
)
def test_in_other_heaps_spark_decides_how_much_a_task_sorts(master: str, settings: dict[str, str]) -> None:
    assert SPILL not in session_options(master, settings, bounded=True)


@pytest.mark.parametrize("key", [RETAINED, "spark.buffer.pageSize", SPILL])
def test_the_settings_of_the_job_take_precedence(key: str) -> None:
    assert session_options("local[2]", {key: "123456"}, bounded=False)[key] == "123456"
