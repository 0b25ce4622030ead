"""How many arguments functions take that Flink's planner has from Calcite: it words wrong numbers in another way."""

from __future__ import annotations

from typing import Final

__all__ = ["wrong_number"]

_NAMES: Final[dict[tuple[int, int | None], str]] = {
    (0, 0): "CURRENT_DATABASE CURRENT_ROW_TIMESTAMP E NOW PROCTIME UUID",
    (0, 1): "RAND",
    (0, 2): "UNIX_TIMESTAMP",
    (1, 1): (
        "ABS ACOS ASCII ASIN ATAN BIN CARDINALITY CHARACTER_LENGTH CHAR_LENGTH CHR COS COSH COT DAYOFMONTH DAYOFWEEK "
        "DAYOFYEAR DEGREES ELEMENT EXP FROM_BASE64 HEX HOUR INITCAP IS_ALPHA IS_DECIMAL IS_DIGIT LN LOG10 LOG2 LOWER "
        "MD5 MINUTE MONTH QUARTER RADIANS REVERSE SECOND SHA1 SHA224 SHA256 SHA384 SHA512 SIGN SIN SINH SQRT TAN TANH "
        "TO_BASE64 UPPER WEEK YEAR"
    ),
    (1, 2): "FROM_UNIXTIME LOG LTRIM RAND_INTEGER ROUND RTRIM TO_DATE TO_TIMESTAMP TRUNCATE",
    (1, 3): "STR_TO_MAP",
    (1, None): "CONCAT CONCAT_WS",
    (2, 2): "ATAN2 DATE_FORMAT DECODE ENCODE LEFT MOD NULLIF POWER REGEXP REPEAT RIGHT SHA2",
    (2, 3): "LOCATE PARSE_URL REGEXP_EXTRACT SUBSTR",
    (2, 4): "INSTR",
    (3, 3): "CONVERT_TZ IF LPAD REGEXP_REPLACE REPLACE RPAD SPLIT_INDEX",
}
_NUMBERS: Final = {name: numbers for numbers, names in _NAMES.items() for name in names.split()}


def wrong_number(name: str, given: int) -> str | None:
    """Return the message for a number of arguments that a function does not take; None if it is not of Calcite."""
    least, most = _NUMBERS.get(name, (0, None))
    if least <= given and (most is None or given <= most):
        return None
    return f"Invalid number of arguments to function '{name}'. Was expecting {least} arguments"
