"""The arguments of functions as Flink's messages show them, and the messages for calls with others.

Functions that Flink's planner has from Calcite are worded by Calcite, those of its own by Flink.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from scurry.sql.functions.definition import SignatureError
from scurry.sql.functions.signatures import standard_name
from scurry.sql.types import (
    CharType,
    DataType,
    DayTimeIntervalType,
    DecimalType,
    DoubleType,
    IntegralType,
    IntType,
    LocalZonedTimestampType,
    NullType,
    NumericType,
    SymbolType,
    TimestampType,
    VarCharType,
    YearMonthIntervalType,
)
from scurry.sql.types.cast_rules import supports_cast
from scurry.sql.types.families import STRING

#: Names of functions, then the arguments that they take.
_OF_CALCITE: Final = """
ABS
    (<NUMERIC>)
    (<DATETIME_INTERVAL>)
ACOS ASIN ATAN AVG COS COSH COT DEGREES EXP LN LOG10 LOG2 RADIANS SIGN SIN SINH SQRT STDDEV_POP STDDEV_SAMP SUM TAN
TANH VARIANCE VAR_POP VAR_SAMP
    (<NUMERIC>)
ASCII CHARACTER_LENGTH CHAR_LENGTH CONCAT CONCAT_WS INITCAP LOWER REVERSE UPPER
    (<CHARACTER>)
ATAN2 POWER
    (<NUMERIC>, <NUMERIC>)
BIN CHR NTILE
    (<INTEGER>)
CARDINALITY
    (<MULTISET>)
    (<ARRAY>)
    (<MAP>)
CEIL FLOOR
    (<NUMERIC>)
    (<DATETIME_INTERVAL>)
    (<DATE> TO <TIME_UNIT>)
    (<TIME> TO <TIME_UNIT>)
    (<TIMESTAMP> TO <TIME_UNIT>)
CONVERT_TZ REGEXP_REPLACE REPLACE
    (<CHARACTER>, <CHARACTER>, <CHARACTER>)
CURRENT_ROW_TIMESTAMP NOW
    ()
DATE_FORMAT
    (<TIMESTAMP>, <CHARACTER>)
    (<CHARACTER>, <CHARACTER>)
DECODE
    (<BINARY>, <CHARACTER>)
ELEMENT
    (<MULTISET>)
    (<ARRAY>)
ENCODE REGEXP
    (<CHARACTER>, <CHARACTER>)
FROM_BASE64 MD5 SHA1 SHA224 SHA256 SHA384 SHA512 TO_BASE64
    (<STRING>)
FROM_UNIXTIME
    (<INTEGER>)
    (<INTEGER>, <CHARACTER>)
HEX
    (<INTEGER>)
    (<CHARACTER>)
IF
    (<ANY_TYPE>, <NUMERIC_TYPE>, <NUMERIC_TYPE>)
    (<BOOLEAN>, <CHARACTER>, <CHARACTER>)
    (<BOOLEAN>, <BOOLEAN>, <BOOLEAN>)
    (<BOOLEAN>, <BINARY>, <BINARY>)
    (<BOOLEAN>, <DATE>, <DATE>)
    (<BOOLEAN>, <TIMESTAMP>, <TIMESTAMP>)
    (<BOOLEAN>, <TIME>, <TIME>)
INSTR
    (<CHARACTER>, <CHARACTER>)
    (<CHARACTER>, <CHARACTER>, <INTEGER>)
    (<CHARACTER>, <CHARACTER>, <INTEGER>, <INTEGER>)
IS_ALPHA IS_DECIMAL IS_DIGIT
    (<CHARACTER>)
    (<NUMERIC>)
LAG LEAD
    (<ANY>)
    (<ANY>, <NUMERIC>)
    (<ANY>, <NUMERIC>, <ANY>)
LEFT REPEAT RIGHT
    (<CHARACTER>, <INTEGER>)
LISTAGG
    (<CHARACTER>)
    (<CHARACTER>, <CHARACTER_LITERAL>)
LOCATE
    (<CHARACTER>, <CHARACTER>)
    (<CHARACTER>, <CHARACTER>, <INTEGER>)
LOG RAND_INTEGER
    (<NUMERIC>)
    (<NUMERIC>, <NUMERIC>)
LPAD RPAD
    (<CHARACTER>, <INTEGER>, <CHARACTER>)
LTRIM RTRIM TO_DATE TO_TIMESTAMP
    (<CHARACTER>)
    (<CHARACTER>, <CHARACTER>)
MOD
    (<EXACT_NUMERIC>, <EXACT_NUMERIC>)
PARSE_URL
    (<CHARACTER>, <CHARACTER>)
    (<CHARACTER>, <CHARACTER>, <CHARACTER>)
RAND
    ()
    (<NUMERIC>)
REGEXP_EXTRACT
    (<CHARACTER>, <CHARACTER>, <INTEGER>)
    (<CHARACTER>, <CHARACTER>)
ROUND TRUNCATE
    (<NUMERIC>, <INTEGER>)
    (<NUMERIC>)
SHA2
    (<STRING>, <INTEGER>)
SPLIT_INDEX
    (<CHARACTER>, <INTEGER>, <INTEGER>)
    (<CHARACTER>, <CHARACTER>, <INTEGER>)
STR_TO_MAP
    (<CHARACTER>)
    (<CHARACTER>, <CHARACTER>, <CHARACTER>)
SUBSTR SUBSTRING
    (<CHARACTER>, <INTEGER>)
    (<CHARACTER>, <INTEGER>, <INTEGER>)
UNIX_TIMESTAMP
    ()
    (<CHARACTER>)
    (<CHARACTER>, <CHARACTER>)
DAYOFMONTH DAYOFWEEK DAYOFYEAR HOUR MINUTE MONTH QUARTER SECOND WEEK YEAR
    (<DATETIME>)
COLLECT ARRAY_AGG FIRST_VALUE LAST_VALUE MAX MIN
    (<ANY>)
CURRENT_DATABASE E PROCTIME UUID
    ()
NULLIF
    (<ANY>, <ANY>)
ROW_NUMBER RANK DENSE_RANK CUME_DIST PERCENT_RANK
    ()
"""
_OF_FLINK: Final = """
ARRAY_APPEND ARRAY_PREPEND
    (array <ARRAY>, element <ARRAY ELEMENT>)
ARRAY_CONCAT COALESCE MAP_UNION
    (<COMMON>, <COMMON>...)
ARRAY_CONTAINS ARRAY_POSITION ARRAY_REMOVE
    (haystack <ARRAY>, needle <ARRAY ELEMENT>)
ARRAY_DISTINCT ARRAY_REVERSE
    (haystack <ARRAY>)
ARRAY_EXCEPT ARRAY_INTERSECT ARRAY_UNION
    (<COMMON>, <COMMON>)
ARRAY_JOIN
    (ARRAY<STRING>, <CHARACTER_STRING>)
    (ARRAY<STRING>, <CHARACTER_STRING>, <CHARACTER_STRING>)
ARRAY_MAX ARRAY_MIN
    (<ARRAY<COMPARABLE>>)
ARRAY_SLICE
    (<ARRAY>, <INTEGER>, <INTEGER>)
    (<ARRAY>, <INTEGER>)
ARRAY_SORT
    (<ARRAY<COMPARABLE>>)
    (<ARRAY<COMPARABLE>>, <BOOLEAN>)
    (<ARRAY<COMPARABLE>>, <BOOLEAN>, <BOOLEAN>)
BITMAP_AND BITMAP_ANDNOT BITMAP_OR BITMAP_XOR
    (bitmap1 <BITMAP>, bitmap2 <BITMAP>)
BITMAP_AND_AGG BITMAP_AND_CARDINALITY_AGG BITMAP_CARDINALITY BITMAP_OR_AGG BITMAP_OR_CARDINALITY_AGG BITMAP_TO_ARRAY
BITMAP_TO_BYTES BITMAP_TO_STRING BITMAP_XOR_AGG BITMAP_XOR_CARDINALITY_AGG
    (bitmap <BITMAP>)
BITMAP_BUILD
    (array ARRAY<INT> NOT NULL)
    (array ARRAY<INT>)
BITMAP_BUILD_AGG BITMAP_BUILD_CARDINALITY_AGG
    (value <INTEGER>)
BITMAP_FROM_BYTES
    (bytes <BINARY_STRING>)
BTRIM
    (str <CHARACTER_STRING>)
    (str <CHARACTER_STRING>, trimStr <CHARACTER_STRING>)
ELT
    (index <INTEGER_NUMERIC>, expr <CHARACTER_STRING>, exprs <CHARACTER_STRING>...)
    (index <INTEGER_NUMERIC>, expr <BINARY_STRING>, exprs <BINARY_STRING>...)
ENDSWITH
    (expr <CHARACTER_STRING>, endExpr <CHARACTER_STRING>)
    (expr <BINARY_STRING>, endExpr <BINARY_STRING>)
GREATEST LEAST
    (<COMPARABLE>...)
IFNULL
    (input <COMMON>, null_replacement <COMMON>)
INET_ATON JSON JSON_QUOTE JSON_UNQUOTE URL_DECODE URL_ENCODE
    (<CHARACTER_STRING>)
INET_NTOA
    (<INTEGER_NUMERIC>)
JSON_STRING
    ([<CHARACTER_STRING> | <BINARY_STRING> | <TIMESTAMP> | <CONSTRUCTED> | <NUMERIC> | <STRUCTURED_TYPE> |
        <DISTINCT_TYPE> | <BOOLEAN> | <VARIANT>])
MAP_ENTRIES MAP_KEYS MAP_VALUES
    (input <MAP>)
MAP_FROM_ARRAYS
    (keysArray <ARRAY>, valuesArray <ARRAY>)
PARSE_JSON TRY_PARSE_JSON
    (<CHARACTER_STRING>)
    (<CHARACTER_STRING>, <BOOLEAN>)
PERCENTILE
    (expr <NUMERIC>, percentage [<NUMERIC NOT NULL> | ARRAY<NUMERIC NOT NULL> NOT NULL])
    (expr <NUMERIC>, percentage [<NUMERIC NOT NULL> | ARRAY<NUMERIC NOT NULL> NOT NULL], frequency
        <INTEGER_NUMERIC>)
PRINTF
    (format <CHARACTER_STRING>, obj <ANY>...)
REGEXP_COUNT REGEXP_INSTR REGEXP_SUBSTR
    (str <CHARACTER_STRING>, regex <CHARACTER_STRING>)
REGEXP_EXTRACT_ALL
    (str <CHARACTER_STRING>, regex <CHARACTER_STRING>)
    (str <CHARACTER_STRING>, regex <CHARACTER_STRING>, extractIndex <INTEGER_NUMERIC>)
SPLIT
    (<CHARACTER_STRING>, <CHARACTER_STRING>)
STARTSWITH
    (expr <CHARACTER_STRING>, startExpr <CHARACTER_STRING>)
    (expr <BINARY_STRING>, startExpr <BINARY_STRING>)
TO_TIMESTAMP_LTZ
    (<CHARACTER_STRING>)
    (<CHARACTER_STRING>, pattern <CHARACTER_STRING>)
    (<CHARACTER_STRING>, pattern <CHARACTER_STRING>, timezone <CHARACTER_STRING>)
    (<NUMERIC>)
    (<NUMERIC>, <INTEGER_NUMERIC>)
TYPEOF
    (input <ANY>)
    (input <ANY>, force_serializable [<BOOLEAN> & <LITERAL NOT NULL>])
UNHEX
    (expr <CHARACTER_STRING>)
CURRENT_DATE SOURCE_WATERMARK
    ()
CURRENT_TIME CURRENT_TIMESTAMP LOCALTIME LOCALTIMESTAMP
    (<INTEGER>)
    ()
"""
#: Functions whose only parameter may be repeated, though it is not shown.
_REPEATED: Final = frozenset({"CONCAT", "CONCAT_WS", "COUNT"})
#: Parameters, the types that they take, and the type to convert others to.
_CONVERTED: Final[dict[str, tuple[tuple[type[DataType], ...], DataType]]] = {
    "<NUMERIC>": ((NumericType,), DoubleType()),
    "<EXACT_NUMERIC>": ((IntegralType, DecimalType), IntType()),
    "<INTEGER>": ((IntegralType,), IntType()),
    "<CHARACTER>": ((CharType, VarCharType), STRING),
    "<STRING>": ((CharType, VarCharType), STRING),
    "<TIMESTAMP>": ((TimestampType, LocalZonedTimestampType), TimestampType(3)),
}
#: Beginnings of messages that say only that the types do not fit.
_OF_TYPES: Final = (
    "Cannot apply",
    "Invalid function call",
    "Invalid input arguments",
    "Unsupported argument type",
    "All arguments requires",
)


def _read(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    names: list[str] = []
    forms: list[str] = []
    for line in [*text.strip().splitlines(), ""]:
        if line.startswith("        "):
            forms[-1] += f" {line.strip()}"
        elif line.startswith(" "):
            forms.append(line.strip())
        if line.startswith(" "):
            continue
        if forms:
            yield from ((name, tuple(name + each for each in forms)) for name in names)
            names, forms = [], []
        names += line.split()


_CALCITE: Final = dict(_read(_OF_CALCITE))
_FLINK: Final = dict(_read(_OF_FLINK))


def takes_number(name: str, given: int) -> bool:
    """Return whether a function takes so many arguments, as far as its forms are known."""
    forms = _forms(name)
    if not forms or (name in _REPEATED and given):
        return True
    return any(least <= given <= most for least, most in map(_numbers, forms))


def _forms(name: str) -> tuple[str, ...]:
    return _CALCITE.get(name) or _FLINK.get(name, ())


def _numbers(form: str) -> tuple[int, float]:
    """Return the least and the greatest number of arguments that a form has."""
    body, depth = form[form.index("(") + 1 : -1], 0
    number = 1 if body else 0
    for letter in body:
        depth += (letter in "<([{") - (letter in ">)]}")
        number += letter == "," and depth == 0
    return (max(number - 1, 1), float("inf")) if body.endswith("...") else (number, number)


def wrong_call(name: str, types: Sequence[DataType], error: SignatureError) -> tuple[str, str]:
    """Return the message and the hint for a call that a function refuses.

    Args:
        name: The function, in upper case.
        error: What the function says.
    """
    forms, number = _forms(name), len(types)
    if not forms or any(isinstance(each, SymbolType) for each in types):
        return str(error), ""
    if not takes_number(name, number):
        if name in _FLINK:
            return no_signature(name, types), f"write {' or '.join(forms)}"
        least = min(_numbers(each)[0] for each in forms)
        message = f"Invalid number of arguments to function '{name}'. Was expecting {least} arguments"
        return message, "" if forms == (f"{name}()",) else f"write {' or '.join(forms)}"
    if not str(error).startswith(_OF_TYPES):
        return str(error), ""
    if name in _FLINK:
        shown = ", ".join(each.as_summary_string() for each in types)
        return f"Invalid function call:\n{name}({shown})", f"write {' or '.join(forms)}"
    shown = ", ".join(f"<{standard_name(each)}>" for each in types)
    supported = "\n".join(f"'{each}'" for each in forms)
    return f"Cannot apply '{name}' to arguments of type '{name}({shown})'. Supported form(s): {supported}", ""


def cure(name: str, types: Sequence[DataType], texts: Sequence[str]) -> str:
    """Return the replacement for the first argument that a form of a function does not accept.

    Args:
        texts: The arguments as they are written.
    """
    given = f"the arguments are {', '.join(each.as_summary_string() for each in types)}"
    for parameters in map(_parameters, _forms(name)):
        for parameter, data_type, text in zip(parameters, types, texts, strict=False):
            known = _CONVERTED.get(parameter)
            if known is None or isinstance(data_type, (*known[0], NullType)):
                continue
            if name in ("TO_TIMESTAMP", "DATE_FORMAT") and isinstance(data_type, NumericType):
                return f"{given}: TO_TIMESTAMP_LTZ({text}, 3) makes a time of milliseconds"
            if supports_cast(data_type, known[1]):
                return f"{given}: write CAST({text} AS {known[1].as_summary_string()})"
    return f"{given}: CAST(... AS ...) converts one"


def _parameters(form: str) -> list[str]:
    return form[form.index("(") + 1 : -1].split(", ")


def no_signature(name: str, types: Sequence[DataType]) -> str:
    """Return the message for a name that no function has with such arguments."""
    text = f"No match found for function signature {name}({', '.join(f'<{family(each)}>' for each in types)})"
    forms = _FLINK.get(name)
    if forms is not None and name.startswith(("CURRENT_", "LOCALTIME")):
        forms = tuple(f"'{each}'" for each in forms)
    return text if forms is None else "\n".join([f"{text}.", "Supported signatures are:", *forms])


def family(data_type: DataType) -> str:
    """Return the name by which Calcite's messages list a type of an argument."""
    if isinstance(data_type, NumericType):
        return "NUMERIC"
    if isinstance(data_type, DayTimeIntervalType):
        return "INTERVAL_DAY_TIME"
    if isinstance(data_type, YearMonthIntervalType):
        return "INTERVAL_YEAR_MONTH"
    return "CHARACTER" if isinstance(data_type, CharType | VarCharType) else standard_name(data_type)
