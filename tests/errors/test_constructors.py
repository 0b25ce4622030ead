"""Constructors of classes that builders make refuse what programs guess, and say what makes their instances."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from typing import Any

import pytest

import scurry.datastream.connectors
import scurry.datastream.formats
from scurry.common import Types
from scurry.datastream.connectors.file_system import FileSource, StreamFormat
from scurry.datastream.formats.json import JsonReaderFormat
from scurry.errors import ArgumentTypeError

ROW = Types.ROW_NAMED(["a"], [Types.INT()])

#: Values that programs make by their constructor, too.
_OF_BOTH_KINDS = {
    *("AvroSchema", "CsvRowDeserializationSchema", "CsvRowSerializationSchema", "KinesisShardAssigner"),
    "PartitionKeyGenerator",
}


def _made_elsewhere() -> Iterator[Any]:
    """The classes of connectors and formats with static methods that return instances or builders of them."""
    found = {}
    for package in (scurry.datastream.connectors, scurry.datastream.formats):
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            loaded = importlib.import_module(module.name)
            for name in getattr(loaded, "__all__", ()):
                cls = getattr(loaded, name)
                if inspect.isclass(cls) and cls.__module__.startswith("scurry.datastream.") and _ways(cls):
                    found[name] = cls
    yield from (cls for name, cls in sorted(found.items()) if name not in _OF_BOTH_KINDS)


def _ways(cls: type) -> list[str]:
    ways = []
    for name, member in inspect.getmembers_static(cls, lambda member: isinstance(member, staticmethod)):
        returned = str(inspect.signature(member).return_annotation)
        if returned == cls.__name__ or "Builder" in returned:
            ways.append(name)
    return ways if list(inspect.signature(cls).parameters) else []


@pytest.mark.parametrize("cls", list(_made_elsewhere()), ids=lambda cls: cls.__name__)
def test_a_constructor_says_what_makes_instances(cls: Any) -> None:
    with pytest.raises(ArgumentTypeError) as refused:
        cls(object(), *[object()] * 20)
    assert any(f"{cls.__name__} is made by" in str(refused.value) and way in str(refused.value) for way in _ways(cls))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (
            lambda: FileSource(StreamFormat.text_line_format()),  # type: ignore[call-arg]
            "FileSource is made by FileSource.for_record_stream_format(...) or FileSource.for_bulk_file_format(...)",
        ),
        (
            lambda: JsonReaderFormat(ROW),  # type: ignore[arg-type]
            "JsonReaderFormat is made by JsonReaderFormat.for_type_info(...)",
        ),
    ],
)
def test_what_programs_pass_instead_is_refused(make: Any, said: str) -> None:
    with pytest.raises(ArgumentTypeError) as refused:
        make()
    assert said in str(refused.value)
