"""What CI does not run each day, it runs within some days."""

from __future__ import annotations

import pytest

from support import cases
from support.cases import DAYS, has_turn, sample


@pytest.mark.parametrize("module", ["test_restore", "test_kill_sql_inserts", "test_flights"])
def test_each_test_has_one_turn_in_some_days_and_each_day_is_one_of_theirs(module: str) -> None:
    days = [[has_turn(module, number, str(20_000 + day)) for number in range(DAYS)] for day in range(DAYS)]
    assert [sum(of_a_day) for of_a_day in days] == [sum(of_a_test) for of_a_test in zip(*days, strict=True)] == [1] * 3


def test_modules_do_not_all_begin_on_one_day() -> None:
    assert len({has_turn(f"test_{letter}", 0, "20000") for letter in "abcdef"}) == 2


def test_all_have_their_turn_without_a_day() -> None:
    assert has_turn("test_restore", 0, None) and has_turn("test_restore", 1, None)


def test_samples_of_successive_days_are_all_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cases, "_TURN", None)
    assert sample("abcdefg", 3) == list("abcdefg")
    found = []
    for day in ("7", "8", "9"):
        monkeypatch.setattr(cases, "_TURN", day)
        found += sample("abcdefg", 3)
    assert sorted(found) == list("abcdefg")
