"""Tables by regular expressions of their names, as the options of Flink CDC have them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scurry.common._java_regex.patterns import compiled
from scurry.connectors.cdc.capture import CapturedTable, TableId
from scurry.errors import SourceNotFoundError, ValidationError
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


def captured_table(
    name: TableId, columns: tuple[str, ...], types: tuple[str, ...], key: tuple[str, ...], chunk_key: str | None
) -> CapturedTable:
    """Return a table that is read in chunks by a column, by default the first one of its primary key.

    Args:
        name: Its name.
        columns: Its columns.
        types: Their types.
        key: Those of its primary key.
        chunk_key: The column that the settings name, None if they name none.

    Raises:
        ValidationError: The table does not have this column.
    """
    if chunk_key is not None and chunk_key not in columns:
        raise ValidationError(
            f"Chunk key column '{chunk_key}' doesn't exist in the columns [{', '.join(columns)}] of the table "
            f"{name.path}"
        ).with_hint("'scan.incremental.snapshot.chunk.key-column' names a column of the table")
    return CapturedTable(name, columns, types, key, chunk_key or (key[0] if key else None))
