from __future__ import annotations

import dataclasses
import datetime
import decimal
import typing
from typing import Any

import pytest

from scurry.common import Instant, Row, Types
from scurry.common.typeinfo import TypeInformation, type_info_from_hint


@dataclasses.dataclass
class Reading:
    sensor: str


@pytest.mark.parametrize(
    ("hint", "type_info"),
    [
        (int, Types.LONG()),
        (float, Types.DOUBLE()),
        (str, Types.STRING()),
        (bool, Types.BOOLEAN()),
        (bytes, Types.PRIMITIVE_ARRAY(Types.BYTE())),
        (decimal.Decimal, Types.BIG_DEC()),
        (datetime.date, Types.SQL_DATE()),
        (datetime.time, Types.SQL_TIME()),
        (datetime.datetime, Types.SQL_TIMESTAMP()),
        (Instant, Types.INSTANT()),
        (tuple[int, str], Types.TUPLE([Types.LONG(), Types.STRING()])),
        (typing.Tuple[int, str], Types.TUPLE([Types.LONG(), Types.STRING()])),  # noqa: UP006
        (list[tuple[int, float]], Types.LIST(Types.TUPLE([Types.LONG(), Types.DOUBLE()]))),
        (dict[str, int], Types.MAP(Types.STRING(), Types.LONG())),
        (typing.Annotated[int, "ms"], Types.LONG()),
    ],
)
def test_annotation_stands_for_a_type(hint: Any, type_info: TypeInformation) -> None:
    assert type_info_from_hint(hint) == type_info


@pytest.mark.parametrize(
    "hint",
    [
        Reading,
        Row,
        object,
        Any,
        None,
        int | None,
        typing.Optional[int],  # noqa: UP045
        tuple,
        list,
        tuple[int, ...],
        tuple[()],
        list[Reading],
        "int",
    ],
)
def test_other_annotations_leave_values_alone(hint: Any) -> None:
    assert type_info_from_hint(hint) is None
