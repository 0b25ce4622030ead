"""Values on their way to other processes, with classes that those cannot import."""

from __future__ import annotations

import base64
import pickle
import zlib
from dataclasses import KW_ONLY, MISSING, dataclass, field, fields, make_dataclass
from types import CodeType
from typing import Any

import pytest

from scurry.common.pickling import Captured, by_value, loads
from scurry.common.typeinfo import Types
from scurry.connectors.files.formats.csv.format import CsvFormat
from scurry.connectors.files.formats.message_lines import MessageLinesFormat
from scurry.connectors.files.formats.stream import TextLineFormat
from scurry.connectors.files.reading.source import FileSource, FileSplits
from scurry.datastream import MapFunction


def classes() -> Any:
    """A dataclass of a function, which is pickled by value; every call makes another."""

    @dataclass
    class Visit:
        name: str
        tags: list[str] = field(default_factory=list)
        _: KW_ONLY
        hits: int = 0

    return Visit


def test_a_class_that_comes_back_has_the_same_fields() -> None:
    visit = classes()
    assert pickle.loads(by_value(visit)) is visit
    assert [(each.default, each.default_factory) for each in fields(visit)] == [
        (MISSING, MISSING), (MISSING, list), (0, MISSING),
    ]  # fmt: skip


def test_subclasses_of_a_class_that_came_back_have_its_defaults() -> None:
    visit = classes()
    pickle.loads(by_value([visit("ann")]))
    longer: Any = make_dataclass("Longer", [("pages", int, 3)], bases=(visit,), kw_only=True)
    assert longer("bob") == longer("bob", [], hits=0, pages=3)


#: File sources of three formats, and a row type, pickled when their modules had other names.
PICKLED_EARLIER = (
    "eNqNU89rE0EUTjBNTWpTDIqKP8CCqGDjwYvgrZVKaZtD25uUYXZ20hm6M7POm027gqCHioW59fn/+naTxrRQMZfM+/W9977v7ffW75etRv07xFfx"
    "GYjC+3IgnLVSBOdhMNKZhAG4wguJsbtJ5v7EuMDXP/AbVS1VOWzkvOEB45ObMII8pXDvgP52tJWbk/wpSlwUinuQlLFQhNHae4QkLuQ8KCDP25QH"
    "jmcY76cahBtLXzJtg/RjnjEDOIxtyDMdAFVzOuPEvETvGH7KkjJIwN1Gi6B7qXc5MzyrxpYpnsfFxBU2peevIlG3Jqupdly9aR0B49nOnQ0YX98n"
    "1TyjAvw3AgglDSdiCeHjtGJG7KJwWWEsbbVat9iozb/xluWGRGlajK1jbVOM7fWtT1vDA5oo91Jo0M7idjcugCBo3G7E2xoY956XtPFK/WAgc+45"
    "zYWxgUVCLHfmXM03xP+XwoWq0Sp1kISVS6K8a4ssY6RAUVm9jDSdx2p2Ub2LzQ8kOc8yd8KEM0ZaEuU89uBY52ykPQTm3Ql5ugVIpiRPpa/jwWsR"
    "po6q4g63JctJM+lDicMigUT11MoZqrtD1Vf3akbUg1pc9fBcPbqq4oubNDASgB9JVk1Pl9bfndjVgcI1RduXWj2egRnj7ACkJ+H0Vx4qtmN/X5uc"
    "DpA2sEf7k5IZBJGQSoFqGf5ngfj8aqeKwtyBDpKFMpfajhzGpT13ckDWVmVdYHx6rSbhoMVc/vJ65ZiroM6HqD7HzixQwbR2nD2iT24POZ2EWjvD"
    "n/SWgz+dFap0"
)


def test_sources_and_types_load_under_the_names_that_their_modules_had_before() -> None:
    *sources, row_type = loads(zlib.decompress(base64.b64decode(PICKLED_EARLIER)))
    assert all(type(source) is FileSource and source.splits == FileSplits(1024) for source in sources)
    text, csv, messages = (source.file_format for source in sources)
    assert type(text) is TextLineFormat and type(csv) is CsvFormat and type(messages) is MessageLinesFormat
    assert row_type == Types.ROW_NAMED(["n"], [Types.LONG()])


def test_functions_keep_their_files_and_lines_whatever_cloudpickle_does_with_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from cloudpickle import cloudpickle

    def without_file(code: CodeType) -> Any:  # as cloudpickle 3.1.3
        make, arguments = reduce(code)
        return make, tuple("<dynamic-code>" if each == code.co_filename else each for each in arguments)

    reduce = cloudpickle._code_reduce
    monkeypatch.setattr(cloudpickle, "_code_reduce", without_file)
    monkeypatch.setitem(cloudpickle.Pickler._dispatch_table, CodeType, without_file)
    outer = pickle.loads(by_value(lambda: lambda: 1))
    for code in (outer.__code__, outer().__code__):
        assert (code.co_filename, code.co_firstlineno) == (__file__, without_file.__code__.co_firstlineno + 7)


def test_loading_leaves_the_classes_of_the_program_as_they_are() -> None:
    class Counter:
        count = 1

    pickled = by_value(Counter)
    Counter.count = 2
    assert pickle.loads(pickled) is Counter
    assert Counter.count == 2


def test_classes_of_functions_are_loaded_as_they_were() -> None:
    class Function(MapFunction[Any, Any]):
        factor = 1

        def map(self, value: Any) -> Any:
            return value * self.factor

    captured = Captured(Function())
    Function.factor = 2
    assert (captured.copy().map(3), Captured(captured.copy()).copy().map(3), Function().map(3)) == (3, 3, 6)
