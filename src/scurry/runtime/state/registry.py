"""The registry of the states of an operator instance, and its reports to the driver, which stores their schemas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from scurry.common.state_migration import StateMigration
from scurry.errors import ArgumentError, StateMigrationError
from scurry.graph.operators import BroadcastProcess, KeyedBroadcastProcess
from scurry.runtime.state.evolution.classes import ClassCatalog
from scurry.runtime.state.expiry import Lifetime
from scurry.runtime.state.schema import CLASSES, OWN_NAMES, StateSchema, broadcast_name, descriptor_schema

if TYPE_CHECKING:
    from scurry.graph.plan import OperatorPlan
    from scurry.runtime.functions.state_descriptor import StateDescriptor


class Registered(NamedTuple):
    """A state as the program describes it now."""

    schema: StateSchema
    migration: StateMigration | None = None


class StateRegistry:
    """The states that one operator instance registers; lives as long as the instance."""

    def __init__(self, plan: OperatorPlan) -> None:
        self._plan = plan
        self.states: dict[str, Registered] = {}
        #: time to live of keyed states, by name; None for those without background cleanup
        self.lifetimes: dict[str, Lifetime | None] = {}
        #: whether the function has finished `open()`
        self.opened = False
        self.classes = ClassCatalog(self._add_classes)
        self._classes: dict[str, Any] = {}
        self._news: dict[str, Any] = {}

    def register(self, descriptor: StateDescriptor, broadcast: bool = False, scoped: bool = False) -> None:
        """Register a state, unless it is known.

        Args:
            broadcast: Whether it is broadcast state.
            scoped: Whether it belongs to a window.

        Raises:
            ArgumentError: The operator itself keeps state of that name.
            StateMigrationError: The state was restored, and its type or time to live has changed; detected this late
                because `open()` did not register it.
        """
        name = broadcast_name(descriptor.name) if broadcast else descriptor.name
        if name in self.states:
            if scoped and (lifetime := self.lifetimes[name]) is not None and not lifetime.scoped:
                self.lifetimes[name] = lifetime._replace(scoped=True)
            return
        if not broadcast and name in OWN_NAMES.get(self._plan.operator.kind, ()):
            raise ArgumentError(
                f"operator {self._plan.name!r} ({self._plan.origin}) itself keeps state called {name!r}: "
                "give the function's state another name"
            )
        declared = isinstance(self._plan.operator, (BroadcastProcess, KeyedBroadcastProcess)) and any(
            descriptor.name == each.name for each in self._plan.operator.descriptors
        )
        schema = descriptor_schema(descriptor, broadcast, lazy=self.opened and not (broadcast and declared))
        if name in self._plan.restored:
            self._check_restored(descriptor, schema, self._plan.restored[name])
        self.states[name] = Registered(schema, descriptor.migration)
        self._news[name] = schema.to_json()
        if not broadcast:
            kept = schema.ttl is None or schema.cleanup
            self.lifetimes[name] = None if schema.ttl is None or kept else Lifetime(schema.kind, schema.ttl, scoped)

    def _check_restored(
        self, descriptor: StateDescriptor, schema: StateSchema, restored: dict[str, Any] | None
    ) -> None:
        from scurry.runtime.state.evolution.operator import resolve
        from scurry.runtime.state.evolution.values import Incompatible

        where = f"state {descriptor.name!r} of operator {self._plan.name!r} (uid {self._plan.uid!r})"
        hint = "register it in open(), with runtime_context.get_state(...) or its like, to have it taken over"
        if restored is None:
            raise StateMigrationError(f"{where} was left out at the restore: open() did not ask for it; {hint}")
        before = StateSchema.from_json(restored)
        try:
            same = resolve(before, schema, descriptor.migration) is None
        except Incompatible as error:
            raise StateMigrationError(f"{where} was restored as {before} and is now {schema}: {error}") from None
        if not same:
            raise StateMigrationError(f"{where} was restored as {before} and is now {schema}; {hint}")

    def _add_classes(self, layouts: dict[str, Any]) -> None:
        new = {ref: layout for ref, layout in layouts.items() if ref not in self._classes}
        if new:
            self._classes.update(new)
            self._news[CLASSES] = {"kind": "classes", "classes": dict(self._classes)}

    def news(self) -> dict[str, Any]:
        """Return the registrations since the last call, as JSON by name; usually empty."""
        if not self._news:
            return self._news
        news, self._news = self._news, {}
        return news


def merge_schemas(known: dict[str, Any], news: dict[str, Any]) -> None:
    """Add an instance's report to the known schemas of the operator."""
    for name, schema in news.items():
        if name == CLASSES and CLASSES in known:
            known[CLASSES] = {**schema, "classes": {**known[CLASSES]["classes"], **schema["classes"]}}
        else:
            known[name] = schema
