from __future__ import annotations

import importlib
import pickle
import pkgutil
import re
from collections.abc import Iterator

import pytest

import scurry
from scurry import errors
from scurry.common._api import ApiObject
from scurry.errors import Failure, OperatorError, ScurryError, SparkFailedError

DRAWING = errors.__doc__ or ""


def classes_below(cls: type[ScurryError]) -> Iterator[type[ScurryError]]:
    for below in cls.__subclasses__():
        yield below
        yield from classes_below(below)


@pytest.fixture(scope="module")
def all_errors() -> list[type[ScurryError]]:
    """Every error that any module of scurry defines; tests define some, too."""
    for module in pkgutil.walk_packages(scurry.__path__, "scurry."):
        # Beam has an environment of its own
        if not module.name.endswith("__main__") and not module.name.startswith("scurry.beam."):
            importlib.import_module(module.name)
    return [ScurryError, *(cls for cls in classes_below(ScurryError) if cls.__module__.startswith("scurry"))]


def drawn_below(cls: type[ScurryError]) -> list[str]:
    """The names that the drawing shows one step below a class."""
    lines = [line for line in DRAWING.splitlines() if re.match(r"    [\s│├└─]*[A-Z]\w*Error\b", line)]
    depths = [re.search(r"[A-Z]", line).start() for line in lines]  # type: ignore[union-attr]
    names = [re.findall(r"\w+", line)[0] for line in lines]
    here = names.index(cls.__name__)
    below = []
    for depth, name in zip(depths[here + 1 :], names[here + 1 :], strict=True):
        if depth <= depths[here]:
            break
        if depth == depths[here] + 4:
            below.append(name)
    return below


def test_every_error_is_defined_in_scurry_errors(all_errors: list[type[ScurryError]]) -> None:
    assert [cls for cls in all_errors if cls.__module__ != "scurry.errors"] == []
    assert {cls.__name__ for cls in all_errors} <= set(errors.__all__)


def test_the_drawing_shows_every_error_below_its_base(all_errors: list[type[ScurryError]]) -> None:
    for cls in all_errors:
        below = [each.__name__ for each in all_errors if cls in each.__bases__]
        assert sorted(drawn_below(cls)) == sorted(below), cls.__name__


def test_the_drawing_names_the_builtin_errors_that_a_class_also_is(all_errors: list[type[ScurryError]]) -> None:
    for cls in all_errors:
        others = [base.__name__ for base in cls.__bases__ if not issubclass(base, ScurryError)]
        if cls is not ScurryError and others:
            assert f"{cls.__name__} ({', '.join(others)})" in DRAWING


def test_an_error_is_pickled_under_the_name_that_programs_import() -> None:
    failure = Failure("ValueError", "no number", "Parse", "1-Parse", "jobs.py:7", "'x'")
    pickled = pickle.dumps(OperatorError(failure), 5)
    assert b"scurry.errors.job" not in pickled
    assert pickle.loads(pickled).failure == failure


def test_key_errors_show_their_message_plainly() -> None:
    assert str(errors.UnknownConfigError("a is unknown")) == "a is unknown"
    assert str(errors.RowFieldError("no field")) == "no field"


def test_an_exception_of_java_fits_on_a_screen() -> None:
    class Py4JJavaError(Exception):
        pass

    Py4JJavaError.__module__ = "py4j.protocol"

    class Session:
        def start(self) -> None:
            stack = "\n".join(f"\tat org.apache.spark.Some.method{n}(Some.scala:{n})" for n in range(180))
            raise Py4JJavaError(f"An error occurred.\n: java.io.IOException: no chmod\n{stack}\nCaused by: no file\n")

    session = type("Session", (ApiObject,), {"__module__": "scurry.test", "start": Session.start})()
    with pytest.raises(SparkFailedError) as failed:
        session.start()
    assert str(failed.value).splitlines() == [
        "An error occurred.",
        ": java.io.IOException: no chmod",
        "Caused by: no file",
        "  hint: scurry run --debug shows the whole text",
    ]
    assert "method179" in failed.value.details
