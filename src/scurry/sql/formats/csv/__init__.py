"""The format `csv`: text with a separator between fields."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from scurry.common.serialization import BulkWriterFactory
from scurry.connectors.files.formats.csv.schema import CsvColumn, CsvDialect
from scurry.errors import ValidationError
from scurry.sql.catalog.table_options import Options, TableOption, boolean
from scurry.sql.formats.contract import FileReader, FormatColumn, FormatFactory
from scurry.sql.formats.messages import MessageDecoder, MessageEncoder

__all__ = ["CsvFormat"]

FIELD_DELIMITER = TableOption("field-delimiter", str, ",", "The character between fields.")
DISABLE_QUOTES = TableOption("disable-quote-character", boolean, False, "Whether no character quotes fields.")
QUOTE = TableOption("quote-character", str, '"', "The character around fields.")
ALLOW_COMMENTS = TableOption("allow-comments", boolean, False, "Whether lines that begin with `#` are skipped.")
IGNORE_PARSE_ERRORS = TableOption(
    "ignore-parse-errors", boolean, False, "Whether fields that cannot be read are NULL and other lines are skipped."
)
ARRAY_DELIMITER = TableOption("array-element-delimiter", str, ";", "The text between elements of arrays and rows.")
ESCAPE = TableOption("escape-character", str, None, "The character that takes the meaning from the next one.")
NULL_LITERAL = TableOption("null-literal", str, None, "The text that means NULL.")
SCIENTIFIC_DECIMALS = TableOption(
    "write-bigdecimal-in-scientific-notation",
    boolean,
    False,
    "Whether decimals in messages are written without trailing zeros, so with an exponent; in files they are always, "
    "as in Flink.",
)


class CsvFormat(FormatFactory):
    identifier = "csv"
    options = (
        FIELD_DELIMITER,
        DISABLE_QUOTES,
        QUOTE,
        ALLOW_COMMENTS,
        IGNORE_PARSE_ERRORS,
        ARRAY_DELIMITER,
        ESCAPE,
        NULL_LITERAL,
        SCIENTIFIC_DECIMALS,
    )

    def check(self, options: Options) -> None:
        """Check the values that Flink checks."""
        if QUOTE in options and options.get(DISABLE_QUOTES):
            raise ValidationError(
                "Format cannot define a quote character and disabled quote character at the same time."
            )
        for option in (FIELD_DELIMITER, QUOTE, ESCAPE):
            value = options.find(option)
            if option in options and value is not None and len(_unescaped(value)) != 1:
                raise ValidationError(
                    f"Option '{options.prefix}{option.key}' must be a string with single character, but was: {value}"
                )

    def file_reader(self, declared: Sequence[FormatColumn], columns: Sequence[str], options: Options) -> FileReader:
        from scurry.sql.formats.csv.codec import CsvReader

        return CsvReader(_dialect(declared, options), tuple(columns))

    def file_writer(self, declared: Sequence[FormatColumn], options: Options) -> BulkWriterFactory:
        from scurry.sql.formats.csv.codec import CsvEncoder
        from scurry.sql.formats.lines import LineWriterFactory

        # Flink's writers of files do not look at the option either
        return LineWriterFactory(CsvEncoder(dataclasses.replace(_dialect(declared, options), plain_decimals=False)))

    def message_decoder(
        self, declared: Sequence[FormatColumn], columns: Sequence[str], metadata: Sequence[str], options: Options
    ) -> MessageDecoder:
        from scurry.sql.formats.csv.codec import CsvDecoder, CsvReader

        return CsvDecoder(CsvReader(_dialect(declared, options), tuple(columns)))

    def message_encoder(self, declared: Sequence[FormatColumn], options: Options) -> MessageEncoder:
        """Return an encoder of messages of one line, without its end."""
        from scurry.sql.formats.csv.codec import CsvEncoder

        return CsvEncoder(_dialect(declared, options))


def _dialect(declared: Sequence[FormatColumn], options: Options) -> CsvDialect:
    escape = options.find(ESCAPE)
    return CsvDialect(
        tuple(CsvColumn(column.name, column.type) for column in declared),
        separator=_unescaped(options.get(FIELD_DELIMITER)),
        quote=None if options.get(DISABLE_QUOTES) else _unescaped(options.get(QUOTE)),
        escape=None if escape is None else _unescaped(escape),
        null_value=options.find(NULL_LITERAL),
        array_separator=options.get(ARRAY_DELIMITER),
        allow_comments=options.get(ALLOW_COMMENTS),
        ignore_errors=options.get(IGNORE_PARSE_ERRORS),
        plain_decimals=not options.get(SCIENTIFIC_DECIMALS),
    )


def _unescaped(text: str) -> str:
    """Return the character that an escape of Java's stands for."""
    if len(text) == 2 and text[0] == "\\":
        return {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f"}.get(text[1], text[1])
    if len(text) == 6 and text.startswith("\\u"):
        return chr(int(text[2:], 16))
    return text
