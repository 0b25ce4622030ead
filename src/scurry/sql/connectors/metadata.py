"""Columns of metadata, which a connector has to know."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scurry.errors import ValidationError
from scurry.errors.suggestions import did_you_mean
from scurry.sql.catalog.schema import MetadataColumn
from scurry.sql.connectors.contract import TableContext


def check_metadata(
    context: TableContext, columns: Iterable[MetadataColumn], known: Mapping[str, Any], does: str
) -> None:
    """Check that a connector has the metadata of columns.

    Args:
        does: `reads` or `writes`.

    Raises:
        ValidationError: The system has no metadata of a key.
    """
    for column in columns:
        if column.key not in known:
            raise ValidationError(
                f"Invalid metadata key '{column.key}' in column '{column.name}' of table "
                f"'{context.identifier.as_summary_string()}'. The table {does} these "
                "metadata keys:\n" + "\n".join(known)
            ).with_hint(did_you_mean(column.key, known))
