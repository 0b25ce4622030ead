"""The formats `avro` and `avro-confluent`: files of Avro, and messages in its binary encoding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scurry.common.serialization import BulkWriterFactory
from scurry.connectors.avro.codecs import CODECS
from scurry.errors import UnsupportedError, ValidationError
from scurry.sql.catalog.table_options import Options, TableOption, boolean
from scurry.sql.formats.contract import FileReader, FormatColumn, FormatFactory, chosen_columns
from scurry.sql.formats.messages import MessageDecoder, MessageEncoder

__all__ = ["AvroConfluentFormat", "AvroFormat"]

_DECLARED_SCHEMA = "The schema of messages as JSON; without, the one that the columns give."

ENCODING = TableOption("encoding", str, "binary", "The encoding: `binary`.")
CODEC = TableOption(
    "codec", str, "snappy", f"How the blocks of files are compressed: {', '.join(f'`{name}`' for name in CODECS)}."
)
LEGACY_TIMESTAMPS = TableOption(
    "timestamp_mapping.legacy", boolean, True, "Whether TIMESTAMP is `timestamp-millis`; `true`, Flink's default."
)
URL = TableOption("url", str, None, "The address of the schema registry.", required=True)
SUBJECT = TableOption("subject", str, None, "The subject under which a sink registers its schema.")
SCHEMA = TableOption("schema", str, None, _DECLARED_SCHEMA)

#: Options of the registry's client -> the properties of Confluent's clients.
_CLIENT = {
    "basic-auth.credentials-source": "basic.auth.credentials.source",
    "basic-auth.user-info": "basic.auth.user.info",
    "bearer-auth.credentials-source": "bearer.auth.credentials.source",
    "bearer-auth.token": "bearer.auth.token",
}
_CLIENT_OPTIONS = tuple(TableOption(key, str, None, f"`{name}` of the client.") for key, name in _CLIENT.items())


class AvroFormat(FormatFactory):
    """Read and write Avro's records."""

    identifier = "avro"
    options: Sequence[TableOption[Any]] = (ENCODING, LEGACY_TIMESTAMPS)
    file_options = (CODEC,)

    def check(self, options: Options) -> None:
        """Refuse the JSON encoding, unknown codecs, and other types of timestamps."""
        _check_timestamps(options)
        if options.get(CODEC) not in CODECS:
            raise ValidationError(f"Unrecognized codec: {options.get(CODEC)}. The codecs are {', '.join(CODECS)}.")
        if options.get(ENCODING) != "binary":
            raise UnsupportedError(f"'avro.encoding' = '{options.get(ENCODING)}': messages are binary here")

    def file_reader(self, declared: Sequence[FormatColumn], columns: Sequence[str], options: Options) -> FileReader:
        from scurry.sql.formats.avro.files import AvroReader

        return AvroReader(chosen_columns(declared, columns))

    def file_writer(self, declared: Sequence[FormatColumn], options: Options) -> BulkWriterFactory:
        from scurry.sql.formats.avro.files import AvroWriterFactory

        return AvroWriterFactory(tuple(declared), options.get(CODEC))

    def message_decoder(
        self, declared: Sequence[FormatColumn], columns: Sequence[str], metadata: Sequence[str], options: Options
    ) -> MessageDecoder:
        """Return a decoder of records of the schema that the columns give."""
        from scurry.sql.formats.avro.messages import AvroDecoder

        return AvroDecoder(tuple(declared), tuple(columns))

    def message_encoder(self, declared: Sequence[FormatColumn], options: Options) -> MessageEncoder:
        """Return an encoder of records of the schema that the columns give."""
        from scurry.sql.formats.avro.messages import AvroEncoder

        return AvroEncoder(tuple(declared))


class AvroConfluentFormat(FormatFactory):
    """Read and write Avro's records whose schemas are in a registry."""

    identifier = "avro-confluent"
    options: Sequence[TableOption[Any]] = (URL, SUBJECT, SCHEMA, LEGACY_TIMESTAMPS, *_CLIENT_OPTIONS)

    def check(self, options: Options) -> None:
        """Refuse other types of timestamps."""
        _check_timestamps(options)

    def check_sink(self, options: Options) -> None:
        """Require a subject."""
        if SUBJECT not in options:
            raise ValidationError(
                f"Option '{options.prefix}{SUBJECT.key}' is required for serialization: the registry keeps the schema "
                "under it"
            )

    def message_decoder(
        self, declared: Sequence[FormatColumn], columns: Sequence[str], metadata: Sequence[str], options: Options
    ) -> MessageDecoder:
        """Return a decoder of records of any registered schema."""
        from scurry.sql.formats.avro.messages import AvroDecoder

        return AvroDecoder(tuple(declared), tuple(columns), options.get(URL), _client(options), options.find(SCHEMA))

    def message_encoder(self, declared: Sequence[FormatColumn], options: Options) -> MessageEncoder:
        """Return an encoder that registers its schema."""
        from scurry.sql.formats.avro.messages import AvroEncoder

        subject = options.find(SUBJECT)
        return AvroEncoder(tuple(declared), options.get(URL), _client(options), subject or "", options.find(SCHEMA))


def _check_timestamps(options: Options) -> None:
    if not options.get(LEGACY_TIMESTAMPS):
        raise UnsupportedError(
            f"'{options.prefix}{LEGACY_TIMESTAMPS.key}' = 'false': TIMESTAMP is timestamp-millis here, as in Flink by "
            "default. Leave the option out; to keep microseconds, declare the column as BIGINT"
        )


def _client(options: Options) -> tuple[tuple[str, str], ...]:
    found = ((_CLIENT[option.key], options.find(option)) for option in _CLIENT_OPTIONS)
    return tuple((name, value) for name, value in found if value is not None)
