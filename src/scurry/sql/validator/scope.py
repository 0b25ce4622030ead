"""Scopes: names of columns, and their resolution."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field

from scurry._dataclasses import dataclass
from scurry.errors.suggestions import did_you_mean
from scurry.sql.plan.calls import field as field_of
from scurry.sql.plan.expressions import Expression, InputReference
from scurry.sql.plan.rewriting import correlated
from scurry.sql.plan.schema import Schema
from scurry.sql.syntax import nodes
from scurry.sql.syntax.nodes import Identifier
from scurry.sql.syntax.span import Span
from scurry.sql.types import RowType
from scurry.sql.validator.failures import invalid


def column_name(expression: nodes.Expression, alias: nodes.Identifier | None, place: int) -> str:
    """Return the name of a column of SELECT: its alias, the name it selects, or EXPR$ and its number."""
    if alias is not None:
        return alias.last
    if isinstance(expression, nodes.Identifier):
        return expression.last
    if isinstance(expression, nodes.ContextVariable):
        return expression.name
    return f"EXPR${place}"


def unique_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return names of which none occurs twice: a number follows the later ones."""
    used: set[str] = set()
    unique = []
    for name in names:
        candidate, number = name, 0
        while candidate in used:
            candidate, number = f"{name}{number}", number + 1
        used.add(candidate)
        unique.append(candidate)
    return tuple(unique)


#: Maximum names in a hint.
_MOST_NAMES = 12
_correlations = itertools.count(1)


@dataclass(frozen=True)
class Relation:
    """A table of FROM, as a stretch of the row that FROM produces.

    Attributes:
        name: The name that qualifies its columns; None if it has none.
        path: Catalog, database and name of a table of the catalog, which may qualify them, too.
        offset: Position of its first column.
        width: Number of its columns.
    """

    name: str | None
    path: tuple[str, ...]
    offset: int
    width: int

    def shifted(self, by: int) -> Relation:
        """Return the same table at another position."""
        return Relation(self.name, self.path, self.offset + by, self.width)


@dataclass
class Found:
    """A name's first parts, resolved.

    Attributes:
        parts: How many parts of the name are the column; the others are fields of it.
    """

    expression: Expression
    parts: int


#: The position of a column, or the name and the value of one that USING or NATURAL has merged.
Shown = int | tuple[str, Expression]


@dataclass
class Scope:
    """The columns that names may mean at one place of a query.

    Attributes:
        relations: The tables they belong to.
        shown: What `*` stands for, where USING or NATURAL has merged columns.
        outer: The scope of the query around this one.
        correlation: The number by which inner queries name the row of this scope.
        correlated: Whether they do.
    """

    schema: Schema
    relations: tuple[Relation, ...]
    shown: tuple[Shown, ...] | None = None
    outer: Scope | None = None
    correlation: int = field(default_factory=lambda: next(_correlations))
    correlated: bool = False

    def resolve(self, identifier: Identifier) -> Found:
        """Return the column that a name means, here or in a query around this one.

        Raises:
            ValidationError: The column does not exist, or several have the name.
        """
        scopes = list(self._with_outer())
        # As in Flink, a table of a query around this one goes before a column of this one that has the table's name.
        naming = [each for each in scopes if each._names_table(identifier)]
        for scope in (*naming, *scopes):
            found = scope.find(identifier)
            if found is not None and scope is not self:
                scope.correlated = True
                return Found(correlated(found.expression, scope.correlation), found.parts)
            if found is not None:
                return found
        raise self._not_found(identifier)

    def find(self, identifier: Identifier) -> Found | None:
        """Return the column that a name means in this scope; None if no part of it is known here."""
        names = identifier.names
        if len(names) == 1:
            return self._column(identifier)
        for parts in _qualifiers(identifier):
            relation = self._relation(names[:parts])
            if relation is not None:
                return Found(self._column_of(relation, identifier, parts), parts + 1)
        return self._column(identifier)

    def relation(self, names: tuple[str, ...]) -> tuple[Scope, Relation] | None:
        """Return the table that a qualifier names, with the scope it is in."""
        for scope in self._with_outer():
            relation = scope._relation(names)
            if relation is not None:
                return scope, relation
        return None

    def reference(self, index: int, span: Span | None = None) -> Expression:
        """Return the column at a position."""
        return InputReference(index, self.schema[index].type)

    def names_of(self, relation: Relation) -> tuple[str, ...]:
        """Return the names of a table's columns."""
        return self.schema.names[relation.offset : relation.offset + relation.width]

    def _with_outer(self) -> Iterator[Scope]:
        """Return this scope, then those of the queries around it from inside out."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.outer

    def _names_table(self, identifier: Identifier) -> bool:
        """Return whether the first parts of a name are a table of this scope."""
        return any(self._relation(identifier.names[:parts]) is not None for parts in _qualifiers(identifier))

    def _relation(self, names: tuple[str, ...]) -> Relation | None:
        for relation in self.relations:
            if (len(names) == 1 and relation.name == names[0]) or (
                len(names) > 1 and relation.path and relation.path[-len(names) :] == names
            ):
                return relation
        return None

    def _column(self, identifier: Identifier) -> Found | None:
        name = identifier.names[0]
        for each in self.shown or ():
            if not isinstance(each, int) and each[0] == name:
                return Found(each[1], 1)
        found = [index for index, each in enumerate(self.schema.names) if each == name and self._is_visible(index)]
        if len(found) > 1:
            raise invalid(_part_span(identifier, 0, 1), f"Column '{name}' is ambiguous")
        if found:
            return Found(self.reference(found[0]), 1)
        inside = self._fields([each for each in range(len(self.schema)) if self._is_visible(each)], name)
        if len(inside) > 1:
            raise invalid(_part_span(identifier, 0, 1), f"Column '{name}' is ambiguous")
        return Found(inside[0], 1) if inside else None

    def _fields(self, columns: Iterable[int], name: str) -> list[Expression]:
        """Return the fields of a name in columns that are rows: they are found without the name of their column."""
        references = [self.reference(index) for index in columns]
        return [
            field_of(each, name) for each in references if isinstance(each.type, RowType) and name in each.type.names
        ]

    def _is_visible(self, index: int) -> bool:
        return any(each.offset <= index < each.offset + each.width for each in self.relations)

    def _column_of(self, relation: Relation, identifier: Identifier, parts: int) -> Expression:
        name = identifier.names[parts]
        columns = self.names_of(relation)
        if name in columns:
            return self.reference(relation.offset + columns.index(name))
        inside = self._fields(range(relation.offset, relation.offset + relation.width), name)
        if len(inside) == 1:
            return inside[0]
        table = ".".join(identifier.names[:parts])
        message = f"Column '{name}' not found in table '{table}'" + _other_case(name, columns)
        raise invalid(_part_span(identifier, parts, parts + 1), message).with_hint(_similar(name, columns))

    def no_field(self, identifier: Identifier, found: Found, is_row: bool) -> Exception:
        """Return the error for a name whose first parts are a column that has no such field.

        Args:
            is_row: Whether it has fields at all.
        """
        names = identifier.names
        if found.parts > 1:
            table, column = ".".join(names[: found.parts - 1]), ".".join(names[found.parts - 1 :])
            span = _part_span(identifier, found.parts - 1, len(names))
            return invalid(span, f"Column '{column}' not found in table '{table}'")
        if not is_row:
            return invalid(_part_span(identifier, 0, len(names) - 1), f"Table '{'.'.join(names[:-1])}' not found")
        table = self._table_of(names[0])
        return invalid(identifier.span, f"Column '{'.'.join(names)}' not found in table '{table}'")

    def _table_of(self, column: str) -> str:
        for relation in self.relations:
            if relation.name and column in self.names_of(relation):
                return relation.name
        return self.outer._table_of(column) if self.outer else ""

    def _not_found(self, identifier: Identifier) -> Exception:
        names = identifier.names
        if len(names) == 1:
            span = _part_span(identifier, 0, 1)
            message = f"Column '{names[0]}' not found in any table" + self._other_case(names[0])
            return invalid(span, message).with_hint(_similar(names[0], self._all_columns()))
        qualifier = ".".join(names[:-1])
        known = self._all_relations()
        message = f"Table '{qualifier}' not found" + _other_case(qualifier, known)
        return invalid(_part_span(identifier, 0, len(names) - 1), message).with_hint(_similar(qualifier, known))

    def _all_relations(self) -> list[str]:
        own = [each.name for each in self.relations if each.name]
        return own + (self.outer._all_relations() if self.outer else [])

    def _all_columns(self) -> list[str]:
        return [*self.schema.names, *(self.outer._all_columns() if self.outer else [])]

    def _other_case(self, name: str) -> str:
        return _other_case(name, self.schema.names) or (self.outer._other_case(name) if self.outer else "")


def _qualifiers(identifier: Identifier) -> Iterable[int]:
    """Return how many parts of a name may be its table, the most first."""
    return range(min(len(identifier.names) - 1, 3), 0, -1)


def _part_span(identifier: Identifier, first: int, last: int) -> Span:
    if not identifier.part_spans:
        return identifier.span
    return identifier.part_spans[first].to(identifier.part_spans[last - 1])


def _similar(name: str, known: Sequence[str]) -> str:
    """Return a hint at the name that is meant, unless the message names it; without one, all names."""
    if _other_case(name, known):
        return ""
    named = list(dict.fromkeys(each for each in known if not each.startswith("EXPR$")))[:_MOST_NAMES]
    return did_you_mean(name, named) or (f"there are {', '.join(named)}" if named else "")


def _other_case(name: str, known: Iterable[str]) -> str:
    """Return the end of Flink's message: the name in other upper and lower case."""
    similar = next((each for each in known if each.lower() == name.lower()), None)
    return f"; did you mean '{similar}'?" if similar is not None else ""
