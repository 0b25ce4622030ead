"""How state written by an earlier version of a program becomes state of this one: what the program declares of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from scurry.errors import ArgumentError, ArgumentTypeError

__all__ = ["StateMigration", "class_migration", "class_renamed_from", "evolves", "state_migration"]

C = TypeVar("C", bound=type)

_DECLARED = "__state_migration__"
_renamed_classes: dict[str, type] = {}


@dataclass(frozen=True)
class StateMigration:
    """What cannot be seen by comparing the old type with the new one.

    Attributes:
        renamed: Old field name -> new field name.
        defaults: Values of fields that were added, by name.
        renamed_from: What the dataclass was called before, as `module.Class`; None if it kept its name.
        convert: Old value -> new value, where the types do not say how; None where they do.
        version: Raised whenever `convert` is to run; 0 lets it run when the declared type has changed.
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
    """Declare how a dataclass has changed, for all state its instances are in: a decorator above `@dataclass`.

    It holds wherever instances are kept, also within other values, in windows and in joins. Fields that were only added
    (with a default), removed or reordered need no declaration.

    Args:
        renamed: Old field name -> new field name.
        defaults: Values for added fields without a default of their own, by name.
        renamed_from: What the class was called before, as `module.Class`.
    """
    declared = state_migration(renamed, defaults, renamed_from)

    def declare(cls: C) -> C:
        setattr(cls, _DECLARED, declared)
        if declared.renamed_from is not None:
            _renamed_classes[declared.renamed_from] = cls
        return cls

    return declare


def class_migration(cls: type) -> StateMigration:
    """Return what `evolves` has declared of this very class, an empty migration if nothing."""
    declared: StateMigration = vars(cls).get(_DECLARED, StateMigration())
    return declared


def class_renamed_from(name: str) -> type | None:
    """Return the class that `evolves` says was once called `name` (`module.Class`)."""
    return _renamed_classes.get(name)
