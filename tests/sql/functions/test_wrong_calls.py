"""Calls with wrong arguments are refused with the messages that Flink gave, and say what to write instead.

`wrong_calls.jsonl` has, of each function, a call with a wrong number of arguments and calls with wrong types,
with the messages of Flink 2.3.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from scurry.errors import ValidationError
from scurry.table import EnvironmentSettings, TableEnvironment

RECORDED = [json.loads(line) for line in Path(__file__).with_name("wrong_calls.jsonl").read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def env() -> TableEnvironment:
    return TableEnvironment.create(EnvironmentSettings.in_streaming_mode())


def refusal(env: TableEnvironment, call: str) -> ValidationError:
    with pytest.raises(ValidationError) as refused:
        env.sql_query(f"SELECT {call}")
    return refused.value


def test_messages_are_those_of_flink(env: TableEnvironment) -> None:
    found = {}
    for case in RECORDED:
        message = str(refusal(env, case["call"])).removeprefix("SQL validation failed. ")
        found[case["call"]] = re.sub(r"^(From|At) line .*?: ", "", message)
    assert found == {case["call"]: case["message"] for case in RECORDED}


def test_every_refusal_shows_what_the_function_takes(env: TableEnvironment) -> None:
    silent = []
    for case in RECORDED:
        error, name = refusal(env, case["call"]), case["call"].partition("(")[0]
        if f"{name}(<" not in error.describe().replace(f"type '{name}(", "") and f" {name}(" not in error.describe():
            silent.append(case["call"])
    assert [call for call in silent if "Was expecting 0 arguments" not in str(refusal(env, call))] == []


@pytest.mark.parametrize(
    "call", ["UPPER('a', 1)", "LPAD('a')", "SUM('x')", "ARRAY_CONTAINS(ARRAY[1], 'x')", "MAP_KEYS(1)"]
)
def test_the_place_of_the_call_is_known(env: TableEnvironment, call: str) -> None:
    span = refusal(env, call).span

    assert span is not None
    assert span.text[span.start : span.end] == call
