"""What a declared type does to a value. The table comes from real Flink: tests/fixtures/flink/common."""

from __future__ import annotations

import datetime
import decimal
import enum
import math
import pickle
import re
import runpy
from collections import namedtuple
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scurry import common
from scurry.common import Instant, Row, RowKind, Types
from scurry.common.typeinfo import ExternalTypeInfo, LocalTimeTypeInfo, RowTypeInfo, TypeInformation
from scurry.datastream import StreamExecutionEnvironment
from scurry.errors import ScurryError, TypeMismatchError
from scurry.runtime.state.types import describe

FLINK = Path(__file__).parents[1] / "fixtures" / "flink" / "common"
CASES: dict[str, tuple[TypeInformation, list[Any]]] = runpy.run_path(str(FLINK / "print_cases.py"))["cases"](common)


def recorded(ident: str) -> list[str]:
    lines = (FLINK / "print_values.expected").read_text(encoding="utf-8").splitlines()
    return [line.removeprefix(f"{ident}> ") for line in lines if line.startswith(f"{ident}> ")]


def convert(type_info: TypeInformation, value: Any) -> Any:
    converter = type_info.converter()
    return value if converter is None else converter(value)


def convert_block(type_info: TypeInformation, values: list[Any]) -> list[Any]:
    converter = type_info.block_converter()
    return values if converter is None else converter(values)


@pytest.mark.parametrize("name", CASES)
def test_prints_what_flink_prints(name: str) -> None:
    type_info, values = CASES[name]
    assert [type_info.to_string(convert(type_info, value)) for value in values] == recorded(name)


@pytest.mark.parametrize("name", CASES)
def test_converts_to_what_the_next_function_sees_in_pyflink(name: str) -> None:
    type_info, values = CASES[name]
    seen = [repr(convert(type_info, value)) for value in values]
    if name.startswith("map"):  # Java reorders the keys on the way, which scurry does only to print
        assert [eval(text) for text in seen] == [eval(text) for text in recorded(f"{name}#")]
    else:
        assert seen == recorded(f"{name}#")


@pytest.mark.parametrize("name", CASES)
def test_converts_a_block_like_its_values(name: str) -> None:
    type_info, values = CASES[name]
    assert repr(convert_block(type_info, values)) == repr([convert(type_info, value) for value in values])


@pytest.mark.parametrize("name", [name for name in CASES if name != "double"])
def test_returns_the_same_block_if_it_fits(name: str) -> None:
    type_info, values = CASES[name]
    converted = [convert(type_info, value) for value in values]
    assert convert_block(type_info, converted) is converted


@pytest.mark.parametrize("name", CASES)
def test_types_pickle_and_compare_by_structure(name: str) -> None:
    type_info, _ = CASES[name]
    copy = pickle.loads(pickle.dumps(type_info))
    assert copy == type_info and hash(copy) == hash(type_info) and repr(copy) == repr(type_info)


def test_different_types_differ() -> None:
    types = [type_info for type_info, _ in CASES.values()]
    assert len(set(types)) == len(types)
    assert Types.ROW_NAMED(["a"], [Types.INT()]) != Types.ROW_NAMED(["b"], [Types.INT()])
    assert Types.LIST(Types.INT()) != Types.OBJECT_ARRAY(Types.INT())


MISFITS = [
    (Types.BYTE(), 128),
    (Types.SHORT(), -32769),
    (Types.INT(), 2**31),
    (Types.LONG(), 2**63),
    (Types.LONG(), "1"),
    (Types.LONG(), None),
    (Types.LONG(), math.nan),
    (Types.BOOLEAN(), -1),
    (Types.BOOLEAN(), "true"),
    (Types.DOUBLE(), "1.0"),
    (Types.FLOAT(), None),
    (Types.STRING(), None),
    (Types.STRING(), 1),
    (Types.STRING(), b"a"),
    (Types.CHAR(), "ab"),
    (Types.BIG_INT(), "1"),
    (Types.BIG_DEC(), "one"),
    (Types.BIG_DEC(), math.inf),
    (Types.INSTANT(), 5),
    (Types.SQL_DATE(), "2020-01-01"),
    (Types.SQL_TIME(), datetime.date(2020, 1, 1)),
    (Types.SQL_TIMESTAMP(), datetime.date(2020, 1, 1)),
    (Types.TUPLE([Types.INT()]), 1),
    (Types.TUPLE([Types.INT()]), (1, 2)),
    (Types.TUPLE([Types.INT(), Types.INT()]), (1,)),
    (Types.TUPLE([Types.INT(), Types.STRING()]), (1, None)),
    (Types.ROW([Types.INT()]), 1),
    (Types.ROW([Types.INT()]), Row(1, 2)),
    (Types.ROW([Types.INT()]), Row(a=1)),
    (Types.ROW_NAMED(["a"], [Types.INT()]), Row(b=1)),
    (Types.ROW_NAMED(["a"], [Types.INT()]), Row(a="x")),
    (Types.LIST(Types.INT()), [1, None]),
    (Types.LIST(Types.INT()), {1}),
    (Types.PRIMITIVE_ARRAY(Types.BYTE()), [1]),
    (Types.PRIMITIVE_ARRAY(Types.LONG()), [None]),
    (Types.BASIC_ARRAY(Types.LONG()), ["a"]),
    (Types.MAP(Types.STRING(), Types.INT()), [("a", 1)]),
    (Types.MAP(Types.STRING(), Types.INT()), {1: 1}),
    (Types.MAP(Types.STRING(), Types.INT()), {"a": "b"}),
]


@pytest.mark.parametrize(("type_info", "value"), MISFITS, ids=str)
def test_refuses_what_does_not_fit(type_info: TypeInformation, value: Any) -> None:
    with pytest.raises(TypeMismatchError) as error:
        convert(type_info, value)
    assert isinstance(error.value, ScurryError) and isinstance(error.value, TypeError)


@pytest.mark.parametrize(("type_info", "value"), MISFITS, ids=str)
def test_names_the_bad_record_of_a_block(type_info: TypeInformation, value: Any) -> None:
    with pytest.raises(TypeMismatchError) as error:
        convert_block(Types.TUPLE([type_info]), [(value,), (value,)])
    assert error.value.index == 0


def test_counts_the_good_records_before_the_bad_one() -> None:
    with pytest.raises(TypeMismatchError) as error:
        convert_block(Types.TUPLE([Types.STRING(), Types.INT()]), [("a", 1), ("b", True), ("c", None), ("d", None)])
    assert error.value.index == 2


def test_says_what_was_declared_what_came_and_where() -> None:
    type_info = Types.TUPLE([Types.STRING(), Types.LIST(Types.INT())])
    with pytest.raises(TypeMismatchError) as error:
        convert(type_info, ("a", [1, "x"]))
    assert str(error.value) == (
        "declared type Integer does not accept 'x' (Python type str): in element 1 of ListTypeInfo<Integer>, "
        "in field 1 of TupleTypeInfo(String, ListTypeInfo<Integer>); "
        "return a matching value or change the declared type"
    )


def test_mismatch_survives_pickling_with_its_index() -> None:
    with pytest.raises(TypeMismatchError) as error:
        convert_block(Types.INT(), [1, "x"])
    copy = pickle.loads(pickle.dumps(error.value))
    assert (str(copy), copy.index) == (str(error.value), 1)


def test_big_int_keeps_all_digits() -> None:
    assert convert(Types.BIG_INT(), 2**100) == 2**100
    assert Types.BIG_INT().to_string(2**100) == str(2**100)


def test_char_is_one_character() -> None:
    assert convert(Types.CHAR(), "é") == "é"


def test_pickled_values_stay_as_they_are() -> None:
    assert Types.PICKLED_BYTE_ARRAY().converter() is None
    assert Types.PICKLED_BYTE_ARRAY().block_converter() is None
    assert Types.PICKLED_BYTE_ARRAY().to_string(None) == "None"


def test_strings_and_tuples_lose_their_subclass() -> None:
    class Colour(str, enum.Enum):  # noqa: UP042
        RED = "red"

    pair = namedtuple("pair", "a b")
    [(text, number)] = convert_block(Types.TUPLE([Types.STRING(), Types.INT()]), [pair(Colour.RED, True)])
    assert (type(text), text, type(number), number) == (str, "red", int, 1)


def test_numpy_numbers_become_python_numbers() -> None:
    numpy = pytest.importorskip("numpy")
    row = (numpy.int64(5), numpy.float64(0.5), numpy.float32(0.1), numpy.bool_(True))
    types = Types.TUPLE([Types.LONG(), Types.DOUBLE(), Types.FLOAT(), Types.BOOLEAN()])
    [converted] = convert_block(types, [row])
    assert repr(converted) == "(5, 0.5, 0.10000000149011612, True)"


def test_row_takes_tuples_lists_dicts_and_objects() -> None:
    class Person:
        def __init__(self) -> None:
            self.name, self.age = "ann", 3

    type_info = Types.ROW_NAMED(["name", "age"], [Types.STRING(), Types.INT()])
    expected = Row(name="ann", age=3)
    for value in (("ann", 3), ["ann", 3], {"age": 3, "name": "ann"}, Person(), Row("ann", 3), Row(age=3, name="ann")):
        assert convert(type_info, value) == expected
        assert convert_block(type_info, [value]) == [expected]
    assert convert(type_info, {"name": "ann"}) == Row(name="ann", age=None)


def test_row_conversion_leaves_the_given_row_alone() -> None:
    given = Row("ann", 3)
    [converted] = convert_block(Types.ROW_NAMED(["name", "age"], [Types.STRING(), Types.INT()]), [given])
    converted[0] = "bob"
    assert given == Row("ann", 3)


def test_unnamed_row_fields_are_called_f0_f1() -> None:
    type_info = Types.ROW([Types.INT(), Types.STRING()])
    assert repr(convert(type_info, Row(1, "a"))) == "Row(f0=1, f1='a')"
    assert type_info.get_field_names() == ["f0", "f1"]
    assert type_info.get_field_index("f0") == -1


def test_row_type_tells_its_fields() -> None:
    type_info = RowTypeInfo([Types.INT(), Types.STRING()], ["a", "b"])
    assert type_info.get_field_names() == ["a", "b"]
    assert type_info.get_field_index("b") == 1
    assert type_info.get_field_types() == [Types.INT(), Types.STRING()]
    assert repr(type_info) == "RowTypeInfo(a: Integer, b: String)"


@pytest.mark.parametrize("names", [["a"], ["a", "a"]])
def test_row_names_must_match_the_types_and_differ(names: list[str]) -> None:
    with pytest.raises(ValueError, match="names"):
        Types.ROW_NAMED(names, [Types.INT(), Types.INT()])


def test_arrays_refuse_elements_they_are_not_for() -> None:
    with pytest.raises(TypeError, match="OBJECT_ARRAY"):
        Types.PRIMITIVE_ARRAY(Types.STRING())
    with pytest.raises(TypeError, match="OBJECT_ARRAY"):
        Types.BASIC_ARRAY(Types.LIST(Types.INT()))


def test_row_kind_survives_conversion() -> None:
    row = Row.of_kind(RowKind.DELETE, 1)
    [converted] = convert_block(Types.ROW([Types.INT()]), [row])
    assert converted.get_row_kind() is RowKind.DELETE


numbers = st.one_of(st.integers(), st.booleans(), st.floats(), st.none(), st.text(max_size=2), st.decimals())
leaves = st.sampled_from(
    [
        Types.BYTE(),
        Types.INT(),
        Types.LONG(),
        Types.FLOAT(),
        Types.DOUBLE(),
        Types.BOOLEAN(),
        Types.STRING(),
        Types.BIG_DEC(),
    ]
)


@given(st.data())
def test_blocks_and_values_agree_for_any_input(data: st.DataObject) -> None:
    fields = data.draw(st.lists(leaves, min_size=1, max_size=3))
    type_info = data.draw(st.sampled_from([Types.TUPLE, Types.ROW]))(fields)
    records = data.draw(st.lists(st.tuples(*[numbers] * len(fields)), max_size=4))
    expected: list[str] = []
    try:
        for record in records:
            expected.append(repr(convert(type_info, record)))
    except TypeMismatchError:
        with pytest.raises(TypeMismatchError) as error:
            convert_block(type_info, records)
        assert error.value.index == len(expected)
    else:
        assert [repr(value) for value in convert_block(type_info, records)] == expected


@given(st.floats(allow_nan=False))
def test_double_text_reads_back(value: float) -> None:
    text = Types.DOUBLE().to_string(value)
    assert float(text.replace("Infinity", "inf")) == value
    assert re.fullmatch(r"-?(\d+\.\d+(E-?\d+)?|Infinity)", text)


@given(st.floats(width=32, allow_nan=False))
def test_float_text_reads_back(value: float) -> None:
    text = Types.FLOAT().to_string(value)
    assert convert(Types.FLOAT(), float(text.replace("Infinity", "inf"))) == value


@given(st.datetimes(min_value=datetime.datetime(1, 1, 1)))
def test_instant_text_is_the_utc_time(moment: datetime.datetime) -> None:
    seconds = (moment - datetime.datetime(1970, 1, 1)) // datetime.timedelta(seconds=1)
    text = Types.INSTANT().to_string(Instant(seconds, moment.microsecond * 1000))
    assert datetime.datetime.fromisoformat(text.removesuffix("Z")) == moment


def test_zero_has_no_sign_as_a_decimal() -> None:
    assert str(convert(Types.BIG_DEC(), decimal.Decimal("-0.0"))) == "0.0"


MORNING = datetime.datetime(2018, 3, 11, 3, 0, 0, 123_000)


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("LOCAL_DATE", MORNING.date(), "2018-03-11"),
        ("LOCAL_TIME", MORNING.time(), "03:00:00.123"),
        ("LOCAL_TIME", datetime.time(3, 0), "03:00"),
        ("LOCAL_DATE_TIME", MORNING, "2018-03-11T03:00:00.123"),
        ("LOCAL_DATE_TIME", MORNING.replace(microsecond=0, second=7), "2018-03-11T03:00:07"),
    ],
)
def test_local_times_print_as_java_shows_them(kind: str, value: Any, text: str) -> None:
    type_info = LocalTimeTypeInfo(LocalTimeTypeInfo.TimeType[kind])
    assert type_info.to_string(convert(type_info, value)) == text
    assert convert_block(type_info, [value]) == [value]


def test_an_external_type_takes_what_the_type_in_it_takes() -> None:
    inner = Types.ROW([Types.INT()])
    external = ExternalTypeInfo(inner)
    assert convert(external, (1,)) == convert(inner, (1,))
    assert external.to_string(Row(1)) == inner.to_string(Row(1))
    assert describe(external) == describe(inner)
    assert pickle.loads(pickle.dumps(external)) == external


@pytest.mark.parametrize(("name", "bits"), [("BYTE", 8), ("SHORT", 16), ("INT", 32), ("LONG", 64)])
def test_collections_hold_no_integers_outside_their_type(name: str, bits: int) -> None:
    declared = getattr(Types, name)()
    env = StreamExecutionEnvironment()
    env.from_collection([(1 << (bits - 1)) - 1, -(1 << (bits - 1))], declared)
    for outside in (1 << (bits - 1), -(1 << (bits - 1)) - 1):
        with pytest.raises(TypeMismatchError, match=r"outside -?\d+\.\.\d+"):
            env.from_collection([outside], declared)
