"""Literals, and the units of intervals."""

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
from scurry.sql.syntax.parser.parser import Parser

#: Words that make a literal together with a string after them.
_TYPED: Final = frozenset({"DATE", "TIME", "TIMESTAMP", "DECIMAL", "{D", "{T", "{TS"})
_LOCAL_ZONE: Final = ("WITH", "LOCAL", "TIME", "ZONE")
_NUMBER: Final = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)")

NUMBERS: Final = frozenset({INTEGER, DECIMAL, APPROXIMATE})
STRINGS: Final = frozenset({STRING, PREFIXED_STRING, UNICODE_STRING, BINARY_STRING})
_WORDS: Final = {"TRUE": True, "FALSE": False, "UNKNOWN": None}

_UNITS: Final = {
    name: unit
    for unit in ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND")
    for name in (unit, f"{unit}S")
}
_LATER_UNITS: Final = {
    "YEAR": ("MONTH",),
    "DAY": ("HOUR", "MINUTE", "SECOND"),
    "HOUR": ("MINUTE", "SECOND"),
    "MINUTE": ("SECOND",),
}


def parse_literal_text(p: Parser) -> str:
    """Parse a string of one part and return its value."""
    literal = parse_string_literal(p)
    if not isinstance(literal, nodes.StringLiteral):
        raise p.error_at("a character string in one part is needed here", literal.span)
    return literal.value


def parse_optional_precision(p: Parser) -> int | None:
    """Parse a number in parentheses, if there is one."""
    if not p.accept("("):
        return None
    precision = p.unsigned_integer()
    p.expect(")")
    return precision


def parse_precision_and_scale(p: Parser) -> tuple[int | None, int | None]:
    if not p.accept("("):
        return None, None
    precision, scale = p.unsigned_integer(), None
    if p.accept(","):
        scale = p.unsigned_integer()
    p.expect(")")
    return precision, scale


def parse_interval_qualifier(p: Parser) -> nodes.IntervalQualifier:
    """Parse a unit or a range of units."""
    start = p.position
    first = _UNITS.get(p.keys[start])
    if first is None:
        p.fail()
    p.position += 1
    precision = fractional = end = None
    if first == "SECOND":
        precision, fractional = parse_precision_and_scale(p)
    else:
        precision = parse_optional_precision(p)
        later = _LATER_UNITS.get(first, ())
        if p.at("TO") and _UNITS.get(p.keys[p.position + 1]) in later:
            p.position += 1
            end = _UNITS[p.keys[p.position]]
            p.position += 1
            if end == "SECOND":
                fractional = parse_optional_precision(p)
        elif p.at("TO"):
            p.looked_ahead_at = p.position
    return nodes.IntervalQualifier(first, end, precision, fractional, span=p.span_from(start))


def _parse_interval_start(p: Parser) -> nodes.IntervalQualifier:
    """Parse a unit that no TO can follow."""
    start = p.position
    unit = _UNITS.get(p.keys[start])
    if unit is None:
        p.fail()
    p.position += 1
    fractional = None
    if unit == "SECOND":
        precision, fractional = parse_precision_and_scale(p)
    else:
        precision = parse_optional_precision(p)
    return nodes.IntervalQualifier(unit, None, precision, fractional, span=p.span_from(start))


def at_integer(p: Parser) -> bool:
    """Return whether the next token is an integer."""
    return p.keys[p.position] == INTEGER


def parse_number(p: Parser) -> nodes.NumericLiteral:
    """Parse a number without sign."""
    position = p.position
    if p.keys[position] not in NUMBERS:
        p.fail()
    p.position += 1
    return nodes.NumericLiteral(_canonical_number(p.image(position)), span=p.span_of(position))


def parse_signed_number(p: Parser) -> nodes.NumericLiteral:
    start = p.position
    negative = p.accept_any("+", "-") == "-"
    number = parse_number(p)
    text = f"-{number.text}" if negative and not number.text.startswith("-") else number.text
    return nodes.NumericLiteral(text, span=p.span_from(start))


def parse_string_literal(p: Parser) -> nodes.Expression:
    """Parse a string, which further strings may continue."""
    start = p.position
    key = p.keys[start]
    if key not in STRINGS:
        p.fail()
    parts = [_parse_string_part(p, key, None)]
    first = parts[0]
    while p.keys[p.position] == STRING:
        if isinstance(first, nodes.BinaryLiteral):
            parts.append(_parse_binary_part(p))
        else:
            assert isinstance(first, nodes.StringLiteral)
            parts.append(_parse_string_part(p, STRING, first.charset))
    if p.at("UESCAPE") and p.keys[p.position + 1] == STRING:
        p.position += 2
        escape = p.image(p.position - 1)[1:-1]
        if key != UNICODE_STRING:
            raise p.error_at_last("UESCAPE cannot be specified without Unicode literal introducer")
        parts = [_parse_unicode_part(p, position, escape) for position in range(start, start + len(parts))]
    elif key == UNICODE_STRING:
        parts = [_parse_unicode_part(p, position, "\\") for position in range(start, start + len(parts))]
    if len(parts) == 1:
        return parts[0]
    return nodes.StringChain(tuple(parts), span=p.span_from(start))


def _parse_string_part(p: Parser, key: str, charset: str | None) -> nodes.Expression:
    if key == BINARY_STRING:
        return _parse_binary_part(p)
    position = p.position
    p.position += 1
    image = p.image(position)
    prefix, _, rest = image.partition("'")
    if key == PREFIXED_STRING:
        charset = "ISO-8859-1" if prefix in "nN" else prefix[1:].upper()
        _check_charset(p, charset)
    if key == UNICODE_STRING:
        charset = "UTF16"
    value = rest[:-1].replace("''", "'")
    _check_encoding(p, value, charset)
    return nodes.StringLiteral(value, charset, span=p.span_of(position))


def _check_encoding(p: Parser, value: str, charset: str | None) -> None:
    try:
        value.encode(charset or "utf-8", "surrogatepass" if charset is None else "strict")
    except UnicodeEncodeError:
        raise p.error_at_last(f"Failed to encode '{value}' in character set '{charset}'") from None


def _check_charset(p: Parser, charset: str) -> None:
    try:
        codecs.lookup(charset)
    except LookupError:
        raise p.error_at_last(f"Unknown character set '{charset}'") from None


def _parse_unicode_part(p: Parser, position: int, escape: str) -> nodes.Expression:
    text = p.image(position).partition("'")[2][:-1].replace("''", "'")
    sign = re.escape(escape)

    def resolve(match: re.Match[str]) -> str:
        digits = match.group(1) or match.group(2)
        if digits:
            return chr(int(digits, 16))
        if match.group(3):
            return escape
        raise p.error_at(
            f"Unicode escape sequence starting at character {match.start()} is not exactly four hex digits",
            p.span_of(position),
        )

    value = re.sub(rf"{sign}(?:([0-9A-Fa-f]{{4}})|\+([0-9A-Fa-f]{{6}})|({sign})|)", resolve, text)
    # Two escapes may be one character beyond the first 65536.
    value = value.encode("utf-16-be", "surrogatepass").decode("utf-16-be", "surrogatepass")
    return nodes.StringLiteral(value, "UTF16", span=p.span_of(position))


def _parse_binary_part(p: Parser) -> nodes.Expression:
    position = p.position
    p.position += 1
    digits = p.image(position).strip("xX").strip("'")
    try:
        binascii.unhexlify(digits if len(digits) % 2 == 0 else f"0{digits}")
    except (binascii.Error, ValueError):
        message = "Binary literal string must contain only characters '0' - '9', 'A' - 'F'"
        raise p.error_at_last(message) from None
    return nodes.BinaryLiteral(digits.upper(), span=p.span_of(position))


def _parse_word_literal(p: Parser) -> nodes.Expression:
    """Parse TRUE, FALSE, UNKNOWN or NULL."""
    position = p.position
    p.position += 1
    key = p.keys[position]
    if key == "NULL":
        return nodes.NullLiteral(span=p.span_of(position))
    return nodes.BooleanLiteral(_WORDS[key], span=p.span_of(position))


def _parse_time_literal(p: Parser) -> nodes.Expression:
    """Parse ``DATE '...'``, ``TIME '...'`` or ``TIMESTAMP '...'``, also in braces."""
    start = p.position
    key = p.keys[start]
    p.position += 1
    zoned = key == "TIMESTAMP" and p.accept_all(*_LOCAL_ZONE)
    text = p.string()
    if key.startswith("{"):
        p.expect("}")
    span = p.span_from(start)
    if key in ("DATE", "{D"):
        return nodes.DateLiteral(text, span=span)
    if key in ("TIME", "{T"):
        return nodes.TimeLiteral(text, span=span)
    return nodes.TimestampLiteral(text, "TIMESTAMP WITH LOCAL TIME ZONE" if zoned else "TIMESTAMP", span=span)


def _parse_decimal_literal(p: Parser) -> nodes.Expression:
    """Parse ``DECIMAL '...'``, which is the number that the text is."""
    start = p.position
    p.position += 1
    text = p.string().strip()
    span = p.span_from(start)
    if _NUMBER.fullmatch(text) is None:
        raise p.error_at(f"Literal '{text}' can not be parsed to type 'DECIMAL'", span)
    return nodes.NumericLiteral(text.removeprefix("+"), span=span)


def at_literal(p: Parser) -> bool:
    """Return whether a literal begins here."""
    key = p.keys[p.position]
    if key in NUMBERS or key in STRINGS or key in ("TRUE", "FALSE", "UNKNOWN", "NULL", "INTERVAL", "+", "-"):
        return True
    return key in _TYPED and p.keys[p.position + 1] == STRING or at_zoned_literal(p, p.position)


def at_zoned_literal(p: Parser, position: int) -> bool:
    """Return whether ``TIMESTAMP WITH LOCAL TIME ZONE '...'`` begins at a position."""
    words = p.keys[position + 1 : position + 6]
    return p.keys[position] == "TIMESTAMP" and tuple(words) == (*_LOCAL_ZONE, STRING)


def parse_literal(p: Parser) -> nodes.Expression:
    key = p.keys[p.position]
    if key in NUMBERS or key in ("+", "-"):
        return parse_signed_number(p)
    if key in STRINGS:
        return parse_string_literal(p)
    if key == "NULL" or key in _WORDS:
        return _parse_word_literal(p)
    if key == "INTERVAL":
        return parse_interval(p, expressions=False)
    if key == "DECIMAL":
        return _parse_decimal_literal(p)
    if key in _TYPED:
        return _parse_time_literal(p)
    p.fail()


def parse_interval(p: Parser, expressions: bool = True) -> nodes.Expression:
    """Parse an interval.

    Args:
        expressions: Whether the amount may be a number, a name, or an expression in parentheses, too.
    """
    start = p.position
    p.expect("INTERVAL")
    negative = p.accept_any("-", "+") == "-"
    if p.keys[p.position] == STRING or not expressions:
        text = p.string()
        qualifier = parse_interval_qualifier(p)
        return nodes.IntervalLiteral(text, qualifier, negative, span=p.span_from(start))
    amount = _parse_interval_amount(p)
    unit = _parse_interval_start(p)
    if negative:
        amount = nodes.UnaryOperation("-", amount, span=amount.span)
    return nodes.IntervalExpression(amount, unit, span=p.span_from(start))


def _parse_interval_amount(p: Parser) -> nodes.Expression:
    if p.accept("("):
        amount = p.expression()
        p.expect(")")
        return amount
    if p.keys[p.position] in NUMBERS:
        return parse_number(p)
    return p.compound_name()


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
