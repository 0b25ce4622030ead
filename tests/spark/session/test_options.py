"""The settings of the sessions that scurry makes."""

from __future__ import annotations

import pytest

from scurry.spark.session.options import session_options

RETAINED = "spark.ui.retainedTasks"


def test_without_its_ui_spark_keeps_a_short_history() -> None:
    assert int(session_options("local[2]", {}, bounded=True)[RETAINED]) < 1000


def test_with_its_ui_spark_keeps_what_it_keeps_by_default() -> None:
    assert RETAINED not in session_options("local[2]", {"spark.ui.enabled": "true"}, bounded=True)


@pytest.mark.parametrize("key", [RETAINED, "spark.buffer.pageSize"])
def test_the_settings_of_the_job_take_precedence(key: str) -> None:
    assert session_options("local[2]", {key: "123456"}, bounded=False)[key] == "123456"
