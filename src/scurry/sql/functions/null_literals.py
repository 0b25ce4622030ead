"""Refusal of the literal NULL: Calcite checks the families of arguments, and NULL has none."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from scurry.sql.functions.definition import CallSite
from scurry.sql.functions.operators.arithmetic import FORMS
from scurry.sql.functions.signatures import refuse
from scurry.sql.types.families import NUMERIC

ILLEGAL: Final = "Illegal use of 'NULL'"

_EVERYWHERE: Final = frozenset(
    """
    AND OR NOT % || IF ITEM ELEMENT CARDINALITY
    ABS SQRT CBRT LN LOG LOG10 LOG2 EXP SIN SINH COS COSH TAN TANH COT ASIN ACOS ATAN ATAN2 DEGREES RADIANS POWER SIGN
    ROUND TRUNCATE FLOOR CEIL CEILING MOD RAND RAND_INTEGER BIN HEX
    IS_ALPHA IS_DECIMAL IS_DIGIT CHAR_LENGTH CHARACTER_LENGTH UPPER LOWER INITCAP ASCII CHR CONCAT CONCAT_WS
    POSITION LOCATE INSTR REPEAT REVERSE REPLACE TRANSLATE OVERLAY SUBSTR SUBSTRING LEFT RIGHT LPAD RPAD TRIM LTRIM
    RTRIM REGEXP REGEXP_REPLACE REGEXP_EXTRACT SPLIT_INDEX STR_TO_MAP PARSE_URL
    FROM_BASE64 TO_BASE64 ENCODE DECODE MD5 SHA1 SHA2 SHA224 SHA256 SHA384 SHA512
    EXTRACT YEAR QUARTER MONTH WEEK DAYOFYEAR DAYOFMONTH DAYOFWEEK HOUR MINUTE SECOND
    TIMESTAMPADD TIMESTAMPDIFF DATE_FORMAT CONVERT_TZ FROM_UNIXTIME UNIX_TIMESTAMP TO_DATE TO_TIMESTAMP
    ARRAY_CONCAT ARRAY_UNION ARRAY_EXCEPT ARRAY_INTERSECT MAP_KEYS MAP_VALUES MAP_ENTRIES MAP_UNION MAP_FROM_ARRAYS
    TRY_PARSE_JSON TO_TIMESTAMP_LTZ BITMAP_TO_STRING BITMAP_TO_ARRAY
    """.split()
)
_FIRST: Final = frozenset(
    """
    ARRAY_CONTAINS ARRAY_POSITION ARRAY_REMOVE ARRAY_APPEND ARRAY_PREPEND ARRAY_DISTINCT ARRAY_REVERSE ARRAY_MIN
    ARRAY_MAX ARRAY_SORT ARRAY_JOIN ARRAY_SLICE ELT
    """.split()
)
#: Functions that may have a DEFAULT of NULL behind their input and path.
_FIRST_TWO: Final = frozenset({"JSON_VALUE", "JSON_QUERY", "JSON_EXISTS"})
_TRUTH: Final = ("TRUE", "FALSE", "UNKNOWN")
_PATTERNS: Final = frozenset({"LIKE", "NOT LIKE", "SIMILAR TO", "NOT SIMILAR TO"})


def null_refusal(site: CallSite, nulls: Collection[int]) -> tuple[int | None, str] | None:
    """Return why a function or operator refuses the literal NULL.

    Args:
        nulls: The places of the arguments that are NULL without a type.

    Returns:
        The place of the argument that is refused, None for the whole call, and the message; None if NULL is taken.
    """
    # One argument alone is taken.
    is_taken = site.name == "TO_TIMESTAMP_LTZ" and len(site.arguments) == 1
    refused = [place for place in nulls if not is_taken and _refuses(site.name, place)]
    if refused:
        return refused[0], ILLEGAL
    if site.name in FORMS:
        return _arithmetic(site, nulls)
    if site.name in _PATTERNS:
        return None, str(refuse(_with_first_type(site, nulls), f"'{site.name}(<STRING>, <STRING>, <STRING>)'"))
    return None


def _arithmetic(site: CallSite, nulls: Collection[int]) -> tuple[int | None, str] | None:
    if 0 in nulls:
        return 0, ILLEGAL
    if isinstance(site.types[0], NUMERIC):
        return min(nulls), ILLEGAL
    return None, str(refuse(_with_first_type(site, nulls), FORMS[site.name], infix=True))


def _with_first_type(site: CallSite, nulls: Collection[int]) -> CallSite:
    """Return the call as Calcite shows it: NULL has got the type of the first argument."""
    first = site.arguments[0]
    arguments = [replace(each, type=first.type) if n in nulls else each for n, each in enumerate(site.arguments)]
    return replace(site, arguments=tuple(arguments))


def _refuses(function: str, place: int) -> bool:
    if function in _EVERYWHERE or (place == 0 and function in _FIRST) or (place < 2 and function in _FIRST_TWO):
        return True
    return function.startswith("IS ") and (function.rpartition(" ")[2] in _TRUTH or " JSON" in function)
