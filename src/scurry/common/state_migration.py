"""Declarations of how state written by an earlier version of a program becomes state of this one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, TypeVar

from scurry._dataclasses import dataclass
from scurry.errors import ArgumentError, ArgumentTypeError

__all__ = ["StateMigration", "class_migration", "class_renamed_from", "evolves", "state_migration"]

C = TypeVar("C", bound=type)

_DECLARED = "__state_migration__"
_renamed_classes: dict[str, type] = {}


@dataclass(frozen=True)
class StateMigration:
    """Changes of a type that comparing the old type with the new one does not reveal.

    Attributes:
        renamed: Old field name -> new field name.
        defaults: Values of added fields, by name.
        renamed_from: Earlier name of the dataclass, as `module.Class`; None if it kept its name.
        convert: Old value -> new value, if the types do not determine it; else None.
        version: Increased whenever `convert` must run; with 0 it runs if the declared type has changed.
    """

    renamed: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    renamed_from: str | None = None
    convert: Callable[[Any], Any] | None = None
    version: int = 0


def state_migration(
    renamed: Mapping[str, str] | None,
    defaults: Mapping[str, Any] | None,
    renamed_from: str | None,
    convert: Callable[[Any], Any] | None = None,
    version: int = 0,
) -> StateMigration:
    """Return a checked migration.

    Raises:
        ArgumentError: Two fields are renamed to the same one, or the version is negative or has nothing to run.
        ArgumentTypeError: `convert` cannot be called.
    """
    renamed = dict(renamed or {})
    if len(set(renamed.values())) < len(renamed):
        raise ArgumentError(f"renamed takes two fields for one: {renamed!r}")
    if convert is not None and not callable(convert):
        raise ArgumentTypeError(f"convert must be a function of the old value, not {convert!r}")
    if version < 0 or (version and convert is None):
        raise ArgumentError(f"version is 1, 2, ..., and says over which state convert is to run; got {version}")
    return StateMigration(renamed, dict(defaults or {}), renamed_from, convert, version)


def evolves(
    *,
    renamed: Mapping[str, str] | None = None,
    defaults: Mapping[str, Any] | None = None,
    renamed_from: str | None = None,
) -> Callable[[C], C]:
    """Declare how a dataclass has changed, for all state that contains its instances: a decorator above `@dataclass`.

    It applies wherever instances are stored, also within other values, in windows and in joins. Fields that were only
    added (with a default), removed or reordered need no declaration.

    Args:
        renamed: Old field name -> new field name.
        defaults: Values for added fields that have no default, by name.
        renamed_from: Earlier name of the class, as `module.Class`.
    """
    declared = state_migration(renamed, defaults, renamed_from)

    def declare(cls: C) -> C:
        setattr(cls, _DECLARED, declared)
        if declared.renamed_from is not None:
            _renamed_classes[declared.renamed_from] = cls
        return cls

    return declare


def class_migration(cls: type) -> StateMigration:
    """Return the migration that `evolves` declared for exactly this class, an empty one if none."""
    declared: StateMigration = vars(cls).get(_DECLARED, StateMigration())
    return declared


def class_renamed_from(name: str) -> type | None:
    """Return the class for which `evolves` declares `name` (`module.Class`) as its earlier name."""
    return _renamed_classes.get(name)
