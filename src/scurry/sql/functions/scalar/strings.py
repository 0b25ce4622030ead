"""Functions of texts: case, blanks, parts, padding."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from scurry.errors import EvaluationError
from scurry.sql.functions.definition import CallSite, Column, Kernel, ScalarFunction, Signature, SignatureError
from scurry.sql.functions.kernels import by_column, by_value, refuse_bigint, value_kernel
from scurry.sql.functions.signatures import Infer, Parameter, Result, always, if_any_nullable, refuse, signature
from scurry.sql.types import BigIntType, CharType, DataType, NullType, VarCharType
from scurry.sql.types.atomic_types import MAX_LENGTH
from scurry.sql.types.families import BINARY, BOOLEAN, CHARACTER, INT, INTEGER, STRING

_STRING: Final = if_any_nullable(STRING)
_INT: Final = if_any_nullable(INT)
_TEXT_OR_BYTES: Final = (*CHARACTER, *BINARY)
_SUPPLEMENTARY: Final = re.compile("[\U00010000-\U0010ffff]")
_HALF: Final = re.compile("[\ud800-\udfff]")


def _varying(index: int, always_nullable: bool = False) -> Result:
    """Return a result of type VARCHAR with the length of an argument."""

    def result(site: CallSite, types: Sequence[DataType]) -> DataType:
        given = types[index]
        length = given.length if isinstance(given, CharType | VarCharType) else MAX_LENGTH
        return VarCharType.of_length(length, always_nullable or any(each.is_nullable for each in types))

    return result


def _same_text(site: CallSite, types: Sequence[DataType]) -> DataType:
    return types[0] if isinstance(types[0], CHARACTER) else STRING


def _nullable_as_first(site: CallSite, types: Sequence[DataType]) -> DataType:
    return STRING.with_nullability(types[0].is_nullable)


def _overlaid(site: CallSite, types: Sequence[DataType]) -> DataType:
    lengths = [each.length if isinstance(each, CharType | VarCharType) else MAX_LENGTH for each in types[:2]]
    return VarCharType.of_length(min(sum(lengths), MAX_LENGTH), any(each.is_nullable for each in types))


def _standard(parameters: Sequence[Parameter], result: Result, optional: int = 0) -> Infer:
    """Return the inference of a function of the standard, which is refused in Calcite's words."""
    inferred = signature(parameters, result, optional)

    def infer(site: CallSite) -> Signature:
        if not len(parameters) - optional <= len(site.arguments) <= len(parameters):
            raise SignatureError(
                f"Invalid number of arguments to function '{site.name}'. Was expecting {len(parameters)} arguments"
            )
        try:
            return inferred(site)
        except SignatureError:
            raise refuse(site, f"'{site.name}(<CHARACTER>)'") from None

    return infer


def _cased(ascii_kernel: Callable[[Column], Column], convert: Callable[[str], str]) -> Callable[..., Kernel]:
    """Bind UPPER or LOWER, for which a letter may become several."""

    def bind(site: CallSite, result_type: DataType) -> Kernel:
        by_values = value_kernel(convert, result_type)

        def kernel(columns: Sequence[Column], rows: int) -> Column:
            plain = pc.string_is_ascii(columns[0])
            is_plain = plain if isinstance(plain, pa.Scalar) else pc.all(plain)
            return ascii_kernel(columns[0]) if is_plain.as_py() is not False else by_values(columns, rows)

        return kernel

    return bind


def _infer_position(site: CallSite) -> Signature:
    found = _standard([_TEXT_OR_BYTES, _TEXT_OR_BYTES, INTEGER], _INT, optional=1)(site)
    if len({isinstance(each, BINARY) for each in site.types[:2] if not isinstance(each, NullType)}) > 1:
        raise SignatureError("Parameters must be of the same type")
    return found


def _of_texts(function: Callable[..., Any]) -> Callable[[CallSite, DataType], Kernel]:
    """Bind a function that Flink's planner accepts for more types than its code compiles for."""

    def bind(site: CallSite, result_type: DataType) -> Kernel:
        if any(isinstance(each, (*BINARY, BigIntType)) for each in site.types):
            raise EvaluationError("No applicable constructor/method found for actual parameters")
        return value_kernel(function, result_type)

    return bind


def _without_bigint(function: Callable[..., Any]) -> Callable[[CallSite, DataType], Kernel]:
    def bind(site: CallSite, result_type: DataType) -> Kernel:
        refuse_bigint(site)
        return value_kernel(function, result_type)

    return bind


def initcap(text: str) -> str:
    """INITCAP: letters in lower case, but the first of each word in upper case; only those of ASCII change."""
    found, starts = [], True
    for character in text:
        if character.isascii() and character.isalpha():
            found.append(character.upper() if starts else character.lower())
        else:
            found.append(character)
        starts = not (character.isascii() and character.isalnum())
    return "".join(found)


def first_byte(text: str) -> int:
    """ASCII: the first byte of the text in UTF-8, which is signed; 0 of the empty text."""
    if not text:
        return 0
    byte = text.encode()[0]
    return byte - 256 if byte > 127 else byte


def character(code: int) -> str:
    """CHR: the character of the low eight bits of a code; '' of a negative one."""
    return "" if code < 0 else chr(code & 0xFF)


def trim(side: str, characters: str, text: str) -> str:
    """TRIM: the text without characters of a set, at its beginning, its end or both."""
    if side != "TRAILING":
        text = text.lstrip(characters)
    return text if side == "LEADING" else text.rstrip(characters)


def _bind_trim(site: CallSite, result_type: DataType) -> Kernel:
    side, characters = site.arguments[0].value, site.arguments[1]
    if not characters.is_literal or not characters.value:
        return value_kernel(trim, result_type)
    kernel = {"LEADING": pc.utf8_ltrim, "TRAILING": pc.utf8_rtrim}.get(side, pc.utf8_trim)
    return lambda columns, rows: kernel(columns[2], characters.value)


def _trimmer(side: str) -> Callable[[CallSite, DataType], Kernel]:
    return by_value(lambda text, characters=" ": trim(side, characters, text))


def substring(text: str, start: int, length: int | None = None) -> str | None:
    """SUBSTRING: characters from a position, from the end if it is negative."""
    if length is not None and length < 0:
        return None
    if start > len(text) or not text:
        return ""
    first = start - 1 if start > 0 else len(text) + start if start < 0 else 0
    if first < 0:
        return ""
    return text[first:] if length is None else text[first : first + length]


def _bind_substring(site: CallSite, result_type: DataType) -> Kernel:
    refuse_bigint(site)
    by_values = value_kernel(substring, result_type)
    places = [each.value for each in site.arguments[1:] if each.is_literal]
    start, length = (*places, None, None)[:2]
    if len(places) < len(site.arguments) - 1 or start is None or start < 1 or (len(places) == 2 and (length or -1) < 0):
        return by_values
    end = None if length is None else start - 1 + length
    return lambda columns, rows: pc.utf8_slice_codeunits(columns[0], start - 1, end)


def left(text: str, count: int) -> str:
    """LEFT: the first characters."""
    return text[: max(count, 0)]


def right(text: str, count: int) -> str:
    """RIGHT: the last characters."""
    return text[max(len(text) - count, 0) :] if count > 0 else ""


def utf16_length(text: str) -> int:
    """Return the number of units of UTF-16, which are Java's characters."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _by_units(function: Callable[..., str | None]) -> Callable[..., str | None]:
    """Return a function over the units of UTF-16 of its texts; the half of a pair becomes a question mark."""

    def applied(*values: Any) -> str | None:
        if all(not isinstance(each, str) or each.isascii() or max(each) <= "\uffff" for each in values):
            return function(*values)
        found = function(*(_SUPPLEMENTARY.sub(_as_pair, each) if isinstance(each, str) else each for each in values))
        if found is None:
            return None
        return _HALF.sub("?", found.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass"))

    return applied


def _as_pair(match: re.Match[str]) -> str:
    high, low = divmod(ord(match[0]) - 0x10000, 0x400)
    return chr(0xD800 + high) + chr(0xDC00 + low)


def pad(text: str, length: int, filling: str, at_end: bool) -> str | None:
    """LPAD and RPAD: the text cut or filled to a length; NULL without a length or a filling."""
    if length < 0 or not filling:
        return None
    missing = length - len(text)
    if missing <= 0:
        return text[:length]
    added = (filling * (missing // len(filling) + 1))[:missing]
    return text + added if at_end else added + text


def locate(part: str, text: str, start: int = 1) -> int:
    """LOCATE and POSITION: where a text first occurs in another, from a position; 0 if it does not."""
    if not part:
        return 1
    return text.find(part, max(start - 1, 0)) + 1


def instr(text: str, part: str, start: int = 1, occurrence: int = 1) -> int | None:
    """INSTR: where a text occurs in another for the n-th time, from a position or backwards from the end."""
    if occurrence <= 0 or not start:
        return None if occurrence <= 0 else 0
    if not part:
        return 1
    at = start - 1 if start > 0 else len(text) + start
    for number in range(occurrence):
        at = text.find(part, at + (number > 0)) if start > 0 else text.rfind(part, 0, at + len(part) - (number > 0))
        if at < 0:
            return 0
    return at + 1


def overlay(text: str, replacement: str, start: int, length: int | None = None) -> str:
    """OVERLAY: the text with a part replaced."""
    count = len(replacement) if length is None else length
    if start <= 0 or start > len(text):
        return text
    # The text after the part is kept only if the part is found.
    return text[: start - 1] + replacement + (text[start - 1 + count :] if count > 0 else "")


def replace(text: str, part: str, replacement: str) -> str:
    """REPLACE: the text with every occurrence of a part replaced."""
    return text.replace(part, replacement)


def repeat(text: str, count: int) -> str:
    """REPEAT: the text a number of times."""
    return text * max(count, 0)


def translate(text: str | None, characters: str | None, replacements: str | None) -> str | None:
    """TRANSLATE: each character of a set replaced by the one at its place in another text, or left out."""
    if text is None or not characters:
        return text
    replacements = replacements or ""
    table: dict[int, str | None] = {}
    for place, each in enumerate(characters):
        table.setdefault(ord(each), replacements[place] if place < len(replacements) else None)
    return text.translate(table)


def _infer_trim(site: CallSite) -> Signature:
    if len(site.arguments) != 3 or not all(isinstance(each, (*CHARACTER, NullType)) for each in site.types[1:]):
        raise refuse(site, "'TRIM([BOTH|LEADING|TRAILING] <CHARACTER> FROM <CHARACTER>)'")
    return Signature(site.types, _varying(2)(site, site.types[1:2] + site.types[1:]))


def _affix(name: str, test: Callable[[Any, Any], bool]) -> ScalarFunction:
    def infer(site: CallSite) -> Signature:
        known = [each for each in site.types if not isinstance(each, NullType)]
        for family in (CHARACTER, BINARY):
            if len(site.arguments) == 2 and all(isinstance(each, family) for each in known):
                return Signature(site.types, BOOLEAN.with_nullability(site.any_nullable))
        raise SignatureError("Invalid input arguments.")

    return ScalarFunction(name, infer, by_value(test))


FUNCTIONS = (
    ScalarFunction("UPPER", _standard([CHARACTER], _same_text), _cased(pc.ascii_upper, str.upper)),
    ScalarFunction("LOWER", _standard([CHARACTER], _same_text), _cased(pc.ascii_lower, str.lower)),
    ScalarFunction("INITCAP", _standard([CHARACTER], _same_text), by_value(initcap)),
    ScalarFunction("REVERSE", _standard([CHARACTER], always(STRING)), by_column(pc.utf8_reverse)),
    ScalarFunction(
        "CHAR_LENGTH", _standard([CHARACTER], _INT), by_column(pc.utf8_length), aliases=("CHARACTER_LENGTH",)
    ),
    ScalarFunction("ASCII", _standard([CHARACTER], _INT), by_value(first_byte)),
    ScalarFunction("CHR", _standard([INTEGER], always(STRING)), by_value(character)),
    ScalarFunction("TRIM", _infer_trim, _bind_trim),
    ScalarFunction("LTRIM", _standard([CHARACTER, CHARACTER], _varying(0), optional=1), _trimmer("LEADING")),
    ScalarFunction("RTRIM", _standard([CHARACTER, CHARACTER], _varying(0), optional=1), _trimmer("TRAILING")),
    ScalarFunction("BTRIM", signature([STRING, STRING], _STRING, optional=1), _trimmer("BOTH")),
    ScalarFunction(
        "SUBSTRING",
        _standard([CHARACTER, INTEGER, INTEGER], _varying(0, always_nullable=True), optional=1),
        _bind_substring,
        aliases=("SUBSTR",),
    ),
    ScalarFunction("LEFT", _standard([CHARACTER, INTEGER], _varying(0, always_nullable=True)), _without_bigint(left)),
    ScalarFunction("RIGHT", _standard([CHARACTER, INTEGER], _varying(0, always_nullable=True)), _without_bigint(right)),
    ScalarFunction(
        "LPAD",
        _standard([CHARACTER, INTEGER, CHARACTER], _STRING),
        _without_bigint(_by_units(lambda text, length, filling: pad(text, length, filling, False))),
    ),
    ScalarFunction(
        "RPAD",
        _standard([CHARACTER, INTEGER, CHARACTER], _STRING),
        _without_bigint(_by_units(lambda text, length, filling: pad(text, length, filling, True))),
    ),
    ScalarFunction("LOCATE", _standard([CHARACTER, CHARACTER, INTEGER], _INT, optional=1), _without_bigint(locate)),
    ScalarFunction("POSITION", _infer_position, _of_texts(locate)),
    ScalarFunction("INSTR", _standard([CHARACTER, CHARACTER, INTEGER, INTEGER], _INT, optional=2), by_value(instr)),
    ScalarFunction(
        "OVERLAY",
        _standard([CHARACTER, CHARACTER, INTEGER, INTEGER], _overlaid, optional=1),
        by_value(_by_units(overlay)),
    ),
    ScalarFunction("REPLACE", _standard([CHARACTER, CHARACTER, CHARACTER], _STRING), by_value(replace)),
    ScalarFunction("REPEAT", _standard([CHARACTER, INTEGER], _STRING), _of_texts(repeat)),
    ScalarFunction(
        "TRANSLATE",
        signature([STRING, STRING, STRING], _nullable_as_first),
        by_value(translate, nulls=True),
        aliases=("TRANSLATE3",),
    ),
    _affix("STARTSWITH", lambda text, start: bool(text.startswith(start))),
    _affix("ENDSWITH", lambda text, end: bool(text.endswith(end))),
)
