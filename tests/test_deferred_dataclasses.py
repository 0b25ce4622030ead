"""Dataclasses of scurry are those of the standard library, and compile nothing before it is used."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, cast

import pytest

import scurry
from scurry._dataclasses import dataclass as deferred

Decorator = Callable[..., Any]


def family(decorator: Decorator) -> dict[str, Any]:
    """Classes with everything that scurry uses of dataclasses."""

    @decorator(frozen=True)
    class Point:
        """A point."""

        x: int
        tags: list[str] = field(default_factory=list)
        weight: int = field(default=3, compare=False)
        known: ClassVar[int] = 7

    @decorator(frozen=True)
    class Named(Point):
        name: str = ""

        def __post_init__(self) -> None:
            object.__setattr__(self, "shown", self.name.upper())

    class Derived(Named):
        """No dataclass itself."""

    @decorator
    class Changing:
        x: int = 1
        _: dataclasses.KW_ONLY
        y: int = 2

    @decorator(eq=False, frozen=True)
    class ByIdentity:
        x: int

    @decorator(frozen=True)
    class Own:
        x: int

        def __repr__(self) -> str:
            return "own"

        def __eq__(self, other: object) -> bool:
            return True

    @decorator(frozen=True, kw_only=True)
    class Keywords:
        x: int

    @decorator(frozen=True, slots=True, order=True)
    class Slots:
        x: int

    return {each.__name__: each for each in (Point, Named, Derived, Changing, ByIdentity, Own, Keywords, Slots)}


def described(action: Callable[[], Any]) -> str:
    """What an action gives or raises, without what names the place of a class."""
    try:
        text = repr(action())
    except Exception as failure:
        text = f"{type(failure).__name__}: {failure}"
    return re.sub(r"0x[0-9a-f]+", "0x", text)


USES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "repr": lambda c: c["Named"](1, name="a"),
    "repr of a class below": lambda c: c["Derived"](1, name="a"),
    "post init": lambda c: c["Derived"](1, name="a").shown,
    "wrong arguments": lambda c: c["Point"](),
    "keyword only": lambda c: [c["Changing"](1, y=3), described(lambda: c["Changing"](1, 2))],
    "all keywords": lambda c: [c["Keywords"](x=1), described(lambda: c["Keywords"](1))],
    "equal": lambda c: [c["Point"](1) == c["Point"](1, weight=4), c["Point"](1) == c["Point"](2), c["Point"](1) == 1],
    "not equal to a class below": lambda c: c["Point"](1) == c["Named"](1),
    "by identity": lambda c: [c["ByIdentity"](1) == c["ByIdentity"](1), c["ByIdentity"].__eq__ is object.__eq__],
    "hash": lambda c: [hash(c["Point"](1, ())) == hash(c["Point"](1, ())), described(lambda: hash(c["Changing"]()))],
    "hash beside an own __eq__": lambda c: hash(c["Own"](1)) == hash((1,)),
    "hashable": lambda c: [isinstance(c[name](x=1), Hashable) for name in sorted(c)],
    "own methods": lambda c: [c["Own"](1), c["Own"](1) == 2],
    "assigned": lambda c: [described(partial(setattr, c[name](x=1), "x", 2)) for name in sorted(c)],
    "another attribute": lambda c: [described(partial(setattr, c[name](x=1), "q", 2)) for name in ("Named", "Derived")],
    "deleted": lambda c: [described(partial(delattr, c[name](x=1), "x")) for name in sorted(c)],
    "signature": lambda c: [str(inspect.signature(c[name])) for name in sorted(c)],
    "documentation": lambda c: [c[name].__doc__ for name in sorted(c) if c[name](x=1)],
    "fields": lambda c: [[(f.name, f.type, f.default) for f in dataclasses.fields(c[name])] for name in sorted(c)],
    "is a dataclass": lambda c: [dataclasses.is_dataclass(c[name]) for name in sorted(c)],
    "class attributes": lambda c: [hasattr(c["Named"], "tags"), c["Named"].weight, c["Named"].known, c["Named"].name],
    "replace": lambda c: dataclasses.replace(c["Named"](1), name="b"),
    "as a dict": lambda c: dataclasses.asdict(c["Named"](1)),
    "copy": lambda c: [copy.copy(c["Named"](1)), copy.deepcopy(c["Named"](1))],
    "match": lambda c: [c[name].__match_args__ for name in sorted(c)],
    "parameters": lambda c: [c[name].__dataclass_params__ for name in sorted(c)],
    "qualified names": lambda c: [c["Point"].__init__.__name__, c["Point"].__init__.__qualname__],
}


@pytest.mark.parametrize("use", USES)
def test_a_deferred_dataclass_is_one_of_the_standard_library(use: str) -> None:
    by_whom = {decorator: family(decorator) for decorator in (deferred, dataclasses.dataclass)}
    first, second = (described(lambda of=of: USES[use](of)) for of in by_whom.values())  # type: ignore[misc]
    assert first == second


def test_a_frozen_class_may_not_have_a_method_that_assigns() -> None:
    def define() -> None:
        @deferred(frozen=True)
        class Wrong:
            def __setattr__(self, name: str, value: Any) -> None: ...

    with pytest.raises(TypeError, match="Wrong is frozen"):
        define()


@deferred(frozen=True)
class Kept:
    """Pickled by name."""

    x: int


def test_what_was_unpickled_first_has_all_methods() -> None:
    kept = pickle.loads(pickle.dumps(Kept(1)).replace(b"Kept", b"Late"))
    assert (kept == Late(1), hash(kept) == hash(Late(1)), repr(kept)) == (True, True, "Late(x=1)")


@deferred(frozen=True)
class Late:
    """Not made before one is unpickled."""

    x: int


def test_the_default_of_a_field_may_be_an_attribute_of_a_class_above() -> None:
    class Above:
        x = 4

    @deferred
    class Below(Above):
        x: int

    assert Below().x == 4  # type: ignore[call-arg]


def test_abstract_classes_stay_abstract() -> None:
    class Above(ABC):
        @abstractmethod
        def value(self) -> int: ...

    @deferred
    class Below(Above):
        x: int

    with pytest.raises(TypeError, match="abstract"):
        cast(Any, Below)(1)


def test_threads_that_make_the_first_instances_together_get_instances() -> None:
    for _ in range(50):

        @deferred(frozen=True)
        class Shared:
            x: int

        made: list[Any] = []
        start = threading.Barrier(4)

        def make(of: Any = Shared, start: threading.Barrier = start, made: list[Any] = made) -> None:
            start.wait()
            made.append(of(1) == of(1))

        threads = [threading.Thread(target=make) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert made == [True] * 4


def test_all_of_scurry_defers_its_dataclasses() -> None:
    package = Path(scurry.__file__).parent
    direct = re.compile(r"^ *from dataclasses import .*\bdataclass\b", re.MULTILINE)
    files = [file for file in package.rglob("*.py") if "templates" not in file.parts]
    using = {file.name for file in files if direct.search(file.read_text(encoding="utf-8"))}
    assert using == {"_dataclasses.py"}, "import dataclass from scurry._dataclasses: a start does not pay for it"
