"""FileSource: which files are read, by whom, in which batch; and text lines whatever the cuts."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import pickle
import pickletools
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scurry.connectors.files.filesystem import ArrowFileSystem, file_system
from scurry.connectors.files.formats import stream
from scurry.connectors.files.formats.ranges import owned_blocks
from scurry.connectors.files.formats.stream import TextLineFormat, split_lines
from scurry.connectors.files.reading.source import FileSource, _FileEnumerator
from scurry.connectors.source import BatchLimits
from scurry.errors import ArgumentError, SourceNotFoundError, UnsupportedError

Drive = Callable[..., Any]

texts = st.text(st.sampled_from("ab\n\r,\u2028\x0bé"), max_size=60)
reuse_directory = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def make(path: Path, content: str | bytes, modified: int = 1) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    os.utime(path, (modified, modified))
    return str(path)


def lines(*paths: str, interval_ms: int | None = None, charset: str = "UTF-8") -> FileSource:
    return FileSource(TextLineFormat(charset), paths, interval_ms)


class TestLines:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("", []),
            ("a", ["a"]),
            ("a\n", ["a"]),
            ("a\nb", ["a", "b"]),
            ("a\r\nb\r\n", ["a", "b"]),
            ("a\rb", ["a", "b"]),
            ("\n\n", ["", ""]),
            ("a\n\nb\n", ["a", "", "b"]),
            ("a\u2028b\x0bc", ["a\u2028b\x0bc"]),
        ],
    )
    def test_end_as_java_sees_it(self, text: str, expected: list[str]) -> None:
        assert split_lines(text) == expected

    @reuse_directory
    @given(text=texts, size=st.integers(1, 20))
    def test_are_the_same_however_a_file_is_cut(self, tmp_path: Path, drive: Drive, text: str, size: int) -> None:
        path = make(tmp_path / "f.txt", text)
        assert drive(lines(path), 1, BatchLimits(max_bytes=size)).all() == split_lines(text)

    @pytest.mark.parametrize("size", [1, 2, 7, 100])
    def test_are_decoded_in_pieces(
        self, tmp_path: Path, drive: Drive, monkeypatch: pytest.MonkeyPatch, size: int
    ) -> None:
        monkeypatch.setattr(stream, "_PIECE_BYTES", size)
        text = "a\n\nbé\r\nlonger than a piece\n\n" * 3
        for each in (text, f"{text}no end", "\n", ""):
            assert drive(lines(make(tmp_path / "f.txt", each))).all() == split_lines(each)

    @reuse_directory
    @given(text=texts, cuts=st.sets(st.integers(0, 120)), block=st.integers(1, 8))
    def test_belong_to_the_range_they_begin_in(self, tmp_path: Path, text: str, cuts: set[int], block: int) -> None:
        data = text.encode()
        path = make(tmp_path / "f.txt", data)
        edges = [0, *sorted(c for c in cuts if 0 < c < len(data)), len(data)]
        blocks = []
        for start, end in zip(edges, edges[1:], strict=False):
            with open(path, "rb") as file:
                blocks += list(owned_blocks(file, "file", start, end, block_bytes=block))
        assert b"".join(content for _, content in blocks) == data
        assert all(data[offset : offset + len(content)] == content for offset, content in blocks)

    @pytest.mark.parametrize("charset", ["UTF-8", "ISO-8859-1", "UTF-16", "UTF-16LE", "windows-1252", "GBK"])
    def test_are_decoded(self, tmp_path: Path, drive: Drive, charset: str) -> None:
        content = "grün\nlast"
        if charset == "GBK":
            content = "中文\nlast"
        path = make(tmp_path / "f", content.encode(charset))
        assert drive(lines(path, charset=charset), limits=BatchLimits(max_bytes=3)).all() == content.split("\n")

    def test_in_utf_16_without_a_mark_are_big_endian(self, tmp_path: Path, drive: Drive) -> None:
        path = make(tmp_path / "f", "a\nb".encode("utf-16-be"))
        assert drive(lines(path, charset="UTF-16")).all() == ["a", "b"]

    def test_show_bytes_that_are_no_text(self, tmp_path: Path, drive: Drive) -> None:
        assert drive(lines(make(tmp_path / "f", b"a\xffb\n"))).all() == ["a\ufffdb"]

    def test_need_a_character_set_that_is_known(self) -> None:
        with pytest.raises(UnsupportedError, match="EBCDIC-XY"):
            TextLineFormat("EBCDIC-XY")

    @pytest.mark.parametrize(
        ("suffix", "compress"),
        [
            (".gz", gzip.compress),
            (".gzip", gzip.compress),
            (".bz2", bz2.compress),
            (".xz", lzma.compress),
            (".deflate", zlib.compress),
        ],
    )
    def test_are_decompressed(
        self, tmp_path: Path, drive: Drive, suffix: str, compress: Callable[[bytes], bytes]
    ) -> None:
        path = make(tmp_path / f"f{suffix}", compress(b"a\nb\n" * 1000))
        assert drive(lines(path), limits=BatchLimits(max_bytes=5)).all() == ["a", "b"] * 1000


class TestFiles:
    def test_are_read_in_order_of_time_then_path(self, tmp_path: Path, drive: Drive) -> None:
        for name, modified in (("c", 1), ("b", 2), ("a", 2)):
            make(tmp_path / name, name, modified)
        assert drive(lines(str(tmp_path))).all() == ["c", "a", "b"]

    def test_are_found_in_subdirectories(self, tmp_path: Path, drive: Drive) -> None:
        make(tmp_path / "x" / "y" / "f", "deep")
        assert drive(lines(str(tmp_path))).all() == ["deep"]

    def test_are_skipped_when_hidden(self, tmp_path: Path, drive: Drive) -> None:
        for name in (".a", "_b", ".d/f", "_e/f"):
            make(tmp_path / name, "hidden")
        make(tmp_path / "f", "seen")
        assert drive(lines(str(tmp_path))).all() == ["seen"]

    def test_may_be_named_by_a_file_address(self, tmp_path: Path, drive: Drive) -> None:
        path = make(tmp_path / "a b", "x")
        assert drive(lines("file://" + path.replace(" ", "%20"))).all() == ["x"]

    def test_are_dealt_to_the_channel_with_the_least_to_read(self, tmp_path: Path, drive: Drive) -> None:
        for index, size in enumerate((10, 1, 1, 5)):
            make(tmp_path / str(index), str(index) * size, modified=index)
        assert drive(lines(str(tmp_path)), parallelism=2).by_channel() == {0: ["0" * 10], 1: ["1", "2", "3" * 5]}

    def test_that_fit_are_one_batch(self, tmp_path: Path, drive: Drive) -> None:
        make(tmp_path / "a", "1\n2")
        assert drive(lines(str(tmp_path)), parallelism=2).batches() == [{0: ["1", "2"], 1: []}]

    def test_that_do_not_fit_are_read_in_parts_by_one_channel(self, tmp_path: Path, drive: Drive) -> None:
        make(tmp_path / "a", "1\n2\n3\n4\n5\n6\n")
        batches = drive(lines(str(tmp_path)), 2, BatchLimits(max_bytes=4)).batches()
        assert batches == [{0: ["1", "2"], 1: []}, {0: ["3", "4"]}, {0: ["5", "6"]}]

    @pytest.mark.parametrize(("limit", "rest"), [(8, []), (7, [{0: ["5", "6"]}])])
    def test_that_exceed_a_batch_by_half_of_it_at_most_are_read_with_it(
        self, tmp_path: Path, drive: Drive, limit: int, rest: list[dict[int, list[str]]]
    ) -> None:
        make(tmp_path / "a", "1\n2\n3\n4\n5\n6\n")
        driver = drive(lines(str(tmp_path)), 1, BatchLimits(max_bytes=100))
        driver.enumerator.limit(BatchLimits(max_bytes=limit), {})
        first = ["1", "2", "3", "4"] if rest else ["1", "2", "3", "4", "5", "6"]
        assert driver.batches() == [{0: first}, *rest]

    def test_that_are_empty_hold_nothing(self, tmp_path: Path, drive: Drive) -> None:
        make(tmp_path / "a", "")
        assert drive(lines(str(tmp_path))).batches() == [{0: []}]

    @reuse_directory
    @given(sizes=st.lists(st.integers(0, 30), max_size=6), parallelism=st.integers(1, 3), limit=st.integers(1, 40))
    def test_are_read_once_whatever_the_limits_and_restarts(
        self, tmp_path_factory: pytest.TempPathFactory, drive: Drive, sizes: list[int], parallelism: int, limit: int
    ) -> None:
        directory = tmp_path_factory.mktemp("files")
        expected = []
        for index, size in enumerate(sizes):
            content = [f"{index}.{i}" for i in range(size)]
            make(directory / str(index), "\n".join(content), modified=index)
            expected += content
        driver = drive(lines(str(directory)), parallelism, BatchLimits(max_bytes=limit))
        batches = driver.batches(restarting=True)
        assert sorted(v for batch in batches for values in batch.values() for v in values) == sorted(expected)

    def test_are_read_on_with_another_parallelism(self, tmp_path: Path, drive: Drive) -> None:
        for index in range(4):
            make(tmp_path / str(index), "".join(f"{index}{i}\n" for i in range(5)), modified=index)
        driver = drive(lines(str(tmp_path)), 3, BatchLimits(max_bytes=18))
        seen = [v for values in driver.batch().values() for v in values]
        driver.restart(parallelism=2)
        assert sorted(seen + driver.all()) == sorted(f"{f}{i}" for f in range(4) for i in range(5))

    def test_that_do_not_exist_are_an_error_at_the_start(self, tmp_path: Path) -> None:
        with pytest.raises(SourceNotFoundError, match="nowhere") as caught:
            lines(str(tmp_path / "nowhere")).create_enumerator(1, BatchLimits())
        assert isinstance(caught.value, FileNotFoundError)

    def test_of_an_unknown_scheme_are_refused(self) -> None:
        with pytest.raises(UnsupportedError, match="from_spark"):
            lines("oss://container/path")

    def test_must_be_named(self) -> None:
        with pytest.raises(ArgumentError, match="at least one path"):
            lines()


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


class TestWatchedDirectory:
    @pytest.fixture
    def clock(self) -> Clock:
        return Clock()

    @pytest.fixture
    def source(self, tmp_path: Path) -> FileSource:
        make(tmp_path / "a", "1\n")
        return lines(str(tmp_path), interval_ms=1000)

    def names(self, enumerator: Any) -> list[str]:
        return [os.path.basename(path) for a in enumerator.next_batch() for path, *_ in a.work or ()]

    def test_has_no_end(self, source: FileSource, clock: Clock) -> None:
        enumerator = _FileEnumerator(source, 2, 1000, clock)
        assert not source.bounded
        assert [a.final for a in enumerator.next_batch()] == [False]

    def test_gives_each_file_once_and_new_ones_at_the_next_look(
        self, tmp_path: Path, source: FileSource, clock: Clock
    ) -> None:
        enumerator = _FileEnumerator(source, 1, 1000, clock)
        assert self.names(enumerator) == ["a"]
        make(tmp_path / "b", "2\n")
        assert self.names(enumerator) == []
        assert enumerator.idle_hint() == pytest.approx(1.0)
        clock.now += 1.0
        assert self.names(enumerator) == ["b"]

    def test_gives_after_a_restart_what_is_new_only(self, tmp_path: Path, source: FileSource, clock: Clock) -> None:
        first = _FileEnumerator(source, 1, 1000, clock)
        assert self.names(first) == ["a"]
        make(tmp_path / "b", "2\n")
        second = _FileEnumerator(source, 1, 1000, clock)
        second.restore(first.position())
        assert self.names(second) == ["b"]


class TestArrowFileSystem:
    """pyarrow's local file system stands for object stores."""

    @pytest.fixture
    def arrow(self) -> ArrowFileSystem:
        from pyarrow import fs

        return ArrowFileSystem(fs.LocalFileSystem())

    def test_finds_the_same_files(self, tmp_path: Path, arrow: ArrowFileSystem) -> None:
        for name in ("a", "x/b", ".c", "_d/e"):
            make(tmp_path / name, name)
        local, path = file_system(str(tmp_path))
        assert sorted(f.path for f in arrow.files(path)) == sorted(f.path for f in local.files(path))
        assert [f.size for f in arrow.files(str(tmp_path / "a"))] == [1]
        with pytest.raises(SourceNotFoundError):
            list(arrow.files(str(tmp_path / "nowhere")))

    def test_reads_ranges_of_lines(self, tmp_path: Path, arrow: ArrowFileSystem) -> None:
        path = make(tmp_path / "a", "1\n2\n3\n")
        assert [list(b) for b in TextLineFormat().read(arrow, path, 1, 4, 6)] == [["2"]]

    def test_writes_renames_and_deletes(self, tmp_path: Path, arrow: ArrowFileSystem) -> None:
        source, target = str(tmp_path / "d" / "a"), str(tmp_path / "e" / "b")
        with arrow.open_output(source) as stream:
            stream.write(b"x")
        arrow.rename(source, target)
        assert (arrow.exists(source), arrow.exists(target)) == (False, True)
        assert sorted(arrow.entries(str(tmp_path))) == [("d", True), ("e", True)]
        arrow.delete(target)
        arrow.delete(target)
        arrow.delete(str(tmp_path / "e"))
        assert arrow.entries(str(tmp_path)) == [("d", True)]


def test_what_a_savepoint_has_of_a_source_names_no_class(tmp_path: Path) -> None:
    """So savepoints of earlier versions load, whichever classes their formats had."""
    make(tmp_path / "a", "1\n2\n")
    enumerator = _FileEnumerator(lines(str(tmp_path), interval_ms=1000), 1, 2, Clock())
    [assignment] = enumerator.next_batch()
    assert assignment.work
    for saved in (assignment.work, enumerator.position()):
        names = [code.name for code, _, _ in pickletools.genops(pickle.dumps(saved))]
        assert not {"GLOBAL", "STACK_GLOBAL", "INST"}.intersection(names)
