"""The changes of a class since instances of it were stored."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from scurry.common.state_migration import StateMigration, class_migration
from scurry.runtime.state.evolution.classes import ClassChange, ClassLayout, Source, find_class
from scurry.runtime.state.evolution.values import Incompatible, Rules, field_sources
from scurry.runtime.state.types import class_ref, text


def class_change(
    ref: str,
    new_ref: str,
    before: ClassLayout | None,
    declared: Mapping[str, StateMigration],
    renamed: dict[str, str],
    notes: list[str],
) -> ClassChange | None:
    """Return how to convert stored instances of a class.

    Args:
        ref: The class, as the state refers to it.
        new_ref: The same class, by its current name.
        before: The layout its instances were stored with, None if it was no dataclass.
        declared: The migrations that descriptors declare for classes, by reference.
        renamed: All renamed classes: old reference -> new one.
        notes: Takes what becomes of fields that the program says nothing about, as text.

    Returns:
        None if instances can be read as they are; otherwise a change, with a reason if they cannot be converted.
    """
    name, target = text(["CLASS", ref]), find_class(new_ref)
    if not isinstance(target, type):
        return _lost(
            ref,
            before,
            (
                f"there are instances of class {name}, which the program does not have\n  hint: if it has another name "
                f"now, declare it: @evolves(renamed_from={name!r}) on the class, or with_migration(renamed_from=...)"
            ),
        )
    now = ClassLayout.of(target)
    same = None if new_ref == ref else ClassChange(ref, target, None, {})
    if before is None or now is None or "custom" in (before.storage, now.storage):
        if before is not None and before.storage == "positions":
            return _lost(ref, before, f"class {name} was a frozen dataclass with slots; it no longer is")
        return same
    try:
        rules = Rules(_migration_of(target, declared), renamed, annotations=True, notes=notes)
        sources = _sources(target, before, now, rules)
    except Incompatible as error:
        return _lost(
            ref,
            before,
            (
                f"class {name} has changed: {error}\n  hint: declare what became of its fields: "
                "@evolves(renamed={...}, defaults={...}) on the class, or with_migration(...) on the descriptor"
            ),
        )
    return same if _reads_the_same(before, now, sources) else ClassChange(ref, target, before, sources)


def _lost(ref: str, before: ClassLayout | None, reason: str) -> ClassChange:
    return ClassChange(ref, None, before, {}, reason)


def _reads_the_same(before: ClassLayout, now: ClassLayout, sources: dict[str, Source]) -> bool:
    if before.storage != now.storage or before.fields.keys() != now.fields.keys():
        return False
    if now.storage == "positions" and list(before.fields) != list(now.fields):
        return False
    return all(source == name and convert is None for name, (source, convert, _) in sources.items())


def _migration_of(cls: type, declared: Mapping[str, StateMigration]) -> StateMigration:
    """Return the migration declared for a class, by the class itself and by a descriptor."""
    own, described = class_migration(cls), declared.get(class_ref(cls), StateMigration())
    return StateMigration({**own.renamed, **described.renamed}, {**own.defaults, **described.defaults})


def _sources(cls: type, before: ClassLayout, now: ClassLayout, rules: Rules) -> dict[str, Source]:
    """Return where each field of a dataclass has its value from.

    Raises:
        Incompatible: A field changed its type, or was added without a default.
    """
    fields = {each.name: each for each in dataclasses.fields(cls)}
    sources = {}
    for name, (source, change) in field_sources(before.fields, now.fields, rules, cls.__qualname__).items():
        make = _default(fields[name], rules.migration) if source is None else None
        if source is None and make is None:
            raise Incompatible(f"field {name!r} was added, and has no default")
        sources[name] = (source, change, make)
    return sources


def _default(of: dataclasses.Field[Any], migration: StateMigration) -> Callable[[], Any] | None:
    """Return a function that makes the value of an added field."""
    if of.name in migration.defaults:
        value = migration.defaults[of.name]
        return lambda: copy.deepcopy(value)
    if of.default_factory is not dataclasses.MISSING:
        return of.default_factory
    default = of.default
    return None if default is dataclasses.MISSING else lambda: default
