"""None for an argument of a TableEnvironment is refused with the argument's name, where it means nothing."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from scurry.errors import ScurryError
from scurry.table import EnvironmentSettings, TableEnvironment

#: Arguments by name, for those that are given beside the one that is None.
GIVEN = {"stmt": "SELECT 1", "query": "SELECT 1", "path": "t", "function": None}


def parameters() -> list[tuple[str, str]]:
    return [
        (name, parameter)
        for name, member in inspect.getmembers(TableEnvironment, callable)
        if not name.startswith("_")
        for parameter in inspect.signature(member).parameters
        if parameter not in ("self", "args", "kwargs")
    ]


def call(env: TableEnvironment, name: str, absent: str) -> None:
    method = getattr(env, name)
    given: dict[str, Any] = {}
    for parameter in inspect.signature(method).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            continue
        if parameter.name == absent:
            given[absent] = None
        elif parameter.default is parameter.empty:
            given[parameter.name] = GIVEN.get(parameter.name, "x")
    method(**given)


@pytest.mark.parametrize(("name", "absent"), parameters())
def test_none_is_accepted_or_named(name: str, absent: str) -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    env.get_config().set("scurry.runner", "local")
    try:
        call(env, name, absent)
    except ScurryError as error:
        assert "NoneType' object" not in str(error)
    except AttributeError as error:
        assert "NoneType" not in str(error)  # another argument of the wrong kind


def test_a_descriptor_that_is_none_is_named() -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    with pytest.raises(TypeError, match="expected a TableDescriptor, .*, got None"):
        env.create_table("t", None)  # type: ignore[arg-type]
