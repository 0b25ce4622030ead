"""Random patterns and texts of dates and times, beside what Java 17 made of them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from scurry.errors import EvaluationError
from scurry.sql.functions.java_time import Moment, days_from_civil, format_moment, parse_leniently, parse_moment
from sql.functions.evaluation import value

JAVA = Path(__file__).parents[2] / "fixtures" / "java"


def recorded(name: str) -> Iterator[list[str]]:
    for line in (JAVA / f"{name}.txt").read_text(encoding="utf-8").splitlines()[1:]:
        yield line.split("\t")


def milliseconds(text: str, pattern: str) -> str:
    found = parse_leniently(text, pattern)
    return "null" if found is None else str(found[0].seconds * 1000 + found[0].nanoseconds // 1_000_000)


def moment_of(parts: str) -> Moment | None:
    """The wall clock of Java's parts, which may run over as they do in Flink."""
    if parts == "null":
        return None
    year, month, day, hour, minute, second, nanosecond = map(int, parts.split(","))
    days = days_from_civil(year, month, 1) + day - 1
    return Moment(days * 86_400 + (hour * 60 + minute) * 60 + second, nanosecond)


def formatted(pattern: str, milliseconds: int, simple: bool) -> str:
    try:
        return format_moment(Moment(milliseconds // 1000, milliseconds % 1000 * 1_000_000), pattern, simple)
    except EvaluationError:
        return "error"


def test_texts_are_read_as_simple_date_format_does() -> None:
    found = {
        (pattern, text): (java, milliseconds(text, pattern)) for pattern, text, java in recorded("simple_date_format")
    }
    assert {case: pair for case, pair in found.items() if pair[0] != pair[1]} == {}


def test_texts_are_read_as_date_time_formatter_does() -> None:
    cases = list(recorded("date_time_formatter"))
    found = {(pattern, text): (moment_of(java), parse_moment(text, pattern)) for pattern, text, java in cases}
    assert {case: pair for case, pair in found.items() if pair[0] != pair[1]} == {}


def test_times_are_written_as_java_does() -> None:
    cases = list(recorded("formatted_times"))
    found = {(kind, pattern, at): (java, formatted(pattern, int(at), kind == "S")) for kind, pattern, at, java in cases}
    assert {case: pair for case, pair in found.items() if pair[0] != pair[1]} == {}


def test_a_year_of_two_digits_is_at_most_eighty_years_ago(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: 1_795_651_200.0)  # 2026-11-26
    found = [parse_leniently(text, "yy-MM-dd") for text in ("46-11-25", "46-11-26", "45-12-31", "47-01-01")]
    assert [moment[0].date for moment in found if moment is not None] == [
        (2046, 11, 25), (1946, 11, 26), (2045, 12, 31), (1947, 1, 1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("TO_DATE('2022-12-25', 'YYYY-MM-dd')", "2021-12-26"),
        ("TO_DATE('12/25/2022', 'MM/DD/YYYY')", "2021-12-26"),
        ("UNIX_TIMESTAMP('2022-12-25', 'YYYY-MM-DD')", 1640476800),
        ("TO_TIMESTAMP('2022-12-25 01:02:03', 'YYYY-MM-DD hh:mm:ss')", "1970-12-01 00:02:03"),
        ("TO_DATE('1500-03-01', 'yyyy-MM-dd')", "1500-03-11"),
        ("DATE_FORMAT('2022-12-25 01:02:03', 'YYYY-ww FF')", "2022-53 04"),
    ],
)
def test_functions_read_and_write_by_the_letters_of_flink(expression: str, expected: object) -> None:
    found = value(f"CAST({expression} AS STRING)") if isinstance(expected, str) else value(expression)
    assert str(found).removesuffix(".000") == str(expected)
