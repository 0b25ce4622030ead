"""Sets of characters, as Java's character classes describe them."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import groupby
from typing import Final, NamedTuple

from scurry.errors import EvaluationError

Range = tuple[int, int]


class Characters(NamedTuple):
    """A set of characters.

    Attributes:
        ranges: Ranges of code points with both ends, in order and apart.
    """

    ranges: tuple[Range, ...]

    @classmethod
    def of(cls, ranges: Iterable[Range]) -> Characters:
        """Return the set of some ranges, in any order."""
        found: list[Range] = []
        for first, last in sorted(ranges):
            if found and first <= found[-1][1] + 1:
                found[-1] = found[-1][0], max(found[-1][1], last)
            else:
                found.append((first, last))
        return cls(tuple(found))

    @classmethod
    def listed(cls, text: str) -> Characters:
        return cls.of((ord(each), ord(each)) for each in text)

    def union(self, other: Characters) -> Characters:
        return Characters.of((*self.ranges, *other.ranges))

    def complement(self) -> Characters:
        """Return all other characters."""
        bounds = [-1, *(each for first, last in self.ranges for each in (first - 1, last)), sys.maxunicode]
        pairs = zip(bounds[::2], bounds[1::2], strict=True)
        return Characters(tuple((before + 1, last) for before, last in pairs if before < last))

    def intersection(self, other: Characters) -> Characters:
        return self.complement().union(other.complement()).complement()

    def in_both_cases(self, is_unicode: bool) -> Characters:
        """Return the characters with their other cases, those of ASCII only unless it is of Unicode."""
        last = sys.maxunicode if is_unicode else 0x7F
        letters = (chr(code) for low, high in self.ranges for code in range(low, min(high, last) + 1))
        cases = (
            case for each in letters if each.isalpha() for case in (each.upper(), each.lower(), each.upper().lower())
        )
        return Characters.of((*self.ranges, *((ord(each),) * 2 for each in cases if len(each) == 1)))

    def pattern(self) -> str:
        """Return a pattern of Python that matches one of the characters."""
        if not self.ranges:
            return "(?!)"
        others = self.complement().ranges
        if not others:
            return "(?s:.)"
        sign, ranges = ("^", others) if len(others) < len(self.ranges) else ("", self.ranges)
        if not sign and len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
            return re.escape(chr(ranges[0][0]))
        return f"[{sign}{''.join(f'{_shown(first)}-{_shown(last)}' for first, last in ranges)}]"


def _shown(code: int) -> str:
    return f"\\U{code:08x}"


_DIGITS = Characters.of([(0x30, 0x39)])
_WORDS = Characters.of([(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)])
_SPACES = Characters.listed(" \t\n\x0b\f\r")
_HORIZONTAL = Characters.of([*((ord(each),) * 2 for each in " \t\xa0\u1680\u180e\u202f\u205f\u3000"), (0x2000, 0x200A)])
_VERTICAL = Characters.listed("\n\x0b\f\r\x85\u2028\u2029")

#: Characters of an escape.
ESCAPED: Final = {
    **{"d": _DIGITS, "w": _WORDS, "s": _SPACES, "h": _HORIZONTAL, "v": _VERTICAL},
    **{"D": _DIGITS.complement(), "W": _WORDS.complement(), "S": _SPACES.complement()},
    **{"H": _HORIZONTAL.complement(), "V": _VERTICAL.complement()},
}

#: POSIX's classes, of ASCII.
_OF_ASCII: Final[dict[str, tuple[Range, ...]]] = {
    "Lower": ((0x61, 0x7A),),
    "Upper": ((0x41, 0x5A),),
    "ASCII": ((0, 0x7F),),
    "Alpha": ((0x41, 0x5A), (0x61, 0x7A)),
    "Digit": ((0x30, 0x39),),
    "Alnum": ((0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)),
    "Punct": ((0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)),
    "Graph": ((0x21, 0x7E),),
    "Print": ((0x20, 0x7E),),
    "Blank": ((0x09, 0x09), (0x20, 0x20)),
    "Cntrl": ((0, 0x1F), (0x7F, 0x7F)),
    "XDigit": ((0x30, 0x39), (0x41, 0x46), (0x61, 0x66)),
    "Space": ((0x09, 0x0D), (0x20, 0x20)),
}

#: The categories of characters with a property.
_BY_CATEGORY: Final[dict[str, tuple[str, ...]]] = {
    "ALPHABETIC": ("L", "Nl"),
    "LETTER": ("L",),
    "DIGIT": ("Nd",),
    "TITLECASE": ("Lt",),
    "PUNCTUATION": ("P",),
    "CONTROL": ("Cc",),
}

#: Predicates of other properties of characters.
_BY_CHARACTER: Final[dict[str, Callable[[str], bool]]] = {
    "UPPERCASE": str.isupper,
    "LOWERCASE": str.islower,
    "WHITE_SPACE": lambda each: each.isspace() and each not in "\x1c\x1d\x1e\x1f",
}

_CATEGORIES = frozenset(
    "L M N P S Z C Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co Cn".split()
)
_CASED = ("Lu", "Ll", "Lt")


@lru_cache(1)
def _categories() -> list[tuple[str, int, int]]:
    """Return the categories of all characters, in runs of one."""
    runs = groupby(range(sys.maxunicode + 1), lambda code: unicodedata.category(chr(code)))
    sizes = [(category, next(codes), sum(1 for _ in codes)) for category, codes in runs]
    return [(category, first, first + others) for category, first, others in sizes]


@lru_cache(64)
def with_property(name: str, in_both_cases: bool) -> Characters:
    r"""Return the characters with a property, as `\\p{name}`.

    Args:
        in_both_cases: Whether letters of one case stand for those of all.

    Raises:
        EvaluationError: There is no such property, or one that only Java knows.
    """
    if name in _OF_ASCII:
        return Characters(_OF_ASCII["Alpha" if in_both_cases and name in ("Lower", "Upper") else name])
    known = name.removeprefix("Is").removeprefix("general_category=").removeprefix("gc=")
    if name.startswith("Is") and known.upper() in _BY_CHARACTER:
        test = _BY_CHARACTER[known.upper()]
        return Characters.of((code, code) for code in range(sys.maxunicode + 1) if test(chr(code)))
    if name.startswith("Is") and known.upper() in _BY_CATEGORY:
        wanted = _BY_CATEGORY[known.upper()]
    elif known in _CATEGORIES:
        wanted = _CASED if in_both_cases and known in _CASED else (known,)
    else:
        raise EvaluationError(f"Unknown character property name {{{name}}}")
    return Characters.of((first, last) for category, first, last in _categories() if category.startswith(wanted))
