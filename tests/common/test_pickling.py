"""Values on their way to other processes, with classes that those cannot import."""

from __future__ import annotations

import pickle
from dataclasses import KW_ONLY, MISSING, dataclass, field, fields, make_dataclass
from typing import Any

from scurry.common.pickling import by_value


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
