"""Names of tables: patterns that select them, and routes that say where they go."""

from __future__ import annotations

import re
from collections.abc import Sequence

from scurry._dataclasses import dataclass
from scurry.common._java_regex.patterns import compiled
from scurry.connectors.cdc.capture import TableId
from scurry.errors import ScurryError

_DOT = re.compile(r"(?<!\\)\.")
_GROUP = re.compile(r"\$(\d)")


def parts_of(table: TableId) -> tuple[str, ...]:
    """Return database, schema and name, without the schema where databases have none."""
    return tuple(part for part in table if part)


@dataclass(frozen=True)
class TableSelector:
    """Patterns of names, as Flink CDC has them: a dot parts names, and a dot with a backslash is one of the pattern.

    Attributes:
        text: Patterns with commas between them.
    """

    text: str

    def patterns(self) -> list[tuple[str, ...]]:
        """Return the regular expressions of the parts of each name.

        Raises:
            ScurryError: A pattern is none.
        """
        found = []
        for each in self.text.split(","):
            parts = tuple(part.replace("\\.", ".") for part in _DOT.split(each.strip()))
            for part in parts:
                compiled(part)
            found.append(parts)
        return found

    def match(self, table: TableId) -> re.Match[str] | None:
        """Return the match of the first pattern that a name has; patterns may leave out the first parts of names."""
        names = parts_of(table)
        for parts in self.patterns():
            if len(parts) > len(names):
                continue
            wanted = compiled(r"\.".join(f"(?:{part})" for part in parts))
            found: re.Match[str] | None = wanted.fullmatch(".".join(names[-len(parts) :]))
            if found is not None:
                return found
        return None

    def expression(self, count: int) -> str:
        """Return one regular expression for the last parts of names, so many of them."""
        listed = (parts[-count:] for parts in self.patterns())
        return "|".join(r"\.".join(f"(?:{part})" for part in parts) for parts in listed)


@dataclass(frozen=True)
class Route:
    """A rule of where tables go.

    Attributes:
        source: The tables.
        sink: The name of the table in the sink; `$1` is the first group of the pattern.
        symbol: What stands for the name of the table in `sink`; empty for nothing.
    """

    source: TableSelector
    sink: str
    symbol: str = ""

    def target(self, table: TableId) -> str | None:
        """Return where a table goes, None if the rule is not about it."""
        found = self.source.match(table)
        if found is None:
            return None
        name = self.sink.replace(self.symbol, table.name) if self.symbol else self.sink
        return _GROUP.sub(lambda group: found[int(group[1])] or "", name)


def targets(routes: Sequence[Route], table: TableId) -> list[str]:
    """Return where a table goes: by all routes about it, by its own name without one."""
    found = [name for route in routes if (name := route.target(table)) is not None]
    return found or [table.path]


def checked_selector(text: str) -> TableSelector:
    """Return a selector after checking its patterns.

    Raises:
        ValueError: One is no regular expression, or empty.
    """
    selector = TableSelector(text)
    try:
        patterns = selector.patterns()
    except (ScurryError, re.error) as error:
        raise ValueError(f"{text!r} has no regular expression of Java: {error}") from None
    if any(not part for parts in patterns for part in parts):
        raise ValueError(f"{text!r} has an empty name; '\\.' is a dot of a regular expression, '.' parts names")
    return selector
