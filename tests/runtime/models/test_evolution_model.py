"""Rows and dataclasses that change again and again, against a model that edits dicts.

From version to version fields are added, removed, renamed, widened and put into another order, all at once; every
version starts with what the one before it left. 700 cases with SCURRY_CASES=700 (`make test-models`).
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from scurry.common import Row, Types
from scurry.datastream.state import ListStateDescriptor, ValueStateDescriptor
from support.cases import CASES
from support.runtime.program_versions import KEY, program, restored, written

NAMES = "abcdef"
DECLARED = {"int": Types.LONG(), "float": Types.DOUBLE(), "str": Types.STRING()}
VALUES = {"int": st.integers(-9, 9), "float": st.sampled_from([0.5, -2.0]), "str": st.sampled_from(["x", "y"])}


@dataclass
class Version:
    """The fields of a version by name, with what is declared about them."""

    fields: dict[str, str]
    defaults: dict[str, Any]
    renamed: dict[str, str] = field(default_factory=dict)
    added: set[str] = field(default_factory=set)


@st.composite
def later(draw: st.DrawFn, before: Version) -> Version:
    fields: dict[str, str] = {}
    renamed: dict[str, str] = {}
    for name, kind in before.fields.items():
        action = draw(st.sampled_from(["keep", "keep", "remove", "rename", "widen"]))
        fresh = [other for other in NAMES if other not in before.fields and other not in fields]
        if action == "rename" and fresh:
            renamed[name] = draw(st.sampled_from(fresh))
            fields[renamed[name]] = kind
        elif action != "remove":
            fields[name] = "float" if (action, kind) == ("widen", "int") else kind
    # a name that a rename has set free may be given to another field at once
    free = [name for name in NAMES if name not in fields and (name not in before.fields or name in renamed)]
    added = set(draw(st.lists(st.sampled_from(free), min_size=not fields, max_size=2)) if free else ())
    fields |= {name: draw(st.sampled_from(list(DECLARED))) for name in sorted(added)}
    fields = fields or before.fields
    order = draw(st.permutations(list(fields)))
    defaults = {name: draw(VALUES[fields[name]]) for name in order}
    return Version({name: fields[name] for name in order}, defaults, renamed, added)


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[Version], dict[str, Any]]:
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True))
    fields = {name: draw(st.sampled_from(list(DECLARED))) for name in names}
    versions = [Version(fields, {name: draw(VALUES[kind]) for name, kind in fields.items()})]
    for _ in range(draw(st.integers(1, 4))):
        versions.append(draw(later(versions[-1])))
    return versions, {name: draw(VALUES[kind]) for name, kind in fields.items()}


def edited(value: dict[str, Any], version: Version) -> dict[str, Any]:
    """The model: one version's changes to a value of the version before it."""
    came_from = {after: before for before, after in version.renamed.items()}
    after = {}
    for name, kind in version.fields.items():
        source = came_from.get(name, name)
        old = version.defaults[name] if name in version.added else value[source]
        after[name] = float(old) if kind == "float" else old
    return after


def typed(value: dict[str, Any]) -> list[tuple[str, type, Any]]:
    return [(name, type(part), part) for name, part in value.items()]


@settings(max_examples=CASES, deadline=None)
@given(histories())
def test_rows_agree_with_the_model(history: tuple[list[Version], dict[str, Any]]) -> None:
    versions, model = history

    def descriptor(version: Version) -> Any:
        declared = Types.ROW_NAMED(list(version.fields), [DECLARED[kind] for kind in version.fields.values()])
        return ListStateDescriptor("s", declared).with_migration(
            renamed=version.renamed, defaults={name: version.defaults[name] for name in version.added}
        )

    snapshot = written((descriptor(versions[0]), "add", Row(**model)))
    for version in versions[1:]:
        model = edited(model, version)
        with restored(pickle.loads(pickle.dumps(snapshot)), descriptor(version)) as harness:
            (row,) = harness.state(descriptor(version), KEY)
            snapshot = harness.snapshot()
        assert typed(row.as_dict()) == typed(model)


@settings(max_examples=CASES, deadline=None)
@given(histories(), st.lists(st.sampled_from(["", "slots=True", "frozen=True", "frozen=True, slots=True"]), min_size=5))
def test_dataclasses_agree_with_the_model(history: tuple[list[Version], dict[str, Any]], decorators: list[str]) -> None:
    versions, model = history

    def source(number: int) -> str:
        version = versions[number]
        fields = [f"    {name}: {kind} = {version.defaults[name]!r}\n" for name, kind in version.fields.items()]
        return (
            "from scurry.datastream.state import evolves\n"
            f"@evolves(renamed={version.renamed!r})\n@dataclass({decorators[number]})\nclass Value:\n{''.join(fields)}"
        )

    state = ValueStateDescriptor("s")
    with program(source(0)) as module:
        snapshot = written((state, "update", (1, [module.Value(**model)])))
    for number, version in enumerate(versions[1:], 1):
        model = edited(model, version)
        with program(source(number)) as module, restored(snapshot, state) as harness:
            _, (value,) = harness.state(state, KEY)
            snapshot = harness.snapshot()
            assert typed({name: getattr(value, name) for name in version.fields}) == typed(model)
            assert value == module.Value(**model)
