"""Names of columns."""

from __future__ import annotations

from collections.abc import Sequence

from scurry.sql.syntax import nodes


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
