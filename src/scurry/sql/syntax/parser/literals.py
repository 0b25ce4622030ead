"""Literals and names in expressions."""

from __future__ import annotations

import binascii
import codecs
import re
from decimal import Decimal
from typing import Final

from scurry.sql.syntax import nodes
from scurry.sql.syntax.lexer import (
    APPROXIMATE,
    BINARY_STRING,
    DECIMAL,
    INTEGER,
    PREFIXED_STRING,
    STRING,
    UNICODE_STRING,
)
from scurry.sql.syntax.parser.contexts import Context
from scurry.sql.syntax.parser.types import TypeParser

#: Words that make a literal together with a string after them.
_TYPED: Final = frozenset({"DATE", "TIME", "TIMESTAMP", "DECIMAL", "{D", "{T", "{TS"})
_LOCAL_ZONE: Final = ("WITH", "LOCAL", "TIME", "ZONE")
_NUMBER: Final = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)")

NUMBERS: Final = frozenset({INTEGER, DECIMAL, APPROXIMATE})
STRINGS: Final = frozenset({STRING, PREFIXED_STRING, UNICODE_STRING, BINARY_STRING})
_WORDS: Final = {"TRUE": True, "FALSE": False, "UNKNOWN": None}


class LiteralParser(TypeParser):
    """Parses literals."""

    def expression(self, context: Context = Context.SUB_QUERY) -> nodes.Expression:
        """Parse an expression."""
        raise NotImplementedError

    def number(self) -> nodes.NumericLiteral:
        """Parse a number without sign."""
        position = self.position
        if self.keys[position] not in NUMBERS:
            self.fail()
        self.position += 1
        return nodes.NumericLiteral(_canonical_number(self.image(position)), span=self.span_of(position))

    def signed_number(self) -> nodes.NumericLiteral:
        """Parse a number that may have a sign."""
        start = self.position
        negative = self.accept_any("+", "-") == "-"
        number = self.number()
        text = f"-{number.text}" if negative and not number.text.startswith("-") else number.text
        return nodes.NumericLiteral(text, span=self.span_from(start))

    def string_literal(self) -> nodes.Expression:
        """Parse a string, which further strings may continue."""
        start = self.position
        key = self.keys[start]
        if key not in STRINGS:
            self.fail()
        parts = [self._string_part(key, None)]
        first = parts[0]
        while self.keys[self.position] == STRING:
            if isinstance(first, nodes.BinaryLiteral):
                parts.append(self._binary_part())
            else:
                assert isinstance(first, nodes.StringLiteral)
                parts.append(self._string_part(STRING, first.charset))
        if self.at("UESCAPE") and self.keys[self.position + 1] == STRING:
            self.position += 2
            escape = self.image(self.position - 1)[1:-1]
            if key != UNICODE_STRING:
                raise self.error_at_last("UESCAPE cannot be specified without Unicode literal introducer")
            parts = [self._unicode_part(position, escape) for position in range(start, start + len(parts))]
        elif key == UNICODE_STRING:
            parts = [self._unicode_part(position, "\\") for position in range(start, start + len(parts))]
        if len(parts) == 1:
            return parts[0]
        return nodes.StringChain(tuple(parts), span=self.span_from(start))

    def _string_part(self, key: str, charset: str | None) -> nodes.Expression:
        if key == BINARY_STRING:
            return self._binary_part()
        position = self.position
        self.position += 1
        image = self.image(position)
        prefix, _, rest = image.partition("'")
        if key == PREFIXED_STRING:
            charset = "ISO-8859-1" if prefix in "nN" else prefix[1:].upper()
            self._check_charset(charset)
        if key == UNICODE_STRING:
            charset = "UTF16"
        value = rest[:-1].replace("''", "'")
        self._check_encoding(value, charset)
        return nodes.StringLiteral(value, charset, span=self.span_of(position))

    def _check_encoding(self, value: str, charset: str | None) -> None:
        try:
            value.encode(charset or "utf-8", "surrogatepass" if charset is None else "strict")
        except UnicodeEncodeError:
            raise self.error_at_last(f"Failed to encode '{value}' in character set '{charset}'") from None

    def _check_charset(self, charset: str) -> None:
        try:
            codecs.lookup(charset)
        except LookupError:
            raise self.error_at_last(f"Unknown character set '{charset}'") from None

    def _unicode_part(self, position: int, escape: str) -> nodes.Expression:
        """Resolve the escapes of a Unicode string."""
        text = self.image(position).partition("'")[2][:-1].replace("''", "'")
        sign = re.escape(escape)

        def resolve(match: re.Match[str]) -> str:
            digits = match.group(1) or match.group(2)
            if digits:
                return chr(int(digits, 16))
            if match.group(3):
                return escape
            raise self.error_at(
                f"Unicode escape sequence starting at character {match.start()} is not exactly four hex digits",
                self.span_of(position),
            )

        value = re.sub(rf"{sign}(?:([0-9A-Fa-f]{{4}})|\+([0-9A-Fa-f]{{6}})|({sign})|)", resolve, text)
        # Two escapes may be one character beyond the first 65536.
        value = value.encode("utf-16-be", "surrogatepass").decode("utf-16-be", "surrogatepass")
        return nodes.StringLiteral(value, "UTF16", span=self.span_of(position))

    def _binary_part(self) -> nodes.Expression:
        position = self.position
        self.position += 1
        digits = self.image(position).strip("xX").strip("'")
        try:
            binascii.unhexlify(digits if len(digits) % 2 == 0 else f"0{digits}")
        except (binascii.Error, ValueError):
            message = "Binary literal string must contain only characters '0' - '9', 'A' - 'F'"
            raise self.error_at_last(message) from None
        return nodes.BinaryLiteral(digits.upper(), span=self.span_of(position))

    def word_literal(self) -> nodes.Expression:
        """Parse TRUE, FALSE, UNKNOWN or NULL."""
        position = self.position
        self.position += 1
        key = self.keys[position]
        if key == "NULL":
            return nodes.NullLiteral(span=self.span_of(position))
        return nodes.BooleanLiteral(_WORDS[key], span=self.span_of(position))

    def time_literal(self) -> nodes.Expression:
        """Parse ``DATE '...'``, ``TIME '...'`` or ``TIMESTAMP '...'``, also in braces."""
        start = self.position
        key = self.keys[start]
        self.position += 1
        zoned = key == "TIMESTAMP" and self.accept_all(*_LOCAL_ZONE)
        text = self.string()
        if key.startswith("{"):
            self.expect("}")
        span = self.span_from(start)
        if key in ("DATE", "{D"):
            return nodes.DateLiteral(text, span=span)
        if key in ("TIME", "{T"):
            return nodes.TimeLiteral(text, span=span)
        return nodes.TimestampLiteral(text, "TIMESTAMP WITH LOCAL TIME ZONE" if zoned else "TIMESTAMP", span=span)

    def decimal_literal(self) -> nodes.Expression:
        """Parse ``DECIMAL '...'``, which is the number that the text is."""
        start = self.position
        self.position += 1
        text = self.string().strip()
        span = self.span_from(start)
        if _NUMBER.fullmatch(text) is None:
            raise self.error_at(f"Literal '{text}' can not be parsed to type 'DECIMAL'", span)
        return nodes.NumericLiteral(text.removeprefix("+"), span=span)

    def at_literal(self) -> bool:
        """Return whether a literal begins here."""
        key = self.keys[self.position]
        if key in NUMBERS or key in STRINGS or key in ("TRUE", "FALSE", "UNKNOWN", "NULL", "INTERVAL", "+", "-"):
            return True
        return key in _TYPED and self.keys[self.position + 1] == STRING or self.at_zoned_literal(self.position)

    def at_zoned_literal(self, position: int) -> bool:
        """Return whether ``TIMESTAMP WITH LOCAL TIME ZONE '...'`` begins at a position."""
        words = self.keys[position + 1 : position + 6]
        return self.keys[position] == "TIMESTAMP" and tuple(words) == (*_LOCAL_ZONE, STRING)

    def literal(self) -> nodes.Expression:
        """Parse a literal."""
        key = self.keys[self.position]
        if key in NUMBERS or key in ("+", "-"):
            return self.signed_number()
        if key in STRINGS:
            return self.string_literal()
        if key == "NULL" or key in _WORDS:
            return self.word_literal()
        if key == "INTERVAL":
            return self.interval(expressions=False)
        if key == "DECIMAL":
            return self.decimal_literal()
        if key in _TYPED:
            return self.time_literal()
        self.fail()

    def interval(self, expressions: bool = True) -> nodes.Expression:
        """Parse an interval.

        Args:
            expressions: Whether the amount may be a number, a name, or an expression in parentheses, too.
        """
        start = self.position
        self.expect("INTERVAL")
        negative = self.accept_any("-", "+") == "-"
        if self.keys[self.position] == STRING or not expressions:
            text = self.string()
            qualifier = self.interval_qualifier()
            return nodes.IntervalLiteral(text, qualifier, negative, span=self.span_from(start))
        amount = self._interval_amount()
        unit = self.interval_start()
        if negative:
            amount = nodes.UnaryOperation("-", amount, span=amount.span)
        return nodes.IntervalExpression(amount, unit, span=self.span_from(start))

    def _interval_amount(self) -> nodes.Expression:
        if self.accept("("):
            amount = self.expression()
            self.expect(")")
            return amount
        if self.keys[self.position] in NUMBERS:
            return self.number()
        return self.compound_name()


def _canonical_number(image: str) -> str:
    """Return a number as Calcite writes it: without leading zeros, the exponent as far as it is significant."""
    if "e" not in image and "E" not in image:
        if image.isdigit():
            return image.lstrip("0") or "0"
        whole, _, fraction = image.partition(".")
        whole = whole.lstrip("0") or "0"
        return f"{whole}.{fraction}" if fraction else whole
    return _approximate(Decimal(image))


def _approximate(number: Decimal) -> str:
    digits = "".join(map(str, number.as_tuple().digits)).rstrip("0") or "0"
    exponent = number.adjusted() if number else 0
    mantissa = digits[0] if len(digits) == 1 else f"{digits[0]}.{digits[1:]}"
    return f"{mantissa}E{exponent}"
