"""Functions of texts."""

from __future__ import annotations

from typing import Any, Self

from scurry.table._expression.base import ExpressionBase


class Texts(ExpressionBase):
    """Functions of texts."""

    def concat(self, other: Any) -> Self:
        """Return the text followed by another.

        Args:
            other: The other text.
        """
        return self._call_of("||", self, other)

    def starts_with(self, start_expr: Any) -> Self:
        """Return whether the text begins with another.

        Args:
            start_expr: The other text.
        """
        return self._call_of("STARTSWITH", self, start_expr)

    def ends_with(self, end_expr: Any) -> Self:
        """Return whether the text ends with another.

        Args:
            end_expr: The other text.
        """
        return self._call_of("ENDSWITH", self, end_expr)

    def substring(self, begin_index: Any, length: Any = None) -> Self:
        """Return a part of the text.

        Args:
            begin_index: Where it begins, from 1; from the end if it is negative.
            length: Its length; None for all that follows.
        """
        return self._call("SUBSTRING", begin_index, length)

    def substr(self, begin_index: Any, length: Any = None) -> Self:
        """Return a part of the text.

        Args:
            begin_index: Where it begins, from 1; from the end if it is negative.
            length: Its length; None for all that follows.
        """
        return self._call("SUBSTR", begin_index, length)

    def trim_leading(self, character: Any = None) -> Self:
        """Remove all leading occurrences of a text.

        Args:
            character: What is removed as often as it stands there; None for blanks.
        """
        return self._sql("TRIM(LEADING y FROM x)", x=self, y=" " if character is None else character)

    def trim_trailing(self, character: Any = None) -> Self:
        """Remove all trailing occurrences of a text.

        Args:
            character: What is removed as often as it stands there; None for blanks.
        """
        return self._sql("TRIM(TRAILING y FROM x)", x=self, y=" " if character is None else character)

    def trim(self, character: Any = None) -> Self:
        """Remove all leading and trailing occurrences of a text.

        Args:
            character: What is removed as often as it stands there; None for blanks.
        """
        return self._sql("TRIM(BOTH y FROM x)", x=self, y=" " if character is None else character)

    def replace(self, search: Any = None, replacement: Any = None) -> Self:
        """Return the text with all occurrences of one text replaced by another.

        Args:
            search: The one.
            replacement: The other.
        """
        return self._call("REPLACE", search, replacement)

    def translate(self, from_str: Any, to_str: Any) -> Self:
        """Return the text with characters replaced by others.

        Args:
            from_str: The characters.
            to_str: What each of them becomes; those beyond its length are removed.
        """
        return self._call_of("TRANSLATE", self, from_str, to_str)

    @property
    def char_length(self) -> Self:
        """Return the number of characters."""
        return self._call("CHAR_LENGTH")

    @property
    def upper_case(self) -> Self:
        """Return the text in upper case."""
        return self._call("UPPER")

    @property
    def lower_case(self) -> Self:
        """Return the text in lower case."""
        return self._call("LOWER")

    @property
    def init_cap(self) -> Self:
        """Return the text with the first letter of each word in upper case, the others in lower case."""
        return self._call("INITCAP")

    def like(self, pattern: Any = None, escape: Any = None) -> Self:
        """Return whether the text matches a pattern of LIKE.

        Args:
            pattern: The pattern: `%` for any text, `_` for a character.
            escape: The character that makes a wildcard stand for itself.
        """
        return self._call("LIKE", pattern, escape)

    def similar(self, pattern: Any = None) -> Self:
        """Return whether the text matches a pattern of SIMILAR TO.

        Args:
            pattern: The pattern.
        """
        return self._call("SIMILAR TO", pattern)

    def position(self, haystack: Any = None) -> Self:
        """Return where this text first occurs in another, from 1; 0 if it does not.

        Args:
            haystack: The other text.
        """
        return self._call("POSITION", haystack)

    def lpad(self, length: Any, pad: Any) -> Self:
        """Return the text filled at the left.

        Args:
            length: The length of the result.
            pad: What it is filled with.
        """
        return self._call_of("LPAD", self, length, pad)

    def rpad(self, length: Any, pad: Any) -> Self:
        """Return the text filled at the right.

        Args:
            length: The length of the result.
            pad: What it is filled with.
        """
        return self._call_of("RPAD", self, length, pad)

    def overlay(self, new_string: Any, starting: Any, length: Any = None) -> Self:
        """Return the text with a part replaced.

        Args:
            new_string: What replaces it.
            starting: Where the part begins, from 1.
            length: Its length; None for that of the new text.
        """
        return self._call("OVERLAY", new_string, starting, length)

    def regexp(self, regex: Any) -> Self:
        """Return whether a part of the text matches a regular expression.

        Args:
            regex: The expression, as Java has it.
        """
        return self._call_of("REGEXP", self, regex)

    def regexp_count(self, regex: Any) -> Self:
        """Count the matches of a regular expression.

        Args:
            regex: The expression, as Java has it.
        """
        return self._call_of("REGEXP_COUNT", self, regex)

    def regexp_replace(self, regex: Any, replacement: Any) -> Self:
        """Return the text with the matches of a regular expression replaced.

        Args:
            regex: The expression, as Java has it.
            replacement: What replaces them.
        """
        return self._call_of("REGEXP_REPLACE", self, regex, replacement)

    def regexp_extract(self, regex: Any, extract_index: Any = None) -> Self:
        """Return the first match of a regular expression.

        Args:
            regex: The expression, as Java has it.
            extract_index: Which of its groups; None or 0 for the whole match.
        """
        return self._call("REGEXP_EXTRACT", regex, extract_index)

    def regexp_extract_all(self, regex: Any, extract_index: Any = None) -> Self:
        """Return all matches of a regular expression as an array.

        Args:
            regex: The expression, as Java has it.
            extract_index: Which of its groups, 0 for the whole match; None for the first group.
        """
        return self._call("REGEXP_EXTRACT_ALL", regex, extract_index)

    def regexp_instr(self, regex: Any) -> Self:
        """Return where a regular expression first matches, from 1; 0 if it does not.

        Args:
            regex: The expression, as Java has it.
        """
        return self._call_of("REGEXP_INSTR", self, regex)

    def regexp_substr(self, regex: Any) -> Self:
        """Return the first match of a regular expression.

        Args:
            regex: The expression, as Java has it.
        """
        return self._call_of("REGEXP_SUBSTR", self, regex)

    @property
    def from_base64(self) -> Self:
        """Return the text that is encoded in Base64."""
        return self._call("FROM_BASE64")

    @property
    def to_base64(self) -> Self:
        """Return the text in Base64."""
        return self._call("TO_BASE64")

    @property
    def ascii(self) -> Self:
        """Return the code of the first character."""
        return self._call("ASCII")

    @property
    def chr(self) -> Self:
        """Return the character of a code."""
        return self._call("CHR")

    def decode(self, charset: Any) -> Self:
        """Return bytes as a text.

        Args:
            charset: Their character set, such as UTF-8.
        """
        return self._call_of("DECODE", self, charset)

    def encode(self, charset: Any) -> Self:
        """Return the text as bytes.

        Args:
            charset: Their character set, such as UTF-8.
        """
        return self._call_of("ENCODE", self, charset)

    def left(self, length: Any) -> Self:
        """Return the first characters.

        Args:
            length: How many.
        """
        return self._call_of("LEFT", self, length)

    def right(self, length: Any) -> Self:
        """Return the last characters.

        Args:
            length: How many.
        """
        return self._call_of("RIGHT", self, length)

    def instr(self, s: Any) -> Self:
        """Return where another text first occurs in this one, from 1; 0 if it does not.

        Args:
            s: The other text.
        """
        return self._call_of("INSTR", self, s)

    def locate(self, s: Any, pos: Any = None) -> Self:
        """Return where this text first occurs in another, from 1; 0 if it does not.

        Args:
            s: The other text.
            pos: Where to begin, from 1.
        """
        return self._call("LOCATE", s, pos)

    def url_decode(self) -> Self:
        """Return a text that was encoded for addresses as it was before."""
        return self._call_of("URL_DECODE", self)

    def url_encode(self) -> Self:
        """Return the text encoded for addresses."""
        return self._call_of("URL_ENCODE", self)

    def inet_aton(self) -> Self:
        """Return an address such as `10.0.0.1` as a number."""
        return self._call_of("INET_ATON", self)

    def inet_ntoa(self) -> Self:
        """Return a number as an address such as `10.0.0.1`."""
        return self._call_of("INET_NTOA", self)

    def parse_url(self, part_to_extract: Any, key: Any = None) -> Self:
        """Return a part of an address.

        Args:
            part_to_extract: HOST, PATH, QUERY, REF, PROTOCOL, AUTHORITY, FILE or USERINFO.
            key: Which parameter of QUERY.
        """
        return self._call("PARSE_URL", part_to_extract, key)

    def printf(self, *obj: Any) -> Self:
        """Return the text with values filled in, as C's printf does.

        Args:
            *obj: The values.
        """
        return self._call_of("PRINTF", self, *obj)

    def ltrim(self, trim_str: Any = None) -> Self:
        """Return the text without characters at its left.

        Args:
            trim_str: The characters; None for blanks.
        """
        return self._call("LTRIM", trim_str)

    def rtrim(self, trim_str: Any = None) -> Self:
        """Return the text without characters at its right.

        Args:
            trim_str: The characters; None for blanks.
        """
        return self._call("RTRIM", trim_str)

    def btrim(self, trim_str: Any = None) -> Self:
        """Return the text without characters at both ends.

        Args:
            trim_str: The characters; None for blanks.
        """
        return self._call("BTRIM", trim_str)

    def repeat(self, n: Any) -> Self:
        """Return the text several times.

        Args:
            n: How often.
        """
        return self._call_of("REPEAT", self, n)

    @property
    def reverse(self) -> Self:
        """Return the text from its last character to its first."""
        return self._call("REVERSE")

    def split_index(self, separator: Any, index: Any) -> Self:
        """Return a part of the text.

        Args:
            separator: What is between its parts.
            index: Which part, from 0.
        """
        return self._call_of("SPLIT_INDEX", self, separator, index)

    def split(self, delimiter: Any) -> Self:
        """Return the parts of the text as an array.

        Args:
            delimiter: What is between them.
        """
        return self._call_of("SPLIT", self, delimiter)

    def str_to_map(self, list_delimiter: Any = None, key_value_delimiter: Any = None) -> Self:
        """Return the text as a map.

        Args:
            list_delimiter: What is between its entries; None for a comma.
            key_value_delimiter: What is between key and value; None for an equals sign.
        """
        return self._call("STR_TO_MAP", list_delimiter, key_value_delimiter)

    def elt(self, expr: Any, *exprs: Any) -> Self:
        """Return one of several values, by this number.

        Args:
            expr: That of number 1.
            *exprs: The next ones.
        """
        return self._call_of("ELT", self, expr, *exprs)
