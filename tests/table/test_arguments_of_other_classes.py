"""An argument of another class than a method takes is refused in words, wherever it is passed."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from scurry.datastream import StreamExecutionEnvironment
from scurry.errors import ScurryError
from scurry.table import StreamTableEnvironment

#: Of no class that a method of the Table API takes where a name is not enough.
WRONG = 3


def environment() -> StreamTableEnvironment:
    return StreamTableEnvironment.create(StreamExecutionEnvironment.get_execution_environment())


MAKERS: dict[str, Callable[[], Any]] = {
    "environment": environment,
    "table": lambda: environment().from_elements([(1,)], ["a"]),
    "statements": lambda: environment().create_statement_set(),
}


def required(method: Any) -> list[Any]:
    """Arguments that a method cannot do without: names are names, all others are wrong."""
    parameters = inspect.signature(method).parameters.values()
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    needed = [each for each in parameters if each.default is each.empty and each.kind not in variadic]
    return ["x" if each.annotation == "str" else WRONG for each in needed]


def calls() -> Iterator[tuple[str, str]]:
    for maker, make in MAKERS.items():
        made = make()
        for name in dir(made):
            if not name.startswith("_") and callable(getattr(made, name)) and WRONG in required(getattr(made, name)):
                yield maker, name


CALLS = list(calls())


def test_there_are_methods_that_take_such_arguments() -> None:
    assert {("environment", "create_model"), ("table", "execute_insert"), ("statements", "add")} <= set(CALLS)


@pytest.mark.parametrize(("maker", "name"), CALLS)
def test_a_wrong_argument_is_no_error_of_python(maker: str, name: str) -> None:
    method = getattr(MAKERS[maker](), name)
    with contextlib.suppress(ScurryError):  # a method may take a number, too
        method(*required(method))


def test_the_message_says_what_is_expected() -> None:
    with pytest.raises(ScurryError, match=r"expected a ModelDescriptor, which ModelDescriptor\.for_provider.* got 'x'"):
        environment().create_model("m", "x")  # type: ignore[arg-type]
