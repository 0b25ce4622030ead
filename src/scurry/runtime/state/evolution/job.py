"""Restoring state into a changed program: detects changes and refuses incompatible ones before anything runs.

To restore, call `collect_schemas` (`savepoint/schemas.py`) for the present states of the program, then `plan_migration`
to compare them with the schemas stored with the state. Then `attach` the migration to the plan before that is shipped
to workers, and pass each stored entry through its `migrate`.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

from scurry._dataclasses import dataclass
from scurry.common.pickling import by_value, loads
from scurry.common.state_migration import StateMigration, class_renamed_from
from scurry.errors import ScurryError, StateMigrationError
from scurry.graph.plan import JobPlan, OperatorPlan
from scurry.runtime.state.evolution.class_changes import class_change
from scurry.runtime.state.evolution.classes import ChangedClasses, ClassChange, ClassLayout, find_class
from scurry.runtime.state.evolution.operator import OperatorMigration, drop, resolve
from scurry.runtime.state.evolution.values import Change, Incompatible
from scurry.runtime.state.registry import Registered
from scurry.runtime.state.schema import (
    CLASSES,
    OWN_KINDS,
    Schemas,
    StateSchema,
)
from scurry.runtime.state.types import class_ref, class_refs, head, text

#: The program's present states: operator uid -> state name -> schema and declared migration.
Collected = dict[str, dict[str, Registered]]


@dataclass
class JobMigration:
    """The conversion of a whole job's state.

    Attributes:
        operators: Operator uid -> its migration; operators with unchanged state are missing.
        schemas: The schemas of the state after the migration.
        notes: Texts for the user, such as which state was dropped.
    """

    operators: dict[str, OperatorMigration] = field(default_factory=dict)
    schemas: Schemas = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    _restored: Schemas = field(default_factory=dict)

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpack, (by_value(vars(self)),)  # converting functions are the program's own, often lambdas

    def migrate(self, uid: str, kind: str, blob: bytes) -> bytes:
        """Return a stored entry of an operator as this program reads it.

        Raises:
            StateMigrationError: A value cannot be converted.
        """
        operator = self.operators.get(uid)
        return blob if operator is None else operator.migrate(kind, blob)

    def attach(self, plan: JobPlan) -> None:
        """Let operators check the states that they register after `open()`."""
        for operator in plan.operators.values():
            operator.restored = self._restored.get(operator.uid, {})


def _unpack(content: bytes) -> JobMigration:
    return JobMigration(**loads(content))


def plan_migration(plan: JobPlan, restored: Schemas, collected: Collected, now: int) -> JobMigration:
    """Compare stored state with the program's declarations.

    Args:
        restored: The schemas stored with the state; operators that the plan lacks are ignored.
        collected: The result of `collect_schemas`.
        now: The last access, in milliseconds, of values that get a time to live only now.

    Raises:
        StateMigrationError: State cannot be converted; names operator, state, both types and what to do.
    """
    job = JobMigration()
    by_uid = {operator.uid: operator for operator in plan.operators.values()}
    for uid, schemas in restored.items():
        if uid in by_uid:
            try:
                _OperatorPlanner(by_uid[uid], schemas, collected.get(uid, {}), now).plan(job)
            except ScurryError:
                raise
            except Exception as error:
                raise StateMigrationError(
                    f"state of operator {by_uid[uid].name!r} (uid {uid!r}) cannot be compared with what the program "
                    f"expects: {type(error).__name__}: {error}"
                ) from error
    return job


class _OperatorPlanner:
    def __init__(
        self, operator: OperatorPlan, schemas: dict[str, Any], registered: dict[str, Registered], now: int
    ) -> None:
        self.name = f"operator {operator.name!r} (uid {operator.uid!r})"
        self.uid = operator.uid
        self.before = {name: StateSchema.from_json(json) for name, json in schemas.items() if name != CLASSES}
        self.layouts: dict[str, Any] = schemas.get(CLASSES, {}).get("classes", {})
        self.registered = registered
        self.now = now
        self.declared = self._declared_of_classes()
        self.renamed = self._renamed_classes()

    def plan(self, job: JobMigration) -> None:
        states: dict[str, Change] = {}
        after = {name: each.schema.to_json() for name, each in self.registered.items()}
        restored: dict[str, Any] = {}
        lenient = False
        for name, before in self.before.items():
            now = self.registered.get(name)
            if now is not None:
                change = self._resolve(name, before, now, job)
                if change is not None:
                    states[name] = change
                    lenient = lenient or (now.migration is not None and now.migration.convert is not None)
            elif before.kind in OWN_KINDS:
                self._own_state_is_gone(name, before)
            elif before.lazy:
                restored[name] = after[name] = before.to_json()
            else:
                lenient, restored[name], states[name] = True, None, drop
                job.notes.append(f"state {name!r} of {self.name} was dropped: the program no longer registers it")
        changes, after[CLASSES] = self._classes(lenient, job)
        if not self.layouts:
            del after[CLASSES]
        job.schemas[self.uid], job._restored[self.uid] = after, restored
        if states or changes:
            job.operators[self.uid] = OperatorMigration(self.name, states, ChangedClasses(changes))

    # ---------------------------------------------------------------- states

    def _resolve(self, name: str, before: StateSchema, now: Registered, job: JobMigration) -> Change | None:
        notes: list[str] = []
        try:
            change = resolve(before, now.schema, now.migration, self.renamed, self.now, notes)
            job.notes += [f"state {name!r} of {self.name}: {note}" for note in notes]
            if before.kind == "key" and change is not None:
                raise Incompatible("keys stay as they are")
            return change
        except Incompatible as error:
            what = "the keys" if before.kind == "key" else f"state {name!r}"
            raise StateMigrationError(
                f"{what} of {self.name} cannot be taken over: stored as {before}, now {now.schema}: {error}\n"
                f"  hint: {_hint(before)}"
            ) from None

    def _own_state_is_gone(self, name: str, before: StateSchema) -> None:
        if before.kind != "key":
            raise StateMigrationError(
                f"{self.name} has kept {before}, which the operator of that uid no longer keeps\n"
                "  hint: give the operator another uid(...) to let it begin empty, and leave the old state unclaimed"
            )

    # ---------------------------------------------------------------- classes

    def _declared_of_classes(self) -> dict[str, StateMigration]:
        declared = {}
        for schema, migration in self.registered.values():
            if migration is not None:
                value = schema.type[-1] if schema.kind in ("list", "map", "broadcast") else schema.type
                if head(value) == "CLASS":
                    declared[value[1]] = migration
        return declared

    def _renamed_classes(self) -> dict[str, str]:
        """Return old reference -> new one, of the classes that the program declares as renamed."""
        mentioned = set(self.layouts).union(*(class_refs(schema.type) for schema in self.before.values()))
        by_name = {m.renamed_from: ref for ref, m in self.declared.items() if m.renamed_from is not None}
        renamed = {}
        for ref in mentioned:
            name = text(["CLASS", ref])
            cls = class_renamed_from(name)
            if name in by_name:
                renamed[ref] = by_name[name]
            elif cls is not None and find_class(class_ref(cls)) is cls:  # ignore a class that was replaced since
                renamed[ref] = class_ref(cls)
        return renamed

    def _classes(self, lenient: bool, job: JobMigration) -> tuple[dict[str, ClassChange], dict[str, Any]]:
        """Return the classes that changed, and the layouts of all classes afterwards.

        Args:
            lenient: Whether state is dropped or converted by a user function: then the instances that cannot be
                converted may be gone when the state is written.
            job: Takes notes on fields that the program says nothing about.
        """
        changes, layouts = {}, {}
        for ref, json in self.layouts.items():
            before = ClassLayout.from_json(json)
            notes: list[str] = []
            change = class_change(ref, self.renamed.get(ref, ref), before, self.declared, self.renamed, notes)
            job.notes += [f"class {text(['CLASS', ref])} in state of {self.name}: {note}" for note in notes]
            if change is not None:
                changes[ref] = change
                if change.reason and not lenient:
                    raise StateMigrationError(f"state of {self.name} cannot be taken over: {change.reason}")
            target = find_class(ref) if change is None else change.target
            if isinstance(target, type):
                now = ClassLayout.of(target)
                layouts[class_ref(target)] = None if now is None else now.to_json()
        return changes, {"kind": "classes", "classes": layouts}


def _hint(before: StateSchema) -> str:
    if before.kind == "rows":
        return "restore the statement that the savepoint was taken of, or start the changed one without a savepoint"
    if before.kind == "key":
        return "let key_by return what it did, or give the operator another uid(...) to let it begin empty"
    if before.kind in OWN_KINDS:
        return "go back to the earlier type, or give the operator another uid(...) to let it begin empty"
    return (
        "go back to the earlier type, give the state another name to let it begin empty, or declare how values are "
        "converted: descriptor.with_migration(convert=...)"
    )
