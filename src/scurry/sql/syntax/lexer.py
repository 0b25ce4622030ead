"""Text to tokens."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from scurry.sql.syntax.keywords import KEYWORDS, NON_RESERVED

# Kinds of tokens that are no keyword and no symbol; those are their own kind.
IDENTIFIER: Final = "<IDENTIFIER>"
QUOTED_IDENTIFIER: Final = "<BACK_QUOTED_IDENTIFIER>"
STRING: Final = "<QUOTED_STRING>"
PREFIXED_STRING: Final = "<PREFIXED_STRING_LITERAL>"
UNICODE_STRING: Final = "<UNICODE_STRING_LITERAL>"
BINARY_STRING: Final = "<BINARY_STRING_LITERAL>"
INTEGER: Final = "<UNSIGNED_INTEGER_LITERAL>"
DECIMAL: Final = "<DECIMAL_NUMERIC_LITERAL>"
APPROXIMATE: Final = "<APPROX_NUMERIC_LITERAL>"
END: Final = "<EOF>"
SYMBOL: Final = "<SYMBOL>"
UNTERMINATED_COMMENT: Final = "<UNTERMINATED COMMENT>"
LEXICAL_ERROR: Final = "<LEXICAL ERROR>"

# Tokens that may stand where a name is expected.
IDENTIFIER_KEYS: Final = NON_RESERVED | {IDENTIFIER, QUOTED_IDENTIFIER}

# The letters and digits of Calcite's names.
LETTER: Final = (
    "$A-Z_a-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u1fff\u3040-\u318f\u3300-\u337f\u3400-\u3d2d\u4e00-\u9fff\uf900-\ufaff"
)
DIGIT: Final = "0-9\u0660-\u0669\u06f0-\u06f9\u0966-\u096f\u0ae6-\u0aef\u0e50-\u0e59"

_SKIPPED: Final = r"(?:[ \t\n\r\f]+|--[^\n\r]*|//[^\n\r]*|/\*(?!\+)(?:[^*]|\*(?!/))*+\*/)*+"
_TOKEN: Final = re.compile(
    rf"""{_SKIPPED}(?:
      ((?:_[A-Za-z0-9][A-Za-z0-9:.\-_]*|[nN])'(?:[^']|'')*')
    | ([uU]&'(?:[^']|'')*')
    | ([xX]'(?:[^']|'')*')
    | ([{LETTER}][{LETTER}{DIGIT}]*)
    | (`(?:[^`\n\r]|``)+`)
    | ('(?:[^']|'')*')
    | ((?:\d+\.?\d*|\.\d+)[eE][+-]?\d+)
    | (\d+\.\d*|\.\d+)
    | (\d+)
    | (/\*(?!\+).*)
    | (=>|<>|<=|>=|!=|\|\||\.\.|/\*\+|\*/|[(),.;=*+<>/\[\]?%:|^$}}'"-])
    | (\{{\ *(?:[tT][sS]|[fF][nN]|[dDtT]))
    | (\{{)
    | (.)
    )""",
    re.VERBOSE | re.DOTALL,
)
# The kind of a token by the group of the pattern that it matches.
_KINDS: Final = (
    "",
    PREFIXED_STRING,
    UNICODE_STRING,
    BINARY_STRING,
    IDENTIFIER,
    QUOTED_IDENTIFIER,
    STRING,
    APPROXIMATE,
    DECIMAL,
    INTEGER,
    UNTERMINATED_COMMENT,
    SYMBOL,
    SYMBOL,
    SYMBOL,
    LEXICAL_ERROR,
)


class Tokens(NamedTuple):
    """The tokens of a text, in three lists of equal length; the last token is the end of the text.

    Attributes:
        keys: What each token is: a keyword in upper case, a symbol, or one of the kinds above.
        starts: Offset of each token's first character.
        ends: Offset after each token's last character.
    """

    text: str
    keys: list[str]
    starts: list[int]
    ends: list[int]


def tokenize(text: str) -> Tokens:
    """Split a text into tokens, without blanks and comments.

    A character that begins no token becomes a token of its own, which no statement accepts: what stands before it is
    reported first, as in Flink.

    Args:
        text: The text of one or more statements.
    """
    keys: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    kinds, keywords = _KINDS, KEYWORDS
    at = 0
    for match in _TOKEN.finditer(text):
        if match.start() != at:
            break  # a comment ends the text
        at = match.end()
        group = match.lastindex or 0
        start, end = match.span(group)
        kind = kinds[group]
        if kind == IDENTIFIER:
            word = text[start:end].upper()
            if word in keywords or word == "$":
                kind = word
        elif kind == SYMBOL:
            kind = text[start:end].upper().replace(" ", "")
        keys.append(kind)
        starts.append(start)
        ends.append(end)
    keys.append(END)
    starts.append(len(text))
    ends.append(len(text))
    return Tokens(text, keys, starts, ends)
