"""Map views: their iterators remove elements, as PyFlink's do."""

from __future__ import annotations

from typing import Any

import pytest

from scurry.table import MapView


@pytest.fixture
def view() -> MapView[str, int]:
    made: MapView[str, int] = MapView()
    made.put_all({"a": 1, "b": 2, "c": 3, "d": 4})
    return made


@pytest.mark.parametrize("kind", ["keys", "values", "items"])
@pytest.mark.parametrize("removed", ["a", "d", "bc", "abcd", ""])
def test_an_iterator_removes_what_it_returned_last(view: MapView[str, int], kind: str, removed: str) -> None:
    expected = list(getattr(view, kind)())
    iterator: Any = iter(getattr(view, kind)())
    seen = []
    for key, element in zip("abcd", iterator, strict=False):
        seen.append(element)
        if key in removed:
            iterator.remove()
    assert seen == expected
    assert list(view) == [key for key in "abcd" if key not in removed]


def test_it_removes_an_element_once_and_no_other_change_goes_unseen(view: MapView[str, int]) -> None:
    iterator: Any = iter(view)
    with pytest.raises(RuntimeError, match="call the '__next__' method before"):
        iterator.remove()
    next(iterator)
    iterator.remove()
    with pytest.raises(RuntimeError, match="call the '__next__' method before"):
        iterator.remove()
    next(iterator)
    view.put("e", 5)
    with pytest.raises(RuntimeError, match="Concurrent modification detected"):
        iterator.remove()


def test_keys_values_and_items_are_views(view: MapView[str, int]) -> None:
    assert len(view.keys()) == 4 and "b" in view.keys() and view.keys() & {"b", "z"} == {"b"}
    assert sorted(view.values()) == [1, 2, 3, 4] and 4 in view.values()
    assert dict(view.items()) == {"a": 1, "b": 2, "c": 3, "d": 4}
