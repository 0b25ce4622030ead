"""Names of tables by regular expressions, as the options of Flink CDC have them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scurry.common._java_regex.patterns import compiled
from scurry.connectors.cdc.capture import TableId
from scurry.errors import SourceNotFoundError
from scurry.errors.suggestions import similar_name


def chosen(names: Iterable[TableId], pattern: str) -> list[TableId]:
    """Return the tables whose path a regular expression of Java matches, in any case, in a fixed order."""
    wanted = compiled(f"(?i)(?:{pattern})")
    return sorted(name for name in names if wanted.fullmatch(name.path))


def no_tables(names: Sequence[TableId], where: str, options: str, wanted: str) -> SourceNotFoundError:
    """Return the error for a pattern that matches nothing.

    Args:
        names: The tables that are there.
        where: The database, for the message.
        options: The options that choose tables, with their values.
        wanted: The pattern.
    """
    error = SourceNotFoundError(f"Can't find any matched tables in {where}, please check your configured {options}")
    paths = sorted(name.path for name in names)
    near = similar_name(wanted.replace("\\", ""), paths)
    listed = f"there are {', '.join(paths[:8])}{', ...' if len(paths) > 8 else ''}"
    return error.with_hint(f"did you mean {near}?" if near else listed if paths else "there are no tables to see")
