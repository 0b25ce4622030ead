"""Backfill after a bug fix: the job's own code in BATCH over one day of files, and what it changes.

The job counted returns as sales. The corrected one computes the day again, beside the results of the old one.

Prints:

    2026-01-31: cake 2 instead of 4
    2026-01-31: 1 of 2 results changed, in the report of this day only
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from live_files import add, write, written

from scurry.common import Types, WatermarkStrategy
from scurry.datastream import DataStream, RuntimeExecutionMode, StreamExecutionEnvironment
from scurry.datastream.connectors.file_system import FileSource, StreamFormat

Sale = tuple[str, int]
Parser = Callable[[str], Sale]
DAYS = {
    "2026-01-30": ["sale,tea,3", "sale,cake,4"],
    "2026-01-31": ["sale,tea,5", "sale,cake,3", "return,cake,1", "sale,tea,1"],
    "2026-02-01": ["sale,cake,2"],
}


def with_bug(line: str) -> Sale:
    _, item, pieces = line.split(",")
    return item, int(pieces)


def corrected(line: str) -> Sale:
    kind, item, pieces = line.split(",")
    return item, -int(pieces) if kind == "return" else int(pieces)


def totals(lines: DataStream[str], parsed: Parser) -> DataStream[str]:
    """What the streaming job does with its topic, too."""
    per_item = lines.map(parsed).key_by(lambda sale: sale[0])
    summed = per_item.reduce(lambda one, other: (one[0], one[1] + other[1])).uid("totals")
    return summed.map(lambda sale: f"{sale[0]} {sale[1]}", Types.STRING())


def process(day: Path, target: Path, parsed: Parser) -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(day)).build()
    lines = env.from_source(source, WatermarkStrategy.no_watermarks(), day.name, Types.STRING())
    write(totals(lines, parsed), target)
    env.execute(f"{target.name} {day.name}")


def compare(old: list[str], new: list[str]) -> list[str]:
    before = dict(line.rsplit(" ", 1) for line in old)
    after = dict(line.rsplit(" ", 1) for line in new)
    return [
        f"{item} {after.get(item)} instead of {before.get(item)}"
        for item in sorted(before.keys() | after.keys())
        if before.get(item) != after.get(item)
    ]


def show(work: Path) -> None:
    for day, orders in DAYS.items():
        add(work / "archive" / day, *orders)
        process(work / "archive" / day, work / "report" / day, with_bug)
    kept = {day: written(work / "report" / day) for day in DAYS}

    wrong = "2026-01-31"
    process(work / "archive" / wrong, work / "backfill" / wrong, corrected)
    new = written(work / "backfill" / wrong)
    changes = compare(kept[wrong], new)
    print(*(f"{wrong}: {change}" for change in changes), sep="\n")
    (work / "report" / wrong).rename(work / "report" / f".{wrong}-with-bug")
    (work / "backfill" / wrong).rename(work / "report" / wrong)
    assert all(written(work / "report" / day) == kept[day] for day in DAYS if day != wrong)
    assert written(work / "report" / wrong) == new
    print(f"{wrong}: {len(changes)} of {len(new)} results changed, in the report of this day only")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        show(Path(name))
