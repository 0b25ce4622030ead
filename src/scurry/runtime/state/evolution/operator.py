"""Migration of an operator's stored state: pages of keyed state and maps of broadcast state."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from dataclasses import field
from typing import Any

from scurry._dataclasses import dataclass
from scurry.common.state_migration import StateMigration
from scurry.errors import ScurryError, StateMigrationError
from scurry.runtime.keys import original_key
from scurry.runtime.parts import LAST_ACCESS, is_part, owner_of
from scurry.runtime.state.backend import Index
from scurry.runtime.state.evolution.classes import ChangedClasses
from scurry.runtime.state.evolution.values import Change, Incompatible, Rules, evolve
from scurry.runtime.state.layout import Entry, PageContent, has_rows, is_run, page_of
from scurry.runtime.state.schema import StateSchema, broadcast_name
from scurry.runtime.state.slots import PARTS, SESSIONS, state_name
from scurry.runtime.state.types import TypeJson, declared_type, text


def resolve(
    before: StateSchema,
    after: StateSchema,
    migration: StateMigration | None = None,
    renamed: dict[str, str] | None = None,
    now: int = 0,
    notes: list[str] | None = None,
) -> Change | None:
    """Return the conversion of a state's stored form (for one key) to the form that this program stores.

    Args:
        after: The schema it has now.
        migration: The migration that the program declares for it.
        renamed: Renamed classes: old reference -> new one.
        now: The last access, in milliseconds, of values that get a time to live only now.
        notes: Takes what becomes of fields that the program says nothing about, as text.

    Returns:
        A function of the stored value, which returns None if nothing is left of it; None if nothing changes.

    Raises:
        Incompatible: There is no such conversion.
    """
    if before.kind != after.kind:
        raise Incompatible(f"a {before.kind} state cannot become a {after.kind} state")
    if before.kind == "rows" and after.layout not in (before.layout, f"{before.layout}, in columns of keys"):
        raise Incompatible(f"the statement, or a table of it, has changed: {_changes(before.layout, after.layout)}")
    if before.kind != "rows" and before.layout != after.layout:
        raise Incompatible(f"{before.layout} cannot become {after.layout}: open windows are kept in another way")
    migration = migration or StateMigration()
    kind, rules = after.kind, Rules(migration, renamed or {}, notes=[] if notes is None else notes)
    if kind in ("map", "broadcast"):
        _check_keys(before.type[1], after.type[1], rules)
    old, new = (
        schema.type[2] if kind in ("map", "broadcast") else schema.type[1] if kind == "list" else schema.type
        for schema in (before, after)
    )
    change = _value_change(before, old, new, migration, rules)
    return _in_place(kind, _with_stamp(change, before.ttl is not None, after.ttl is not None, now))


def _check_keys(old: TypeJson, new: TypeJson, rules: Rules) -> None:
    if evolve(old, new, Rules(renamed=rules.renamed)) is not None:
        raise Incompatible(f"map keys stay as they are, and {text(old)} cannot become {text(new)}")


def _value_change(
    before: StateSchema, old: TypeJson, new: TypeJson, migration: StateMigration, rules: Rules
) -> Change | None:
    if migration.convert is not None:
        runs = migration.version > before.version if migration.version else old != new
        if runs:
            return _converted(migration.convert, declared_type(new).converter())
    change = evolve(old, new, rules)
    if change is None or before.layout or before.kind in ("reduce", "join", "key"):
        return change
    # functions may put values into state that are not of the declared type yet, such as a tuple for a row
    normalize = declared_type(old).converter()
    return change if normalize is None else lambda value: change(normalize(value))


def _converted(convert: Change, check: Change | None) -> Change:
    def change(value: Any) -> Any:
        converted = convert(value)
        return converted if check is None or converted is None else check(converted)

    return change


def _with_stamp(change: Change | None, stamped: bool, to_stamp: bool, now: int) -> Change | None:
    """Add or remove `(value, last access)` pairs; as in Flink, values that get a time to live count as accessed now."""
    if not stamped and not to_stamp:
        return change
    if stamped and to_stamp and change is None:
        return None
    convert: Change = change or (lambda value: value)

    def restamp(stored: Any) -> Any:
        value, stamp = stored if stamped else (stored, now)
        value = convert(value)
        return (value, stamp) if to_stamp and value is not None else value

    return restamp


def _in_place(kind: str, change: Change | None) -> Change | None:
    """Return the change of a whole state, given that of each of its values."""
    if change is None:
        return None
    if kind == "list":
        return lambda values: [new for value in values if (new := change(value)) is not None] or None
    if kind in ("map", "broadcast"):
        return lambda values: (
            {key: new for key, value in values.items() if (new := change(value)) is not None or value is None} or None
        )
    return change


def drop(stored: Any) -> None:
    """Drop a state that the program no longer has."""


@dataclass
class OperatorMigration:
    """Convert an operator's stored entries for a changed program.

    Attributes:
        operator: The operator, for errors.
        states: State name -> its change.
        classes: The changed classes among those with stored instances.
    """

    operator: str
    states: dict[str, Change] = field(default_factory=dict)
    classes: ChangedClasses = field(default_factory=lambda: ChangedClasses({}))

    def migrate(self, kind: str, blob: bytes) -> bytes:
        """Return a stored entry as this program reads it.

        Args:
            kind: "page", "broadcast" or "meta".
            blob: What is stored; indexes, meta entries and rows of tables stay as they are.

        Raises:
            StateMigrationError: A value cannot be converted.
        """
        if kind == "meta" or has_rows(blob):
            return blob
        try:
            if is_run(blob):
                return self._migrated_run(blob)
            content = self._load(blob)
            if isinstance(content, Index | PageContent):
                return blob
            if kind == "broadcast":
                self._migrate_entry(content, broadcast_name)
                return pickle.dumps(content, 5)
            page = page_of(content)
            for key, entry in page.items():
                self._migrate_key(key, entry)
            return pickle.dumps({key: entry for key, entry in page.items() if entry}, 5)
        except StateMigrationError as error:
            raise StateMigrationError(f"{self.operator}: {error}") from error.__cause__
        except Exception as error:  # such as a default_factory's: it runs only at pickling
            raise StateMigrationError(
                f"{self.operator}: what is stored cannot be converted: {type(error).__name__}: {error}"
            ) from error

    def _migrated_run(self, blob: bytes) -> bytes:
        from scurry.runtime.state.run_groups import restored

        def convert(key: Any, value: bytes) -> Entry:
            entry: Entry = self._load(value)
            self._migrate_key(key, entry)
            return entry

        return restored(blob, convert)

    def _load(self, blob: bytes) -> Any:
        try:
            return self.classes.load(blob)
        except Exception as error:
            raise StateMigrationError(f"what is stored cannot be read: {type(error).__name__}: {error}") from error

    def _migrate_key(self, key: Any, entry: Entry) -> None:
        try:
            self._migrate_entry(entry, state_name)
        except StateMigrationError as error:
            owner = original_key(owner_of(key) if is_part(key) else key)
            raise StateMigrationError(f"key {owner!r}: {error}") from error.__cause__

    def _migrate_entry(self, entry: Entry, name_of: Callable[[Any], str | None]) -> None:
        if PARTS in entry:
            self._migrate_directories(entry)
        for slot in list(entry):
            change = self.states.get(name_of(slot) or "")
            if change is None:
                continue
            try:
                after = _sessions(entry[slot], change) if slot == SESSIONS else change(entry[slot])
            except ScurryError as error:
                raise StateMigrationError(f"state {name_of(slot)!r}: {error}") from error
            except Exception as error:
                raise StateMigrationError(
                    f"state {name_of(slot)!r} cannot be converted: {type(error).__name__}: {error}"
                ) from error
            if after is None:
                del entry[slot]
            else:
                entry[slot] = after

    def _migrate_directories(self, entry: Entry) -> None:
        """Drop the directories of dropped states, and the last access to changed ones, whose values may get another."""
        directories = entry[PARTS]
        for slot in [slot for slot in directories if slot in self.states]:
            if self.states[slot] is drop:
                del directories[slot]
            elif type(directories[slot]) is list:  # of a map or list state; others have no times to live
                directories[slot][LAST_ACCESS] = None
        if not directories:
            del entry[PARTS]


def _sessions(sessions: list[Any], change: Change) -> list[Any]:
    return [[start, end, change(contents), timer] for start, end, contents, timer in sessions]


def _changes(before: str | None, after: str | None) -> str:
    """Return which parts of an operation's text have become others: its attributes, and the types of its inputs."""
    old, new = _parts_of(before or ""), _parts_of(after or "")
    pairs = [
        (old.get(name, "nothing"), new.get(name, "nothing"))
        for name in dict.fromkeys((*old, *new))
        if old.get(name) != new.get(name)
    ]
    return "; ".join(f"{one} has become {other}" for one, other in pairs) or f"{before} has become {after}"


def _parts_of(text: str) -> dict[str, str]:
    """Return the parts of `Name(attribute=[...], attribute=[...]) over (TYPES) and (TYPES)` by their names."""
    found = re.match(r"(\w+)\((.*)\) over (.*?)(, in columns.*)?$", text, re.DOTALL)
    if found is None:
        return {"": text}
    parts = {"operator": found[1], "rows": found[3], "state": "state in columns" if found[4] else "state by key"}
    depth, start = 0, 0
    for place, character in enumerate(found[2] + ","):
        depth += (character in "[({") - (character in "])}")
        if character == "," and depth == 0:
            part = found[2][start:place].strip()
            parts[part.partition("=")[0]] = part
            start = place + 1
    return parts
