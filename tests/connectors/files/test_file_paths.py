"""Patterns of paths, and files that are shared out among readers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyarrow import fs as arrow_fs

from scurry.connectors.files.filesystem import ArrowFileSystem, file_system
from scurry.connectors.files.reading.globs import expand
from scurry.connectors.source import BatchLimits
from scurry.datastream.connectors.file_system import (
    FileEnumeratorProvider,
    FileSource,
    FileSourceBuilder,
    FileSplitAssignerProvider,
    StreamFormat,
)
from scurry.errors import ArgumentError, ArgumentTypeError, SourceNotFoundError

Drive = Callable[..., Any]


def lines(*paths: Any) -> FileSourceBuilder:
    return FileSource.for_record_stream_format(StreamFormat.text_line_format(), *map(str, paths))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("a/1.csv", "a/2.csv", "a/b/3.csv", "c/4.csv", "c/5.txt", "_tmp/6.csv", "a/.7.csv", "c/[8].csv"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return tmp_path


@pytest.mark.parametrize("kind", ["local", "arrow"])
@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("a/*.csv", ["a/1.csv", "a/2.csv"]),
        ("*/?.csv", ["a/1.csv", "a/2.csv", "c/4.csv"]),
        ("**/*.csv", ["a/1.csv", "a/2.csv", "a/b/3.csv", "c/4.csv", "c/[8].csv"]),
        ("c/{4.csv,5.*}", ["c/4.csv", "c/5.txt"]),
        ("a/[!1].csv", ["a/2.csv"]),
        ("a/[0-1].csv", ["a/1.csv"]),
        ("c/[[]8].csv", ["c/[8].csv"]),
        ("c/[8].csv", ["c/[8].csv"]),
        ("[ab]", ["a"]),
        ("_*/*.csv", ["_tmp/6.csv"]),
        ("*/b/*", ["a/b/3.csv"]),
        ("*/nothing", []),
    ],
)
def test_patterns_match_names_part_by_part(tree: Path, kind: str, pattern: str, expected: list[str]) -> None:
    fs = file_system(str(tree))[0] if kind == "local" else ArrowFileSystem(arrow_fs.LocalFileSystem())
    found = expand(fs, f"{tree}/{pattern}", must_exist=False)
    assert [path.removeprefix(f"{tree}/") for path in found] == expected


class TestSources:
    def test_read_what_patterns_match_once(self, tree: Path, drive: Drive) -> None:
        found = drive(lines(tree / "**" / "*.csv", tree / "a").build()).all()
        assert sorted(found) == ["a/1.csv", "a/2.csv", "a/b/3.csv", "c/4.csv", "c/[8].csv"]

    def test_read_all_below_a_directory_that_matches(self, tree: Path, drive: Drive) -> None:
        assert sorted(drive(lines(tree / "[a]").build()).all()) == ["a/1.csv", "a/2.csv", "a/b/3.csv"]

    def test_that_end_need_a_match(self, tree: Path, drive: Drive) -> None:
        with pytest.raises(SourceNotFoundError, match=r"no file or directory matches .*\*\.json"):
            drive(lines(tree / "*.json").build())

    def test_that_go_on_find_matches_later(self, tree: Path, drive: Drive) -> None:
        driver = drive(lines(tree / "*" / "*.json").monitor_continuously(0).build())
        assert driver.batch() == {}
        (tree / "new").mkdir()
        (tree / "new" / "x.json").write_text("{}")
        assert driver.batch() == {0: ["{}"]}
        assert driver.batch() == {}

    @pytest.mark.parametrize("pattern", ["a[", "{a,b"])
    def test_refuse_patterns_that_do_not_end(self, tree: Path, drive: Drive, pattern: str) -> None:
        with pytest.raises(ArgumentError, match="without"):
            drive(lines(tree / pattern).build())


class TestSplits:
    @pytest.fixture
    def numbers(self, tmp_path: Path) -> Path:
        path = tmp_path / "numbers.txt"
        path.write_text("".join(f"{n}\n" for n in range(1000)))
        return path

    def split(self, path: Path, size: int = 500) -> FileSource:
        enumerator = FileEnumeratorProvider.default_splittable_file_enumerator(size)
        builder = lines(path).set_split_assigner(FileSplitAssignerProvider.locality_aware_split_assigner())
        return builder.set_file_enumerator(enumerator).build()

    def test_of_a_large_file_are_read_side_by_side(self, numbers: Path, drive: Drive) -> None:
        channels = drive(self.split(numbers), 4).by_channel()
        assert all(len(records) > 200 for records in channels.values()) and len(channels) == 4
        assert sorted(int(n) for records in channels.values() for n in records) == list(range(1000))

    def test_go_on_where_they_were(self, numbers: Path, drive: Drive) -> None:
        batches = drive(self.split(numbers), 3, BatchLimits(max_bytes=301)).batches(restarting=True)
        found = [int(n) for batch in batches for records in batch.values() for n in records]
        assert sorted(found) == list(range(1000))

    def test_are_not_made_of_compressed_files(self, tmp_path: Path, drive: Drive) -> None:
        import gzip

        path = tmp_path / "numbers.gz"
        path.write_bytes(gzip.compress("".join(f"{n}\n" for n in range(1000)).encode()))
        channels = drive(self.split(path), 4).by_channel()
        assert sorted(map(len, channels.values())) == [0, 0, 0, 1000]

    def test_are_not_made_unless_asked_for(self, numbers: Path, drive: Drive) -> None:
        enumerator = FileEnumeratorProvider.default_non_splittable_file_enumerator()
        for builder in (lines(numbers), lines(numbers).set_file_enumerator(enumerator)):
            assert drive(builder.build(), 4).by_channel()[0] == [str(n) for n in range(1000)]

    def test_positions_from_before_there_were_splits_are_understood(self, numbers: Path, drive: Drive) -> None:
        driver = drive(lines(numbers).build())
        position = driver.enumerator.position()
        position["pending"] = [[[path, start, size] for path, start, _, size in q] for q in position["pending"]]
        driver.enumerator.restore(position)
        assert driver.all() == [str(n) for n in range(1000)]

    def test_need_a_size(self) -> None:
        with pytest.raises(ArgumentError, match="positive"):
            FileEnumeratorProvider.default_splittable_file_enumerator(0)
        with pytest.raises(ArgumentTypeError, match="FileEnumeratorProvider"):
            lines("x").set_file_enumerator("default")  # type: ignore[arg-type]
