"""The format `json`: a JSON object per line or message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from scurry.errors import ValidationError
from scurry.sql.catalog.table_options import Options, TableOption, boolean
from scurry.sql.formats.contract import FormatColumn, chosen_columns
from scurry.sql.formats.lines import LineFormat
from scurry.sql.formats.messages import MessageDecoder, MessageEncoder

if TYPE_CHECKING:
    from scurry.connectors.files.formats.json.reader import JsonSettings
    from scurry.connectors.files.formats.json.writer import JsonWriting

__all__ = [
    "CHANGE_OPTIONS",
    "JsonFormat",
    "check_values",
    "reading_settings",
    "writing_settings",
]

FAIL_ON_MISSING_FIELD = TableOption(
    "fail-on-missing-field", boolean, False, "Whether a missing field is an error; otherwise it is NULL."
)
IGNORE_PARSE_ERRORS = TableOption(
    "ignore-parse-errors", boolean, False, "Whether fields that cannot be read are NULL and other messages are skipped."
)
TIMESTAMP_FORMAT = TableOption(
    "timestamp-format.standard", str, "SQL", "How timestamps are written: `SQL` or `ISO-8601`."
)
MAP_NULL_KEY_MODE = TableOption(
    "map-null-key.mode", str, "FAIL", "What becomes of NULL as a key of a map: `FAIL`, `DROP` or `LITERAL`."
)
MAP_NULL_KEY_LITERAL = TableOption("map-null-key.literal", str, "null", "The key instead of NULL in mode `LITERAL`.")
PLAIN_DECIMALS = TableOption(
    "encode.decimal-as-plain-number", boolean, False, "Whether decimals are written without an exponent."
)
IGNORE_NULL_FIELDS = TableOption("encode.ignore-null-fields", boolean, False, "Whether NULL fields are left out.")
JSON_PARSER = TableOption(
    "decode.json-parser.enabled", boolean, True, "There is one decoder here.", without_effect=True
)

#: The options that formats of changes have, too.
CHANGE_OPTIONS = (
    IGNORE_PARSE_ERRORS,
    TIMESTAMP_FORMAT,
    MAP_NULL_KEY_MODE,
    MAP_NULL_KEY_LITERAL,
    PLAIN_DECIMALS,
    IGNORE_NULL_FIELDS,
)


class JsonFormat(LineFormat):
    identifier = "json"
    options = (
        FAIL_ON_MISSING_FIELD,
        IGNORE_PARSE_ERRORS,
        TIMESTAMP_FORMAT,
        MAP_NULL_KEY_MODE,
        MAP_NULL_KEY_LITERAL,
        PLAIN_DECIMALS,
        IGNORE_NULL_FIELDS,
        JSON_PARSER,
    )

    def check(self, options: Options) -> None:
        """Check the values that Flink checks."""
        if options.get(FAIL_ON_MISSING_FIELD) and options.get(IGNORE_PARSE_ERRORS):
            raise ValidationError("fail-on-missing-field and ignore-parse-errors shouldn't both be true.")
        check_values(options)

    def message_decoder(
        self, declared: Sequence[FormatColumn], columns: Sequence[str], metadata: Sequence[str], options: Options
    ) -> MessageDecoder:
        from scurry.sql.formats.json.codec import JsonDecoder

        return JsonDecoder(chosen_columns(declared, columns), reading_settings(options))

    def message_encoder(self, declared: Sequence[FormatColumn], options: Options) -> MessageEncoder:
        from scurry.sql.formats.json.codec import JsonEncoder

        return JsonEncoder(tuple(declared), writing_settings(options))


def check_values(options: Options) -> None:
    """Check the values that the formats of JSON have in common.

    Raises:
        ValidationError: A value is none of those there are.
    """
    standard = options.get(TIMESTAMP_FORMAT)
    if standard not in ("SQL", "ISO-8601"):
        raise ValidationError(
            f"Unsupported value '{standard}' for timestamp-format.standard. Supported values are [SQL, ISO-8601]."
        )
    mode = options.get(MAP_NULL_KEY_MODE)
    if mode.upper() not in ("LITERAL", "FAIL", "DROP"):
        raise ValidationError(
            f"Unsupported value '{mode}' for option map-null-key.mode. Supported values are [LITERAL, FAIL, DROP]."
        )


def reading_settings(options: Options) -> JsonSettings:
    """Return how messages are read."""
    from scurry.connectors.files.formats.json.reader import JsonSettings

    return JsonSettings(
        iso=options.get(TIMESTAMP_FORMAT) == "ISO-8601",
        ignore_errors=options.get(IGNORE_PARSE_ERRORS),
        fail_on_missing=options.get(FAIL_ON_MISSING_FIELD),
    )


def writing_settings(options: Options) -> JsonWriting:
    """Return how messages are written."""
    from scurry.connectors.files.formats.json.writer import JsonWriting

    return JsonWriting(
        iso=options.get(TIMESTAMP_FORMAT) == "ISO-8601",
        null_keys=options.get(MAP_NULL_KEY_MODE).upper(),
        null_key=options.get(MAP_NULL_KEY_LITERAL),
        plain_decimals=options.get(PLAIN_DECIMALS),
        skip_nulls=options.get(IGNORE_NULL_FIELDS),
    )
