"""What real Flink 2.3 answers for JSON texts, paths in them, JSON from values, and VARIANT."""

from __future__ import annotations

import pytest

from scurry.sql.functions.json_path import PathError, PathSyntaxError, read_path
from scurry.sql.functions.json_text import JsonError, loads
from sql.functions.corpus import answer

DOCUMENT = (
    '{"a": {"b": [1, {"c": "x"}, null]}, "n": null, "s": "str", "f": 1.50, "e": "", "a b": "sp", "arr": [3, 1, 2]}'
)


def value_of(expression: str) -> str | None:
    found = answer({"expr": expression})
    assert found.error is None, found.message
    return found.value


def error_of(expression: str) -> str | None:
    return answer({"expr": expression}).error


@pytest.mark.parametrize("text", ["1 2", "{} {}", "[1] x", "true,", '"a" b', " \n[1]", "-0"])
def test_what_follows_a_json_text_does_not_matter(text: str) -> None:
    assert value_of(f"'{text}' IS JSON") == "true"


@pytest.mark.parametrize("text", ["1.", "0x1", "nullx", "truefalse", "01", "1,2", "+1", ".5", "NaN", "'' x", "True"])
def test_a_number_or_word_has_to_end_where_a_blank_is(text: str) -> None:
    assert value_of(f"'{text}' IS JSON") == "false"


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("$.arr.length()", "3"),
        ("$.arr.avg()", "2.0"),
        ("$.arr.stddev()", "0.8164965809277263"),
        ("$.arr.index(1)", "1"),
        ("$.arr.last()", "2"),
        ("$.arr.concat(1)", "1"),
        ("$.s.length()", None),
        ("$['a b']", "sp"),
        ("$.a b", None),
        ("$.f", "1.50"),
    ],
)
def test_a_path_may_end_with_a_function(path: str, found: str | None) -> None:
    assert value_of(f"JSON_VALUE('{DOCUMENT}', '{path.replace(chr(39), chr(39) * 2)}')") == found


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("$.arr[?(@ >= 2)]", "[3,2]"),
        ("$.arr[?(@ <= $.arr[2])]", "[1,2]"),
        ("$.arr[?(@ > 1 && @ < 3)]", "[2]"),
        ("$.arr[?(!(@ > 1))]", "[1]"),
        ("$.a.b[?(@.c == 'x')]", '[{"c":"x"}]'),
        ("$.a.b[?(@.c =~ /X/i)]", '[{"c":"x"}]'),
        ("$.a.b[?(@.c size 1)]", '[{"c":"x"}]'),
        ("$['s','nope']", '{"s":"str"}'),
        ("$.arr[1:]", "[1,2]"),
        ("$..c", '["x"]'),
    ],
)
def test_a_path_may_lead_to_several_values(path: str, found: str) -> None:
    assert value_of(f"JSON_QUERY('{DOCUMENT}', '{path.replace(chr(39), chr(39) * 2)}')") == found


@pytest.mark.parametrize("mode", ["", "strict "])
def test_null_is_an_error_unless_the_path_is_lax(mode: str) -> None:
    assert (
        value_of(f"JSON_VALUE('{DOCUMENT}', '{mode}$.n' DEFAULT 'empty' ON EMPTY DEFAULT 'error' ON ERROR)") == "error"
    )
    assert value_of(f"JSON_EXISTS('{DOCUMENT}', '{mode}$.n' TRUE ON ERROR)") == "true"
    assert value_of(f"JSON_QUERY('{DOCUMENT}', '{mode}$.n' EMPTY ARRAY ON EMPTY EMPTY OBJECT ON ERROR)") == "{}"
    assert error_of(f"JSON_VALUE('{DOCUMENT}', '{mode}$.n' ERROR ON ERROR)") == "runtime"


def test_null_is_empty_if_the_path_is_lax() -> None:
    assert value_of(f"JSON_VALUE('{DOCUMENT}', 'lax $.n' DEFAULT 'empty' ON EMPTY DEFAULT 'error' ON ERROR)") == "empty"


def test_a_malformed_path_is_an_error_even_if_it_is_lax() -> None:
    with pytest.raises(PathSyntaxError):
        read_path({}, "$.a.foo()", lenient=True)


def test_a_path_that_leads_nowhere_gives_none_or_an_empty_list_if_it_is_lenient() -> None:
    assert read_path({"a": 1}, "$.b.c", lenient=True) is None
    assert read_path({"a": 1}, "$.b[*]", lenient=True) == []
    with pytest.raises(PathError):
        read_path({"a": 1}, "$.b.c")


def test_default_null_is_refused() -> None:
    assert error_of("JSON_VALUE('{}', '$.a' DEFAULT NULL ON EMPTY)") == "validation"


def test_no_empty_object_stands_for_an_array() -> None:
    assert error_of("JSON_QUERY('{}', '$.a' RETURNING ARRAY<STRING> EMPTY OBJECT ON ERROR)") == "validation"


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("JSON_STRING(CAST(0.1 AS FLOAT))", "0.10000000149011612"),
        ("JSON_STRING(CAST(0.00000001 AS DECIMAL(20, 10)))", "1.00E-8"),
        ("JSON_STRING(MAP['b', 1, 'a', 2])", '{"a":2,"b":1}'),
        ("JSON_STRING(CAST(ROW(1, 'a') AS ROW<z INT, a STRING>))", '{"a":"a","z":1}'),
        ("JSON_STRING('\x1f\x7f')", '"\\u001F\x7f"'),
        ("JSON_QUOTE('a/b')", '"a\\/b"'),
        ("JSON_QUOTE('😀')", '"\\u1f600\\ude00"'),
        ('JSON_UNQUOTE(\'"a"b"\')', 'a"b'),
        ("JSON_UNQUOTE('\"\\ud83d\\ude00\"')", "😀"),
        ("JSON_UNQUOTE('\"\\x\"')", '"\\x"'),
    ],
)
def test_values_are_written_and_quoted_as_flink_does(expression: str, found: str) -> None:
    assert value_of(expression) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[1.0, 1.10, 1e2, -0.0]", "[1,1.1,100.0,0]"),
        ("1e-10", "1.0E-10"),
        ("0.0000001", "0.0000001"),
        ("1E400", "Infinity"),
        ("[1] x", "[1]"),
        ('{"b":1,"a":2}', '{"a":2,"b":1}'),
    ],
)
def test_a_variant_has_whole_numbers_decimals_and_doubles(text: str, found: str) -> None:
    assert value_of(f"JSON_STRING(PARSE_JSON('{text}'))") == found


@pytest.mark.parametrize(
    ("part", "found"), [("['a'][2]", "1.0E10"), ("['a'][3]", None), ("['b']", None), ("['a']", "[1.5,1.0E10]")]
)
def test_parts_of_a_variant_are_variants(part: str, found: str | None) -> None:
    assert value_of(f"""JSON_STRING(PARSE_JSON('{{"a": [1.50, 1e10]}}'){part})""") == found


@pytest.mark.parametrize("access", ["""PARSE_JSON('[1]')['a']""", """PARSE_JSON('{"a":1}')[1]"""])
def test_a_variant_of_another_kind_has_no_such_parts(access: str) -> None:
    assert error_of(f"JSON_STRING({access})") == "runtime"


def test_json_within_json_is_no_text() -> None:
    assert value_of("JSON_ARRAY(JSON_OBJECT('a' VALUE 1), JSON_STRING(JSON_ARRAY(1)))") == '[{"a":1},"[1]"]'
    assert value_of("JSON_STRING(JSON_OBJECT('a' VALUE 1))") == '{"a":1}'


def test_a_value_of_json_needs_a_type() -> None:
    assert error_of("JSON_ARRAY(1, NULL)") == "runtime"
    assert value_of("JSON_ARRAY(1, CAST(NULL AS STRING) NULL ON NULL)") == "[1,null]"


def test_a_name_may_stand_twice_in_json_but_not_in_a_variant() -> None:
    assert loads('{"a":1,"a":2}') == {"a": 2}
    assert error_of("""JSON_STRING(PARSE_JSON('{"a":1,"a":2}'))""") == "runtime"


def test_a_text_that_is_no_json_is_refused() -> None:
    with pytest.raises(JsonError):
        loads("{a: 1}")


def test_json_of_an_empty_text_is_null() -> None:
    assert value_of("JSON_OBJECT('a' VALUE JSON(''), 'b' VALUE JSON('  '))") == '{"a":null,"b":null}'


def test_json_as_a_key_is_refused() -> None:
    assert error_of("JSON_OBJECT(KEY JSON('{}') VALUE 1)") == "validation"


def test_a_map_of_arrays_keeps_entries_with_equal_keys() -> None:
    assert value_of("CARDINALITY(MAP_FROM_ARRAYS(ARRAY['a', 'a'], ARRAY[1, 2]))") == "2"
