"""Translation of JDBC's placeholders (`?`) in SQL, outside of quotes and comments."""

from __future__ import annotations

import re
from collections.abc import Callable

from scurry.errors import ArgumentError

STANDARD = re.compile(
    r"""
    [eE]'(?:[^'\\]|\\.|'')*'                                # text with escapes
    | '(?:[^']|'')*'                                        # text
    | "(?:[^"]|"")*"                                        # quoted name
    | `(?:[^`]|``)*`
    | --[^\n]*
    | \$(?P<tag>(?:[A-Za-z_]\w*)?)\$.*?\$(?P=tag)\$         # dollar-quoted text
    | [^\W\d][\w$]*                                         # names, which may end in e or contain $
    | (?P<comment>/\*)
    | (?P<mark>\?\??)
    | (?P<foreign>\$\d+)
    | (?P<open>['"`])
    """,
    re.VERBOSE | re.DOTALL,
)
#: Text has escapes, also in double quotes, `--` begins a comment only before a space, and comments do not nest.
MYSQL = re.compile(
    r"""
    '(?:[^'\\]|\\.|'')*'
    | "(?:[^"\\]|\\.|"")*"
    | `(?:[^`]|``)*`
    | (?:\#|--(?=\s|$))[^\n]*
    | /\*.*?\*/
    | [^\W\d][\w$]*
    | (?P<comment>(?!))
    | (?P<mark>\?\??)
    | (?P<foreign>\$\d+|%s|\0)
    | (?P<open>['"`]|/\*)
    """,
    re.VERBOSE | re.DOTALL,
)
_COMMENT = re.compile(r"/\*|\*/")


def translate(sql: str, placeholder: Callable[[int], str], tokens: re.Pattern[str] = STANDARD) -> tuple[str, int]:
    """Replace the placeholders of a statement; `??` is a literal question mark, as with PostgreSQL's JDBC driver.

    Args:
        sql: The statement.
        placeholder: Returns the driver's placeholder of a parameter, counted from 1.
        tokens: Pattern of tokens that the database's SQL has as they are.

    Returns:
        The statement for the driver, and the number of its parameters.

    Raises:
        ArgumentError: A quote or comment has no end, or there is a parameter such as `$1`.
    """
    parts: list[str] = []
    count = at = copied = 0
    while token := tokens.search(sql, at):
        at = token.end()
        if token["comment"]:
            at = _end_of_comment(sql, at)
        elif token["open"]:
            raise ArgumentError(f"the quote {token['open']} at character {token.start() + 1} has no end: {sql}")
        elif token["foreign"]:
            raise ArgumentError(f"write ? for a parameter, not {token['foreign']}: {sql}")
        elif token["mark"]:
            parts.append(sql[copied : token.start()])
            if token["mark"] == "?":
                count += 1
                parts.append(placeholder(count))
            else:
                parts.append("?")
            copied = at
    return "".join(parts) + sql[copied:], count


def _end_of_comment(sql: str, at: int) -> int:
    """Return the end of a comment; comments nest in PostgreSQL."""
    begun, depth = at, 1
    while depth:
        end = _COMMENT.search(sql, at)
        if end is None:
            raise ArgumentError(f"the comment at character {begun - 1} has no end: {sql}")
        depth += 1 if end[0] == "/*" else -1
        at = end.end()
    return at
