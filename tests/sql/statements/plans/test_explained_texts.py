"""EXPLAIN shows what Flink 2.3 shows, which `explained` has as it was recorded.

A section whose text differs is in `explained/differences.txt`, with the reason, until it is equal.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from scurry.table import EnvironmentSettings, ExplainDetail, TableEnvironment

DIRECTORY = Path(__file__).parent / "explained"
SECTIONS = ("Abstract Syntax Tree", "Optimized Physical Plan", "Optimized Execution Plan")

#: Sections as `differences.txt` names them.
_WORDS = {"tree": SECTIONS[0], "physical": SECTIONS[1], "execution": SECTIONS[2]}


def differing() -> dict[tuple[str, str], str]:
    """Return why sections differ, by `MODE/NAME` and title; in the file, `# reason` heads names with sections."""
    found, reason = {}, ""
    for line in (DIRECTORY / "differences.txt").read_text().splitlines():
        if line.startswith("# "):
            reason = line.removeprefix("# ")
        elif line:
            name, *sections = line.split()
            found.update({(name, _WORDS[each]): reason for each in sections})
    return found


def recorded(mode: str) -> dict[str, tuple[str, str]]:
    """Return the statements of a mode with what Flink shows, by their names."""
    found = {}
    for part in re.split(r"^#### ", (DIRECTORY / f"{mode}.txt").read_text(), flags=re.MULTILINE)[1:]:
        name, statement, text = part.split("\n", 2)
        found[name] = (statement, text)
    return found


def cases() -> Iterator[object]:
    reasons = differing()
    for mode in ("streaming", "batch"):
        for name in recorded(mode):
            for section in SECTIONS:
                reason = reasons.pop((f"{mode}/{name}", section), None)
                marks = [] if reason is None else [pytest.mark.xfail(strict=True, reason=reason)]
                yield pytest.param(mode, name, section, id=f"{mode}-{name}-{section}", marks=marks)
    assert not reasons, f"these are not recorded: {list(reasons)}"


@functools.cache
def environment(mode: str) -> TableEnvironment:
    settings = EnvironmentSettings.in_streaming_mode() if mode == "streaming" else EnvironmentSettings.in_batch_mode()
    env = TableEnvironment.create(settings)
    env.get_config().set("table.local-time-zone", "UTC")
    for statement in (DIRECTORY / "tables.sql").read_text().split(";\n")[:-1]:
        env.execute_sql(statement)
    return env


@functools.cache
def shown(mode: str, name: str) -> str:
    return environment(mode).explain_sql(recorded(mode)[name][0])


def section_of(text: str, title: str) -> str:
    """Return a section, in which rows around queries are numbered from 0: in Flink by what was planned before."""
    section = text.partition(f"== {title} ==\n")[2].partition("\n==")[0].strip()
    numbers: dict[str, str] = {}
    return re.sub(r"\$cor\d+", lambda found: numbers.setdefault(found[0], f"$cor{len(numbers)}"), section)


@pytest.mark.parametrize(("mode", "name", "section"), list(cases()))
def test_the_text_is_flinks(mode: str, name: str, section: str) -> None:
    assert section_of(shown(mode, name), section) == section_of(recorded(mode)[name][1], section)


@pytest.mark.parametrize("name", list(recorded("changes")))
def test_changes_are_flinks(name: str) -> None:
    statement, flinks = recorded("changes")[name]
    text = environment(name.partition("/")[0]).explain_sql(statement, ExplainDetail.CHANGELOG_MODE)
    assert [section_of(text, each) for each in SECTIONS] == [section_of(flinks, each) for each in SECTIONS]


@pytest.mark.parametrize("name", list(recorded("sets")))
def test_parts_that_sinks_share_stand_before_them(name: str) -> None:
    statements, flinks = recorded("sets")[name]
    together = environment(name.partition("/")[0]).create_statement_set()
    for each in statements.split(";"):
        together.add_insert_sql(each)
    text = together.explain()
    assert [section_of(text, each) for each in SECTIONS] == [section_of(flinks, each) for each in SECTIONS]


def test_a_watermark_that_is_the_time_itself_is_assigned_above_computed_columns() -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.execute_sql(
        "CREATE TABLE w (v INT, ms BIGINT, ts AS TO_TIMESTAMP_LTZ(ms, 3), WATERMARK FOR ts AS ts) WITH ('connector' = "
        "'datagen')"
    )
    text = env.explain_sql("SELECT ts FROM w WHERE v > 1")
    assert "LogicalWatermarkAssigner(rowtime=[ts], watermark=[$2])" in text
    assert section_of(text, "Optimized Execution Plan").splitlines() == [
        "Calc(select=[ts], where=[(v > 1)])",
        "+- WatermarkAssigner(rowtime=[ts], watermark=[ts])",
        "   +- Calc(select=[v, TO_TIMESTAMP_LTZ(ms, 3) AS ts])",
        "      +- TableSourceScan(table=[[default_catalog, default_database, w]], fields=[v, ms])",
    ]
