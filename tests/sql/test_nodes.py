"""Nodes of the syntax tree: frozen, compared by content, with a place in the text."""

from __future__ import annotations

import copy
import pickle

import pytest

from scurry.sql.syntax.nodes import (
    BinaryOperation,
    Identifier,
    NumericLiteral,
    Select,
    SelectItem,
    ShowTables,
    Star,
    children,
    replace,
    walk,
)
from scurry.sql.syntax.span import NO_SPAN, Span

SUM = BinaryOperation("+", Identifier(("a",)), NumericLiteral("1"))


def test_nodes_are_equal_wherever_they_stand() -> None:
    here, there = Span("a a", 0, 1), Span("a a", 2, 3)
    assert Identifier(("a",), span=here) == Identifier(("a",), span=there)
    assert hash(Identifier(("a",), span=here)) == hash(Identifier(("a",), span=there))


def test_nodes_of_different_classes_are_not_equal() -> None:
    assert Identifier(("a",)) != Star()


def test_a_node_cannot_be_changed() -> None:
    with pytest.raises(AttributeError, match="a BinaryOperation is frozen"):
        SUM.left = Star()  # type: ignore[misc]


def test_replace_makes_a_node_with_other_fields() -> None:
    assert replace(SUM, operator="-") == BinaryOperation("-", SUM.left, SUM.right)


def test_a_node_without_its_required_fields_cannot_be_made() -> None:
    with pytest.raises(TypeError, match=r"BinaryOperation.__init__\(\) missing 2 required positional arguments"):
        BinaryOperation("+")  # type: ignore[call-arg]


def test_a_class_made_after_its_base_was_used_has_its_own_constructor() -> None:
    ShowTables()

    class Derived(ShowTables):
        more: int = 3

    assert Derived().more == 3


def test_nodes_can_be_pickled_and_copied() -> None:
    assert pickle.loads(pickle.dumps(SUM)) == SUM
    assert copy.deepcopy(SUM) == SUM


def test_repr_shows_what_differs_from_the_defaults() -> None:
    assert repr(Select((SelectItem(Star()),))) == "Select(items=(SelectItem(expression=Star()),))"


def test_walk_visits_each_node_before_its_children() -> None:
    assert list(children(SUM)) == [SUM.left, SUM.right]
    assert list(walk(SelectItem(SUM))) == [SelectItem(SUM), SUM, SUM.left, SUM.right]


def test_a_span_names_lines_and_columns_from_one() -> None:
    span = Span("SELECT\n  ab", 9, 11)
    assert (span.line, span.column, span.end_line, span.end_column) == (2, 3, 2, 4)
    assert span.source == "ab"


@pytest.mark.parametrize(
    ("span", "place"),
    [
        (Span("abc", 1, 2), "At line 1, column 2"),
        (Span("abc", 0, 3), "From line 1, column 1 to line 1, column 3"),
        (NO_SPAN, ""),
    ],
)
def test_a_span_is_described_as_flink_does(span: Span, place: str) -> None:
    assert span.describe() == place
