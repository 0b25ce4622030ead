"""Conversion of values of one type to another: Flink's rules for POJOs and Avro records, for rows and dataclasses.

Fields are matched by name: added fields take their default, removed fields are dropped, and order does not matter.
Numbers may widen. Everything else is incompatible, unless the program declares a conversion.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import field
from typing import Any

from scurry._dataclasses import dataclass
from scurry.common.state_migration import StateMigration
from scurry.common.types import Row
from scurry.errors import TypeMismatchError
from scurry.runtime.state.types import ANY, SEQUENCES, TypeJson, annotation_text, arguments, declared_type, head, text

#: Makes a new value of an old one; None means that nothing changes.
Change = Callable[[Any], Any]

_NUMBERS = ("BYTE", "SHORT", "INT", "LONG", "BIG_INT", "FLOAT", "DOUBLE", "BIG_DEC")
#: The types that each type may become without losing more than a float's precision.
_WIDER = {name: _NUMBERS[at + 1 :] for at, name in enumerate(_NUMBERS)} | {"CHAR": ("STRING",)}
_SAME_IN_PYTHON = ("SHORT", "INT", "LONG", "BIG_INT", "STRING")
_NO_MIGRATION = StateMigration()


class Incompatible(Exception):
    """A type that cannot become another: the reason, and where within the type."""

    def __init__(self, reason: str, path: str = "") -> None:
        super().__init__(reason, path)
        self.reason, self.path = reason, path

    def inside(self, path: str) -> Incompatible:
        """Return the same error, seen from the enclosing type."""
        return Incompatible(self.reason, f"{path}, {self.path}" if self.path else path)

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}" if self.path else self.reason


@dataclass(frozen=True)
class Rules:
    """The rules of a conversion beyond the two types.

    Attributes:
        migration: What the program declares about the row at the top.
        renamed: Renamed classes: old reference -> new one.
        annotations: Whether the types are annotations, which are not enforced, instead of declared types.
        notes: Takes what becomes of fields that the program says nothing about, as text.
    """

    migration: StateMigration = _NO_MIGRATION
    renamed: dict[str, str] = field(default_factory=dict)
    annotations: bool = False
    notes: list[str] = field(default_factory=list)


def evolve(before: TypeJson, after: TypeJson, rules: Rules) -> Change | None:
    """Return the conversion of values of one type to another, None if they can stay as they are.

    Raises:
        Incompatible: There is no conversion.
    """
    if before == after or head(after) == ANY:
        return None
    old, new = head(before), head(after)
    if old == ANY:
        return None if rules.annotations else declared_type(after).converter()
    if old == "OPTIONAL" or new == "OPTIONAL":
        return _optional(before, after, rules)
    if "PYTHON" in (old, new):
        if old == new:
            return None
        raise _incompatible(before, after, rules)
    if new in _WIDER.get(old, ()):
        return None if new in _SAME_IN_PYTHON or (old, new) == ("FLOAT", "DOUBLE") else declared_type(after).converter()
    compound = _COMPOUND.get(new)
    if compound is None or old != new:
        raise _incompatible(before, after, rules)
    return compound(before, after, rules)


def _incompatible(before: TypeJson, after: TypeJson, rules: Rules) -> Incompatible:
    show = annotation_text if rules.annotations else text
    return Incompatible(f"{show(before)} cannot become {show(after)}")


def _nested(before: TypeJson, after: TypeJson, rules: Rules, path: str) -> Change | None:
    """Return the change of a part, which may be None in most types."""
    try:
        change = evolve(before, after, Rules(_NO_MIGRATION, rules.renamed, rules.annotations, rules.notes))
    except Incompatible as error:
        raise error.inside(path) from None
    if head(before) == "OPTIONAL":
        return change
    return None if change is None else lambda value: None if value is None else change(value)


def _optional(before: TypeJson, after: TypeJson, rules: Rules) -> Change | None:
    inner = [arguments(each)[0] if head(each) == "OPTIONAL" else each for each in (before, after)]
    change = evolve(inner[0], inner[1], rules)
    if head(after) == "OPTIONAL":
        return None if change is None else lambda value: None if value is None else change(value)
    return lambda value: _present(value) if change is None else change(_present(value))


def _present(value: Any) -> Any:
    if value is None:
        raise ValueError("it is None, which the type no longer admits")
    return value


def _class(before: TypeJson, after: TypeJson, rules: Rules) -> Change | None:
    old, new = before[1], after[1]
    if rules.renamed.get(old) == new:
        return None
    name = text(before)
    raise Incompatible(f"{name} is not {text(after)}; if it is by another name, declare renamed_from={name!r}")


def _sequence(before: TypeJson, after: TypeJson, rules: Rules) -> Change | None:
    change = _nested(before[1], after[1], rules, "elements")
    if change is not None:
        return lambda values: [change(value) for value in values]
    was_bytes = before == ["PRIMITIVE_ARRAY", "BYTE"]
    return list if was_bytes else None


def _map(before: TypeJson, after: TypeJson, rules: Rules) -> Change | None:
    if _nested(before[1], after[1], rules, "keys") is not None:
        raise Incompatible(f"keys stay as they are, {text(before[1])} cannot become {text(after[1])}")
    change = _nested(before[2], after[2], rules, "values")
    return None if change is None else lambda values: {key: change(value) for key, value in values.items()}


def _tuple(before: TypeJson, after: TypeJson, rules: Rules) -> Change | None:
    old, new = arguments(before), arguments(after)
    if len(old) != len(new):
        raise Incompatible(f"a tuple of {len(old)} cannot become one of {len(new)}: tuples do not evolve")
    changes = [_nested(a, b, rules, f"field {at}") for at, (a, b) in enumerate(zip(old, new, strict=True))]
    if not any(changes):
        return None
    return lambda values: tuple([c(v) if c is not None else v for c, v in zip(changes, values, strict=True)])


def _row(before: TypeJson, after: TypeJson, rules: Rules) -> Change | None:
    old, new = dict(arguments(before)), dict(arguments(after))
    sources = field_sources(old, new, rules, "the row type")
    positions = {name: at for at, name in enumerate(old)}
    steps: list[tuple[int | None, Change | None, Any]] = []
    for name, (source, change) in sources.items():
        default = None
        if source is None and (default := rules.migration.defaults.get(name)) is not None:
            default = _checked_default(name, default, new[name])
        steps.append((None if source is None else positions[source], change, default))
    names = tuple(new)

    def convert(row: Row) -> Row:
        values = row._values
        return Row._from_values(
            [
                copy.deepcopy(default) if at is None else values[at] if change is None else change(values[at])
                for at, change, default in steps
            ],
            names,
            row._row_kind,
        )

    return convert


def _checked_default(name: str, default: Any, declared: TypeJson) -> Any:
    convert = declared_type(declared).converter()
    try:
        return default if convert is None else convert(default)
    except TypeMismatchError as error:
        raise Incompatible(f"the default of field {name!r} does not fit: {error}") from None


def field_sources(
    old: dict[str, TypeJson], new: dict[str, TypeJson], rules: Rules, of: str
) -> dict[str, tuple[str | None, Change | None]]:
    """Map each new field to the old field of its value, None for an added one, and the change of the value.

    Raises:
        Incompatible: A field changed its type, or the declared migration names no field.
    """
    for name in (*rules.migration.renamed.values(), *rules.migration.defaults):
        if name not in new:
            raise Incompatible(f"the migration names a field {name!r}, and {of} has {', '.join(new) or 'none'}")
    # a rename may have been applied to this state before: ignore it then
    renamed = rules.migration.renamed.items()
    came_from = {after: before for before, after in renamed if before in old and after not in old}
    sources: dict[str, tuple[str | None, Change | None]] = {}
    for name, declared in new.items():
        source = came_from.get(name, name if name in old and name not in came_from.values() else None)
        path = f"field {name!r}" if source in (name, None) else f"field {name!r} (was {source!r})"
        sources[name] = (source, None if source is None else _nested(old[source], declared, rules, path))
    dropped = old.keys() - {source for source, _ in sources.values()}
    added = [name for name, (source, _) in sources.items() if source is None and name not in rules.migration.defaults]
    _note(rules, [name for name in old if name in dropped], added)
    return sources


def _note(rules: Rules, dropped: list[str], added: list[str]) -> None:
    value = "with their defaults" if rules.annotations else "as None"
    parts = [f"{', '.join(dropped)} dropped"] if dropped else []
    parts += [f"{', '.join(added)} added {value}"] if added else []
    if parts:
        advice = "; if one was renamed, declare it: with_migration(renamed={...})" if len(parts) == 2 else ""
        rules.notes.append(f"field{'s' * (len(dropped + added) > 1)} {'; '.join(parts)}{advice}")


_COMPOUND: dict[str, Callable[[TypeJson, TypeJson, Rules], Change | None]] = {
    **dict.fromkeys(SEQUENCES, _sequence),
    "MAP": _map,
    "TUPLE": _tuple,
    "ROW": _row,
    "CLASS": _class,
}
