"""Dataclasses in state may change between two versions of a program, wherever their instances are."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

from scurry.common import Row, Time, Types
from scurry.datastream.functions import BroadcastProcessFunction
from scurry.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor, evolves
from scurry.datastream.window import TumblingEventTimeWindows
from scurry.errors import StateMigrationError
from scurry.runtime.state.evolution.classes import ClassCatalog
from scurry.testing import Snapshot, TestHarness
from support.runtime.program_versions import KEY, MODULE, keeping, program, restored, written

STATE = ValueStateDescriptor("profile")
DECORATORS = ["@dataclass", "@dataclass(frozen=True)", "@dataclass(slots=True)", "@dataclass(frozen=True, slots=True)"]
every_kind = pytest.mark.parametrize("decorator", DECORATORS)


def first_version(decorator: str = "@dataclass") -> str:
    return f"{decorator}\nclass Profile:\n    name: str\n    hits: int = 0\n"


def stored(source: str, value: str, descriptor: Any = STATE, method: str = "update") -> Snapshot:
    """What a program leaves behind that puts the value of an expression into state."""
    with program(source) as module:
        return written((descriptor, method, eval(value, vars(module))))


def now(snapshot: Snapshot, source: str, *descriptors: Any) -> Any:
    """What state of a snapshot holds in a later version of the program; a second restore finds the same."""
    descriptors = descriptors or (STATE,)
    with program(source):
        with restored(snapshot, *descriptors) as harness:
            held = harness.state(descriptors[0], KEY)
            again = pickle.loads(pickle.dumps(harness.snapshot()))
        with restored(again, *descriptors) as harness:
            assert harness.snapshot().operators == again.operators
        return held


# ---------------------------------------------------------------- fields


@every_kind
def test_added_fields_take_the_classes_defaults(decorator: str) -> None:
    later = first_version(decorator)
    later += "    level: int = 7\n    tags: list[str] = field(default_factory=lambda: ['new'])\n"
    profile = now(stored(first_version(decorator), "Profile('ann', 3)"), later)
    assert (profile.name, profile.hits, profile.level, profile.tags) == ("ann", 3, 7, ["new"])
    assert type(profile).__name__ == "Profile"


@every_kind
def test_removed_fields_go(decorator: str) -> None:
    later = f"{decorator}\nclass Profile:\n    hits: int\n"
    profile = now(stored(first_version(decorator), "Profile('ann', 3)"), later)
    assert profile.hits == 3
    assert not hasattr(profile, "name")


@every_kind
def test_fields_may_change_places(decorator: str) -> None:
    later = f"{decorator}\nclass Profile:\n    hits: int\n    name: str\n"
    profile = now(stored(first_version(decorator), "Profile('ann', 3)"), later)
    assert (profile.name, profile.hits) == ("ann", 3)


@every_kind
def test_a_renamed_field_keeps_its_value(decorator: str) -> None:
    later = f"""
from scurry.datastream.state import evolves
@evolves(renamed={{"hits": "visits"}})
{decorator}
class Profile:
    name: str
    visits: int
"""
    profile = now(stored(first_version(decorator), "Profile('ann', 3)"), later)
    assert (profile.name, profile.visits) == ("ann", 3)


@every_kind
def test_types_of_fields_widen(decorator: str) -> None:
    later = f"{decorator}\nclass Profile:\n    name: str | None\n    hits: float\n"
    profile = now(stored(first_version(decorator), "Profile('ann', 3)"), later)
    assert (profile.name, profile.hits, type(profile.hits)) == ("ann", 3.0, float)


@pytest.mark.parametrize("before", DECORATORS)
@pytest.mark.parametrize("after", DECORATORS)
def test_the_class_may_become_frozen_or_get_slots(before: str, after: str) -> None:
    profile = now(stored(first_version(before), "Profile('ann', 3)"), first_version(after))
    assert (profile.name, profile.hits) == ("ann", 3)


def test_a_descriptor_may_declare_it_too() -> None:
    snapshot = stored(first_version(), "Profile('ann', 3)")
    later = "@dataclass\nclass Profile:\n    name: str\n    visits: int\n    level: int"
    with program(later) as module:
        after = ValueStateDescriptor("profile", module.Profile).with_migration(
            renamed={"hits": "visits"}, defaults={"level": 1}
        )
        with restored(snapshot, after) as harness:
            assert harness.state(after, KEY) == module.Profile("ann", 3, 1)


def test_attributes_that_are_no_fields_stay() -> None:
    source = first_version() + "    def __post_init__(self):\n        self.seen = 1\n"
    profile = now(stored(source, "Profile('ann', 3)"), source + "    level: int = 7\n")
    assert (profile.seen, profile.level) == (1, 7)


def test_a_class_that_pickles_itself_is_left_to_itself() -> None:
    own = "    def __getstate__(self): return self.name\n    def __setstate__(self, state): self.name = state\n"
    profile = now(stored(first_version() + own, "Profile('ann', 3)"), first_version() + "    level: int = 7\n" + own)
    assert profile.name == "ann"
    assert "hits" not in vars(profile)


# ---------------------------------------------------------------- where instances are

PLACES = [
    "Profile('ann', 3)",
    "[Profile('ann', 3)]",
    "{'a': (1, Profile('ann', 3))}",
    "Row(1, Profile('ann', 3))",
    "Box(Profile('ann', 3))",
    "{Profile('ann', 3)}",
    "{Profile('ann', 3): 1}",
]


def found(value: Any) -> list[Any]:
    """The profiles somewhere within a value."""
    if type(value).__name__ == "Profile":
        return [value]
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if type(value).__name__ == "Box":
        value = [value.content]
    return [each for part in value for each in found(part)] if isinstance(value, (list, tuple, set, Row)) else []


@pytest.mark.parametrize("place", PLACES)
def test_instances_evolve_wherever_they_are(place: str) -> None:
    box = "from scurry.common import Row\n@dataclass\nclass Box:\n    content: Profile\n"
    source = first_version("@dataclass(frozen=True, slots=True)")
    (profile,) = found(now(stored(source + box, place), f"{source}    level: int = 7\n{box}"))
    assert (profile.name, profile.hits, profile.level) == ("ann", 3, 7)


def test_elements_of_a_list_and_values_of_a_map_evolve() -> None:
    later = first_version() + "    level: int = 7\n"
    elements, values = ListStateDescriptor("l"), MapStateDescriptor("m")
    (profile,) = now(stored(first_version(), "Profile('ann', 3)", elements, "add"), later, elements)
    assert profile.level == 7
    with program(first_version()) as module:
        snapshot = written((values, "put", "a", module.Profile("ann", 3)))
    assert now(snapshot, later, values)["a"].level == 7


def test_windows_in_flight_go_on() -> None:
    def build(stream: Any) -> Any:
        windows = TumblingEventTimeWindows.of(Time.milliseconds(10))
        return stream.key_by(lambda p: p.name).window(windows).reduce(lambda a, b: a).uid("w")

    with program(first_version()) as module, TestHarness.of(build) as harness:
        harness.process(module.Profile("ann", 3), 5)
        snapshot = pickle.loads(pickle.dumps(harness.snapshot()))
    with program(first_version() + "    level: int = 7\n") as module:
        with TestHarness.of(build, snapshot=snapshot) as harness:
            harness.end_input()
            assert harness.outputs() == [module.Profile("ann", 3, 7)]


RULES = MapStateDescriptor("rules")


class Rules(BroadcastProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield ctx.get_broadcast_state(RULES).get("rule")

    def process_broadcast_element(self, value: Any, ctx: Any) -> None:
        ctx.get_broadcast_state(RULES).put("rule", value)


def ruled(rules: MapStateDescriptor) -> Callable[..., Any]:
    return lambda values, stream: values.connect(stream.broadcast(rules)).process(Rules()).uid("ruled")


def test_broadcast_state_evolves() -> None:
    with program(first_version()) as module, TestHarness.of(ruled(RULES)) as harness:
        harness.process(module.Profile("ann", 3), input=2)
        snapshot = pickle.loads(pickle.dumps(harness.snapshot()))
    with program(first_version() + "    level: int = 7\n") as module:
        with TestHarness.of(ruled(RULES), parallelism=2, snapshot=snapshot) as harness:
            harness.process(1)
            assert harness.outputs() == [module.Profile("ann", 3, 7)]
    typed = MapStateDescriptor("rules", Types.STRING(), Types.STRING())
    with program(first_version()), pytest.raises(StateMigrationError, match="state 'broadcast:rules'"):
        TestHarness.of(ruled(typed), snapshot=snapshot)


# ---------------------------------------------------------------- classes with other names


@every_kind
def test_a_renamed_class_is_declared(decorator: str) -> None:
    snapshot = stored(first_version(decorator), "Profile('ann', 3)")
    later = f"""
from scurry.datastream.state import evolves
@evolves(renamed_from="{MODULE}.Profile")
{decorator}
class Customer:
    name: str
    hits: int
    level: int = 7
"""
    customer = now(snapshot, later)
    assert (type(customer).__name__, customer.hits, customer.level) == ("Customer", 3, 7)


def test_a_class_with_another_name_and_nothing_else() -> None:
    snapshot = stored("class Plain:\n    pass\n", "Plain()")
    with program("class Simple:\n    pass\n") as module:
        evolves(renamed_from=f"{MODULE}.Plain")(module.Simple)
        with restored(snapshot, STATE) as harness:
            assert type(harness.state(STATE, KEY)) is module.Simple


def test_a_descriptor_may_declare_the_old_name() -> None:
    with program(first_version()) as module:
        snapshot = written((ValueStateDescriptor("profile", module.Profile), "update", module.Profile("ann", 3)))
    with program("@dataclass\nclass Customer:\n    name: str\n    hits: int\n") as module:
        with pytest.raises(StateMigrationError, match=rf"{MODULE}.Profile is not {MODULE}.Customer.*renamed_from="):
            restored(snapshot, ValueStateDescriptor("profile", module.Customer))
        after = ValueStateDescriptor("profile", module.Customer).with_migration(renamed_from=f"{MODULE}.Profile")
        with restored(snapshot, after) as harness:
            assert harness.state(after, KEY) == module.Customer("ann", 3)


def test_a_class_that_is_gone_is_named() -> None:
    snapshot = stored(first_version(), "Profile('ann', 3)")
    with pytest.raises(StateMigrationError, match=rf"'Keep'.*instances of class {MODULE}.Profile.*\n.*renamed_from"):
        now(snapshot, "class Other:\n    pass\n")


def test_a_plain_class_that_is_gone_is_named_too() -> None:
    snapshot = stored("from enum import Enum\nclass Color(Enum):\n    RED = 1\n", "Color.RED")
    with pytest.raises(StateMigrationError, match=rf"instances of class {MODULE}.Color"):
        now(snapshot, "")


# ---------------------------------------------------------------- refused


@every_kind
def test_an_added_field_without_a_default_is_refused(decorator: str) -> None:
    snapshot = stored(first_version(decorator), "Profile('ann', 3)")
    later = f"{decorator}\nclass Profile:\n    name: str\n    hits: int\n    level: int\n"
    with pytest.raises(StateMigrationError, match="field 'level' was added, and has no default\n  hint: declare"):
        now(snapshot, later)


def test_a_field_of_another_type_is_refused() -> None:
    snapshot = stored(first_version(), "Profile('ann', 3)")
    with pytest.raises(StateMigrationError, match="Profile has changed: field 'hits': int cannot become str"):
        now(snapshot, "@dataclass\nclass Profile:\n    name: str\n    hits: str\n")


def test_none_in_a_field_that_no_longer_admits_it_is_refused() -> None:
    snapshot = stored("@dataclass\nclass Profile:\n    name: str | None\n", "Profile(None)")
    with pytest.raises(StateMigrationError, match="field 'name' of .*Profile cannot take over the value None"):
        now(snapshot, "@dataclass\nclass Profile:\n    name: str\n    level: int = 7\n")


# ---------------------------------------------------------------- conversion by a function, and states that are dropped


def test_a_function_sees_the_old_fields() -> None:
    snapshot = stored("@dataclass\nclass Profile:\n    first: str\n    last: str\n", "Profile('Ann', 'Lee')")
    with program("@dataclass\nclass Profile:\n    name: str\n") as module:
        after = ValueStateDescriptor("profile").with_migration(
            convert=lambda old: module.Profile(f"{old.first} {old.last}"), version=1
        )
        with restored(snapshot, after) as harness:
            assert harness.state(after, KEY) == module.Profile("Ann Lee")


def test_a_function_takes_over_instances_of_a_class_that_is_gone() -> None:
    after = ValueStateDescriptor("profile").with_migration(convert=lambda old: old.hits, version=1)
    assert now(stored(first_version(), "Profile('ann', 3)"), "", after) == 3


def test_a_function_that_leaves_them_in_is_refused() -> None:
    after = ValueStateDescriptor("profile").with_migration(convert=lambda old: [old], version=1)
    with pytest.raises(StateMigrationError, match="instances of class .*Profile"):
        now(stored(first_version(), "Profile('ann', 3)"), "", after)


def test_a_class_may_go_with_its_state() -> None:
    other = ValueStateDescriptor("other")
    with program(first_version()) as module:
        snapshot = written((STATE, "update", module.Profile("ann", 3)), (other, "update", 5))
    assert now(snapshot, "", other) == 5


# ---------------------------------------------------------------- what is kept next to the state


def test_state_is_not_touched_while_classes_are_the_same() -> None:
    source = first_version("@dataclass(frozen=True, slots=True)")
    snapshot = stored(source, "Profile('ann', 3)")
    with program(source), restored(snapshot, STATE) as harness:
        assert harness.snapshot() == snapshot


def test_the_layout_of_classes_is_kept_with_the_state() -> None:
    schemas = stored(first_version("@dataclass(slots=True)"), "[Profile('ann', 3)]").schemas["keep"]
    assert schemas["profile"] == {"kind": "value", "type": "ANY"}
    assert schemas["(classes)"]["classes"] == {
        f"{MODULE}:Profile": {"fields": [["name", "STRING"], ["hits", "BIG_INT"]], "storage": "slots"}
    }


def test_classes_that_turn_up_later_are_noticed() -> None:
    with program(first_version() + "@dataclass\nclass Late:\n    n: int = 0\n") as module:
        with TestHarness.of(keeping(STATE)) as harness:
            harness.process(("a", "profile", "update", (module.Profile("ann"),)))
            harness.process(("b", "profile", "update", ([module.Profile("bob"), module.Late()],)))
            # the name of the class is a value, too: pickle then refers to that
            harness.process(("c", "profile", "update", (["Late", module.Late()],)))
            classes = harness.snapshot().schemas["keep"]["(classes)"]["classes"]
    assert sorted(classes) == [f"{MODULE}:Late", f"{MODULE}:Profile"]


def test_defaults_that_cannot_be_made_are_told_like_conversions() -> None:
    later = "def fails():\n    raise ZeroDivisionError('no level')\n\n"
    later += first_version() + "    level: int = field(default_factory=fails)\n"
    with pytest.raises(StateMigrationError, match="'Keep'.* cannot be converted: ZeroDivisionError: no level"):
        now(stored(first_version(), "Profile('ann', 3)"), later)


def test_numbers_are_not_taken_for_names_of_classes() -> None:
    """Each would be a new one, remembered for as long as the job runs."""
    found: list[Any] = []
    catalog = ClassCatalog(found.append)
    for number in range(1000):
        catalog.look_at(pickle.dumps({f"key {number}": 0x9394}, 5))  # as bytes: the end of a name and STACK_GLOBAL
    assert (len(catalog._names), found) == (1, [])
