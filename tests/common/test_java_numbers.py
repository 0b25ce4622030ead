"""Texts of floating-point numbers, beside those of Java 17."""

from __future__ import annotations

import math
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scurry.common._java_numbers import double_text, float_text

RECORDED = Path(__file__).parents[1] / "fixtures" / "java" / "floating_point_texts.txt"
PAIRS = [line.split() for line in RECORDED.read_text(encoding="utf-8").splitlines()[1:]]


def test_doubles_have_the_texts_of_java() -> None:
    pairs = [(struct.unpack(">d", bytes.fromhex(bits.zfill(16)))[0], text) for kind, bits, text in PAIRS if kind == "D"]
    assert {value: double_text(value) for value, text in pairs if double_text(value) != text} == {}


def test_floats_have_the_texts_of_java() -> None:
    pairs = [(struct.unpack(">f", bytes.fromhex(bits.zfill(8)))[0], text) for kind, bits, text in PAIRS if kind == "F"]
    assert {value: float_text(value) for value, text in pairs if float_text(value) != text} == {}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"), (-0.0, "-0.0"), (math.nan, "NaN"), (math.inf, "Infinity"), (-math.inf, "-Infinity"),
        (5e-324, "4.9E-324"), (2e23, "1.9999999999999998E23"), (0.001, "0.001"), (1e7, "1.0E7"),
    ],
)  # fmt: skip
def test_special_doubles_have_the_texts_of_java(value: float, text: str) -> None:
    assert double_text(value) == text


@given(st.floats(allow_nan=False))
def test_the_text_of_a_double_reads_back(value: float) -> None:
    assert float(double_text(value)) == value


@given(st.floats(allow_nan=False, width=32))
def test_the_text_of_a_float_reads_back(value: float) -> None:
    assert struct.unpack("f", struct.pack("f", float(float_text(value))))[0] == value
