"""CsvSettings: the syntax of CSV text."""

from __future__ import annotations

from dataclasses import dataclass

from scurry.connectors.files.formats.csv.schema import CsvDialect


@dataclass(frozen=True)
class CsvSettings:
    """The syntax of CSV text.

    Attributes:
        separator: Character between fields.
        quote: Character around fields, None if there is none.
        escape: Character that takes the meaning from the next one, None if there is none.
        null_literal: Text that means NULL, None if there is none.
        array_separator: Text between elements of arrays and rows.
        allow_comments: Whether lines that begin with `#` are skipped.
        ignore_errors: Whether what cannot be read is NULL or skipped.
        plain_decimals: Whether decimals are written without an exponent.
    """

    separator: str = ","
    quote: str | None = '"'
    escape: str | None = None
    null_literal: str | None = None
    array_separator: str = ";"
    allow_comments: bool = False
    ignore_errors: bool = False
    plain_decimals: bool = False

    @property
    def dialect(self) -> CsvDialect:
        """The same as the streams' reader and writer take it."""
        return CsvDialect(
            separator=self.separator,
            quote=self.quote,
            escape=self.escape,
            null_value=self.null_literal,
            array_separator=self.array_separator,
            allow_comments=self.allow_comments,
        )
