"""TableDescriptor: a table that a program describes, like CREATE TABLE."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scurry.common._api import ApiObject
from scurry.common._types import java_text
from scurry.errors import ArgumentError
from scurry.sql.catalog.identifier import escape_identifier, escape_text
from scurry.table.schema import Schema

__all__ = ["FormatDescriptor", "TableDescriptor"]


class FormatDescriptor(ApiObject):
    """A format and its options."""

    def __init__(self, format: str, options: Mapping[str, str]) -> None:
        self._format = format
        self._options = java_text.in_hash_map_order(options)

    @staticmethod
    def for_format(format: str) -> FormatDescriptor.Builder:
        """Return a builder.

        Args:
            format: Name of the format, such as `json`.
        """
        return FormatDescriptor.Builder(format)

    def get_format(self) -> str:
        """Return the name."""
        return self._format

    def get_options(self) -> dict[str, str]:
        """Return the options, without the prefix."""
        return dict(self._options)

    def __str__(self) -> str:
        """Return name and options."""
        options = ", ".join(f"{key}={value}" for key, value in self._options.items())
        return f"{self._format}[{{{options}}}]"

    def __eq__(self, other: object) -> bool:
        """Compare name and options."""
        return isinstance(other, FormatDescriptor) and (self._format, self._options) == (other._format, other._options)

    def __hash__(self) -> int:
        """Hash name and options."""
        return hash((self._format, frozenset(self._options.items())))

    class Builder(ApiObject):
        """Builds a description of a format."""

        def __init__(self, format: str) -> None:
            self._format = format
            self._options: dict[str, str] = {}

        def option(self, key: Any, value: Any) -> FormatDescriptor.Builder:
            """Set an option.

            Args:
                key: Its name without the prefix.
                value: Its value.
            """
            self._options[_key_of(key)] = _text_of(value)
            return self

        def build(self) -> FormatDescriptor:
            """Return the description."""
            return FormatDescriptor(self._format, self._options)


class TableDescriptor(ApiObject):
    """A table that a program describes."""

    def __init__(
        self, schema: Schema | None, options: Mapping[str, str], partition_keys: Sequence[str], comment: str | None
    ) -> None:
        self._schema = schema
        self._options = java_text.in_hash_map_order(options)
        self._partition_keys = tuple(partition_keys)
        self._comment = comment

    @staticmethod
    def for_connector(connector: str) -> TableDescriptor.Builder:
        """Return a builder.

        Args:
            connector: Name of the connector, such as `filesystem`.
        """
        return TableDescriptor.Builder(connector)

    def get_schema(self) -> Schema | None:
        """Return the columns."""
        return self._schema

    def get_options(self) -> dict[str, str]:
        """Return the options."""
        return dict(self._options)

    def get_partition_keys(self) -> list[str]:
        """Return the partition columns."""
        return list(self._partition_keys)

    def get_comment(self) -> str | None:
        """Return the description."""
        return self._comment

    def __str__(self) -> str:
        """Return the table like a CREATE TABLE."""
        lines = [str(self._schema) if self._schema is not None else ""]
        if self._comment is not None:
            lines.append(f"COMMENT '{self._comment}'")
        if self._partition_keys:
            lines.append(f"PARTITIONED BY ({', '.join(map(escape_identifier, self._partition_keys))})")
        options = ",\n".join(f"  {escape_text(k)} = {escape_text(v)}" for k, v in self._options.items())
        return "\n".join([*lines, f"WITH (\n{options}\n)"])

    def __eq__(self, other: object) -> bool:
        """Compare all parts."""
        return isinstance(other, TableDescriptor) and self._parts() == other._parts()

    def __hash__(self) -> int:
        """Hash columns, options and partition columns."""
        return hash((self._schema, frozenset(self._options.items()), self._partition_keys))

    def _parts(self) -> tuple[Any, ...]:
        return (self._schema, self._options, self._partition_keys, self._comment)

    class Builder(ApiObject):
        """Builds a description of a table."""

        def __init__(self, connector: str) -> None:
            self._schema: Schema | None = None
            self._options = {"connector": connector}
            self._partition_keys: tuple[str, ...] = ()
            self._comment: str | None = None

        def schema(self, schema: Schema) -> TableDescriptor.Builder:
            """Set the columns."""
            self._schema = schema
            return self

        def option(self, key: Any, value: Any) -> TableDescriptor.Builder:
            """Set an option.

            Args:
                key: Its name.
                value: Its value.
            """
            self._options[_key_of(key)] = _text_of(value)
            return self

        def format(self, format: str | FormatDescriptor, format_option: Any = None) -> TableDescriptor.Builder:
            """Set the format.

            Args:
                format: Its name, or its description.
                format_option: The option that names it; `format` if it is None.

            Raises:
                ArgumentError: No format is named by such an option.
            """
            key = "format" if format_option is None else _key_of(format_option)
            if key != "format" and not key.endswith(".format"):
                raise ArgumentError(
                    "Format identifier key should be 'format' or suffix with '.format', "
                    f"don't support format identifier key '{key}'."
                )
            if isinstance(format, str):
                self._options[key] = format
                return self
            self._options[key] = format.get_format()
            prefix = key.removesuffix("format") + format.get_format()
            self._options |= {f"{prefix}.{name}": value for name, value in format.get_options().items()}
            return self

        def partitioned_by(self, *partition_keys: str) -> TableDescriptor.Builder:
            """Set the partition columns."""
            self._partition_keys = partition_keys
            return self

        def comment(self, comment: str) -> TableDescriptor.Builder:
            """Describe the table.

            Args:
                comment: The description.
            """
            self._comment = comment
            return self

        def build(self) -> TableDescriptor:
            """Return the description."""
            return TableDescriptor(self._schema, self._options, self._partition_keys, self._comment)


def _key_of(key: Any) -> str:
    found = key if isinstance(key, str) else getattr(key, "key", None)
    if not isinstance(found, str):
        raise ArgumentError(f"the name of an option is a text or a ConfigOption, got {key!r}")
    return found


def _text_of(value: Any) -> str:
    if value is None:
        raise ArgumentError("Value must not be null.")
    return str(value).lower() if isinstance(value, bool) else str(value)
