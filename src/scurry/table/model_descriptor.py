"""ModelDescriptor: a model that a program describes, like CREATE MODEL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scurry.common._api import ApiObject
from scurry.common._types import java_text
from scurry.common.redaction import redacted
from scurry.sql.catalog.identifier import escape_text
from scurry.table.schema import Schema
from scurry.table.table_descriptor import _key_of, _text_of

__all__ = ["ModelDescriptor"]


class ModelDescriptor(ApiObject):
    """A model that a program describes: its input and output columns, and its provider."""

    def __init__(
        self,
        input_schema: Schema | None,
        output_schema: Schema | None,
        options: Mapping[str, str],
        comment: str | None,
    ) -> None:
        self._input_schema = input_schema
        self._output_schema = output_schema
        self._options = java_text.in_hash_map_order(options)
        self._comment = comment

    @staticmethod
    def for_provider(provider: str) -> ModelDescriptor.Builder:
        """Return a builder.

        Args:
            provider: Name of the provider, such as `openai` or `python`.
        """
        return ModelDescriptor.Builder(provider)

    def get_options(self) -> dict[str, str]:
        """Return the options, `provider` among them."""
        return dict(self._options)

    def get_input_schema(self) -> Schema | None:
        """Return the columns that the model takes."""
        return self._input_schema

    def get_output_schema(self) -> Schema | None:
        """Return the columns that the model returns."""
        return self._output_schema

    def get_comment(self) -> str | None:
        """Return the description."""
        return self._comment

    def __str__(self) -> str:
        """Return the model like a CREATE MODEL, without its secrets."""
        lines = ["" if each is None else str(each) for each in (self._input_schema, self._output_schema)]
        lines.append(f"COMMENT '{self._comment or ''}'")
        shown = redacted(self._options).items()
        options = ",\n".join(f"  {escape_text(key)} = {escape_text(value)}" for key, value in shown)
        return "\n".join([*lines, f"WITH (\n{options}\n)"])

    def __eq__(self, other: object) -> bool:
        """Compare all parts."""
        return isinstance(other, ModelDescriptor) and self._parts() == other._parts()

    def __hash__(self) -> int:
        """Hash columns and options."""
        return hash((self._input_schema, self._output_schema, frozenset(self._options.items())))

    def _parts(self) -> tuple[Any, ...]:
        return (self._input_schema, self._output_schema, self._options, self._comment)

    class Builder(ApiObject):
        """Builds a description of a model."""

        def __init__(self, provider: str) -> None:
            self._input_schema: Schema | None = None
            self._output_schema: Schema | None = None
            self._options = {"provider": provider}
            self._comment: str | None = None

        def input_schema(self, input_schema: Schema) -> ModelDescriptor.Builder:
            """Set the columns that the model takes."""
            self._input_schema = input_schema
            return self

        def output_schema(self, output_schema: Schema) -> ModelDescriptor.Builder:
            """Set the columns that the model returns."""
            self._output_schema = output_schema
            return self

        def option(self, key: Any, value: Any) -> ModelDescriptor.Builder:
            """Set an option.

            Args:
                key: Its name.
                value: Its value.
            """
            self._options[_key_of(key)] = _text_of(value)
            return self

        def comment(self, comment: str) -> ModelDescriptor.Builder:
            """Describe the model.

            Args:
                comment: The description.
            """
            self._comment = comment
            return self

        def build(self) -> ModelDescriptor:
            """Return the description."""
            return ModelDescriptor(self._input_schema, self._output_schema, self._options, self._comment)
