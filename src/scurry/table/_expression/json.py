"""Functions of JSON texts, and digests."""

from __future__ import annotations

from typing import Any, Self

from scurry.errors import ArgumentError
from scurry.sql.types import DataType
from scurry.sql.types.atomic_types import MAX_LENGTH, VarCharType
from scurry.table._expression.base import ExpressionBase
from scurry.table._expression.units import (
    JsonExistsOnError,
    JsonQueryOnEmptyOrError,
    JsonQueryWrapper,
    JsonType,
    JsonValueOnEmptyOrError,
)

_WRAPPERS = {
    JsonQueryWrapper.WITHOUT_ARRAY: "WITHOUT ARRAY",
    JsonQueryWrapper.CONDITIONAL_ARRAY: "WITH CONDITIONAL ARRAY",
    JsonQueryWrapper.UNCONDITIONAL_ARRAY: "WITH UNCONDITIONAL ARRAY",
}


class Json(ExpressionBase):
    """Functions of JSON texts, and digests."""

    def is_json(self, json_type: JsonType | None = None) -> Self:
        """Return whether a text is JSON.

        Args:
            json_type: Of which kind; None for any.
        """
        return self._sql(f"x IS JSON {(json_type or JsonType.VALUE).name}", x=self)

    def json_exists(self, path: str, on_error: JsonExistsOnError | None = None) -> Self:
        """Return whether there is something in a JSON text.

        Args:
            path: Where, such as `$.a[0]`.
            on_error: The answer for a wrong path; None for FALSE.
        """
        behavior = "" if on_error is None else f"{on_error.name} ON ERROR"
        return self._sql(f"JSON_EXISTS(x, path {behavior})", x=self, path=path)

    def json_value(
        self,
        path: str,
        returning_type: DataType | None = None,
        on_empty: JsonValueOnEmptyOrError = JsonValueOnEmptyOrError.NULL,
        default_on_empty: Any = None,
        on_error: JsonValueOnEmptyOrError = JsonValueOnEmptyOrError.NULL,
        default_on_error: Any = None,
    ) -> Self:
        """Return a scalar value of a JSON text.

        Args:
            path: Where it is, such as `$.a[0]`.
            returning_type: Its type: STRING, BOOLEAN, INT or DOUBLE; None for STRING.
            on_empty: The answer if there is nothing.
            default_on_empty: The answer of DEFAULT, if there is nothing.
            on_error: The answer for a wrong path or value.
            default_on_error: The answer of DEFAULT, for a wrong path or value.
        """
        kind = (VarCharType(MAX_LENGTH) if returning_type is None else returning_type).nullable()
        parts = {"x": self, "path": path}
        text = f"JSON_VALUE(x, path RETURNING {kind.as_summary_string()}"
        for name, behavior, default in (("EMPTY", on_empty, default_on_empty), ("ERROR", on_error, default_on_error)):
            if behavior is JsonValueOnEmptyOrError.DEFAULT:
                parts[f"on_{name}"] = default
                text += f" DEFAULT on_{name} ON {name}"
            elif default is not None:
                raise ArgumentError(
                    f"json_value: a default on {name.lower()} is only used by DEFAULT, not {behavior.name}"
                )
            else:
                text += f" {behavior.name} ON {name}"
        return self._sql(text + ")", **parts)

    def json_query(
        self,
        path: str,
        wrapping_behavior: JsonQueryWrapper = JsonQueryWrapper.WITHOUT_ARRAY,
        on_empty: JsonQueryOnEmptyOrError = JsonQueryOnEmptyOrError.NULL,
        on_error: JsonQueryOnEmptyOrError = JsonQueryOnEmptyOrError.NULL,
    ) -> Self:
        """Return a part of a JSON text as JSON.

        Args:
            path: Where it is, such as `$.a[0]`.
            wrapping_behavior: When it becomes an array.
            on_empty: The answer if there is nothing.
            on_error: The answer for a wrong path.
        """
        empty, error = (each.name.replace("_", " ") for each in (on_empty, on_error))
        wrapper = f"{_WRAPPERS[wrapping_behavior]} WRAPPER"
        return self._sql(f"JSON_QUERY(x, path {wrapper} {empty} ON EMPTY {error} ON ERROR)", x=self, path=path)

    def json_quote(self) -> Self:
        """Return a text as a JSON string."""
        return self._call("JSON_QUOTE")

    def json_unquote(self) -> Self:
        """Return the text of a JSON string."""
        return self._call("JSON_UNQUOTE")

    # ------------------------------------------------------------------ digests

    @property
    def md5(self) -> Self:
        """Return the MD5 digest of a text, in hexadecimal digits."""
        return self._call("MD5")

    @property
    def sha1(self) -> Self:
        """Return the SHA-1 digest of a text, in hexadecimal digits."""
        return self._call("SHA1")

    @property
    def sha224(self) -> Self:
        """Return the SHA-224 digest of a text, in hexadecimal digits."""
        return self._call("SHA224")

    @property
    def sha256(self) -> Self:
        """Return the SHA-256 digest of a text, in hexadecimal digits."""
        return self._call("SHA256")

    @property
    def sha384(self) -> Self:
        """Return the SHA-384 digest of a text, in hexadecimal digits."""
        return self._call("SHA384")

    @property
    def sha512(self) -> Self:
        """Return the SHA-512 digest of a text, in hexadecimal digits."""
        return self._call("SHA512")

    def sha2(self, hash_length: Any) -> Self:
        """Return a SHA-2 digest of a text, in hexadecimal digits.

        Args:
            hash_length: Its length in bits: 224, 256, 384 or 512.
        """
        return self._call_of("SHA2", self, hash_length)
