"""Regular expressions as Java's `Pattern` reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from scurry.common._java_regex.characters import ESCAPED, Characters, with_property
from scurry.errors import EvaluationError

_IN_A_LINE = r"[^\n\r\x85\u2028\u2029]"
_LINE_BREAK = r"(?:\r\n|[\n-\r\x85\u2028\u2029])"
#: Before the last end of line, or at the end.
_LAST = r"(?=(?:\r\n|(?<!\r)\n|[\r\x85\u2028\u2029])?\Z)"
_BEGINS_LINE = r"(?:(?!\Z)(?:\A|(?<=\n)|(?<=\r)(?!\n)|(?<=[\x85\u2028\u2029])))"
_ENDS_LINE = r"(?=\r\n|(?<!\r)\n|[\r\x85\u2028\u2029]|\Z)"

_CONTROLS = {"t": 0x09, "n": 0x0A, "r": 0x0D, "f": 0x0C, "a": 0x07, "e": 0x1B}
#: `re` repeats an assertion only in a group.
_ASSERTIONS = {"A": r"(?:\A)", "z": r"(?:\Z)", "Z": _LAST, "b": r"(?u:\b)", "B": r"(?:(?u:\B)|\A\Z)"}

_QUANTIFIER = re.compile(r"\{(\d+)(,\d*)?\}", re.ASCII)
_GROUP_NAME = re.compile(r"\(\?<([A-Za-z][A-Za-z0-9]*)>")
_FLAGS = re.compile(r"\(\?([a-zA-Z]*)(?:-([a-zA-Z]*))?([:)])")


def translated(pattern: str) -> str:
    """Return a regular expression of Python, for flag ASCII, with the groups of one of Java.

    Raises:
        EvaluationError: It is malformed, or has what Python's `re` has not.
    """
    return _Translator(pattern).whole()


class _Translator:
    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._found: list[str] = []
        self._flags = ""
        #: the flags outside each open group
        self._open: list[str] = []
        self._groups = 0

    def whole(self) -> str:
        while self._at < len(self._pattern):
            self._next()
        if self._open:
            raise EvaluationError(f"Unclosed group near index {len(self._pattern)}")
        return "".join(self._found)

    def _next(self) -> None:
        character = self._take()
        if character == "\\":
            self._escape()
        elif character == "[":
            self._found.append(self._class(True).pattern())
        elif character == ".":
            self._found.append(self._any())
        elif character == "^":
            self._found.append(_BEGINS_LINE if "m" in self._flags else r"(?:\A)")
        elif character == "$":
            self._found.append(_ENDS_LINE if "m" in self._flags else _LAST)
        elif character == "(":
            self._begin_group()
        elif character == ")":
            if not self._open:
                raise EvaluationError("Unmatched closing ')'")
            self._flags = self._open.pop()
            self._found.append(")")
        elif character == "{":
            self._repeat()
        elif character in "*+?|":
            self._found.append(character)
        elif "x" in self._flags and character in " \t\n\x0b\f\r#":
            if character == "#":
                self._at = min(map(self._end_of, "\n\r\x85\u2028\u2029"))
        else:
            self._found.append(self._literal(character))

    def _end_of(self, character: str) -> int:
        place = self._pattern.find(character, self._at)
        return len(self._pattern) if place < 0 else place

    def _any(self) -> str:
        """Return the translation of a dot."""
        if "s" in self._flags:
            return "(?s:.)"
        return r"[^\n]" if "d" in self._flags else _IN_A_LINE

    def _take(self) -> str:
        if self._at >= len(self._pattern):
            raise EvaluationError("Unexpected end of the pattern")
        self._at += 1
        return self._pattern[self._at - 1]

    def _peek(self) -> str:
        return self._pattern[self._at : self._at + 1]

    def _cased(self, first: int, last: int) -> Characters:
        """Return a range of characters, in both cases if the flags say so."""
        found = Characters.of([(first, last)])
        return found.in_both_cases("u" in self._flags) if "i" in self._flags else found

    def _literal(self, character: str) -> str:
        return self._cased(ord(character), ord(character)).pattern()

    # ---------------------------------------------------------------- groups and repetitions

    def _begin_group(self) -> None:
        start = self._at - 1
        named = _GROUP_NAME.match(self._pattern, start)
        flags = _FLAGS.match(self._pattern, start)
        if flags is not None:
            self._at = flags.end()
            new = self._with_flags(flags[1], flags[2] or "")
            if flags[3] == ":":
                self._open.append(self._flags)
                self._found.append("(?:")
            self._flags = new
            return
        self._open.append(self._flags)
        if named is not None:
            self._at = named.end()
            self._groups += 1
            self._found.append(f"(?P<{named[1]}>")
            return
        for kind in ("(?<=", "(?<!", "(?=", "(?!", "(?>"):
            if self._pattern.startswith(kind, start):
                self._at = start + len(kind)
                self._found.append(kind)
                return
        if self._peek() == "?":
            raise EvaluationError(f"Unknown group type near index {start}")
        self._groups += 1
        self._found.append("(")

    def _with_flags(self, on: str, off: str) -> str:
        unknown = set(on + off) - set("idmsuxU")
        if unknown:
            raise EvaluationError(f"Unknown inline modifier {''.join(sorted(unknown))}")
        if "U" in on:
            raise EvaluationError("The inline modifier U is not supported")
        return "".join(sorted((set(self._flags) | set(on)) - set(off)))

    def _repeat(self) -> None:
        found = _QUANTIFIER.match(self._pattern, self._at - 1)
        if found is None or (self._found and self._found[-1] == "|") or not self._found:
            raise EvaluationError(f"Illegal repetition near index {self._at - 1}")
        self._at = found.end()
        self._found.append(found[0])

    # ---------------------------------------------------------------- escapes

    def _escape(self) -> None:
        kind = self._take()
        if kind in _ASSERTIONS:
            self._found.append(_ASSERTIONS[kind])
        elif kind == "R":
            # Repeated, it does not give back the second of two characters.
            self._found.append(_LINE_BREAK if self._peek() not in ("*", "+", "{") else _LINE_BREAK.replace("?:", "?>"))
        elif kind == "Q":
            end = self._pattern.find("\\E", self._at)
            quoted = self._pattern[self._at : end if end >= 0 else len(self._pattern)]
            self._found += map(self._literal, quoted)
            self._at = end + 2 if end >= 0 else len(self._pattern)
        elif kind == "k":
            end = self._end_of(">")
            self._found.append(f"(?P={self._pattern[self._at + 1 : end]})")
            self._at = end + 1
        elif kind in "123456789":
            self._refer(int(kind))
        else:
            self._found.append(self._escaped(kind).pattern())

    def _refer(self, number: int) -> None:
        """Refer to a group: more digits are part of its number if there are as many groups."""
        while self._peek().isdigit() and self._groups >= number * 10 + int(self._peek()):
            number = number * 10 + int(self._take())
        text = f"(?:\\{number})" if number <= self._groups else "(?!)"
        self._found.append(f"(?i:{text})" if "i" in self._flags else text)

    def _escaped(self, kind: str) -> Characters:
        """Return the characters of an escape whose first character was taken."""
        if kind in ESCAPED:
            return ESCAPED[kind]
        if kind in "pP":
            found = with_property(self._property(), "i" in self._flags)
            return found.complement() if kind == "P" else found
        code = self._code(kind)
        return self._cased(code, code)

    def _property(self) -> str:
        if self._peek() != "{":
            return self._take()
        end = self._end_of("}")
        name = self._pattern[self._at + 1 : end]
        self._at = end + 1
        return name

    def _code(self, kind: str) -> int:
        if kind in _CONTROLS:
            return _CONTROLS[kind]
        if kind == "0":
            return self._number(r"[0-3][0-7]{2}|[0-7]{1,2}", 8)
        if kind == "x":
            return self._number(r"[0-9a-fA-F]{2}|\{[0-9a-fA-F]+\}", 16)
        if kind == "u":
            return self._number(r"[0-9a-fA-F]{4}", 16)
        if kind == "c":
            return ord(self._take()) ^ 64
        if kind.isascii() and kind.isalnum():
            raise EvaluationError(f"Illegal/unsupported escape sequence \\{kind} near index {self._at - 1}")
        return ord(kind)

    def _number(self, digits: str, base: int) -> int:
        found = re.compile(digits).match(self._pattern, self._at)
        if found is None:
            raise EvaluationError(f"Illegal escape sequence near index {self._at}")
        self._at = found.end()
        number = int(found[0].strip("{}"), base)
        if number > 0x10FFFF:
            raise EvaluationError("Hexadecimal codepoint is too big")
        return number

    # ---------------------------------------------------------------- classes of characters

    def _class(self, consumes: bool) -> Characters:
        """Return the characters of a class; its bracket was taken, or it is the right side of `&&`."""
        is_negated = consumes and self._peek() == "^"
        self._at += is_negated
        found: Characters | None = None
        while True:
            character = self._peek()
            if not character:
                raise EvaluationError("Unclosed character class")
            if character == "]" and found is not None:
                self._at += consumes
                return found.complement() if is_negated else found
            if character == "[":
                self._at += 1
                some = self._class(True)
            elif self._pattern.startswith("&&", self._at):
                found = self._intersected(found)
                continue
            else:
                some = self._range()
            found = some if found is None else found.union(some)

    def _intersected(self, left: Characters | None) -> Characters | None:
        """Return the intersection of both sides of `&&`."""
        self._at += 2
        right: Characters | None = None
        while self._peek() not in ("]", "&", ""):
            if self._peek() == "[":
                self._at += 1
                some = self._class(True)
            else:
                some = self._class(False)
            right = some if right is None else right.union(some)
        if left is None and right is None:
            raise EvaluationError("Bad class syntax")
        return left if right is None else right if left is None else left.intersection(right)

    def _range(self) -> Characters:
        character = self._take()
        if character == "\\":
            kind = self._take()
            if kind in ESCAPED or kind in "pP":
                return self._escaped(kind)
            if kind == "Q":
                raise EvaluationError("\\Q inside a character class is not supported")
            first = self._code(kind)
        else:
            first = ord(character)
        after = self._pattern[self._at + 1 : self._at + 2]
        if self._peek() != "-" or after in ("", "]", "["):
            return self._cased(first, first)
        self._at += 1
        last = self._take()
        code = self._code(self._take()) if last == "\\" else ord(last)
        if code < first:
            raise EvaluationError(f"Illegal character range near index {self._at}")
        return self._cased(first, code)


@lru_cache(maxsize=512)
def compiled(pattern: str) -> re.Pattern[str]:
    """Return the pattern of a Java regular expression.

    Raises:
        EvaluationError: The expression is malformed.
    """
    try:
        return re.compile(translated(pattern), re.ASCII)
    except (re.error, OverflowError, RecursionError) as error:
        raise EvaluationError(f"Invalid regular expression '{pattern}': {error}") from error


def tried(pattern: str) -> re.Pattern[str] | None:
    """Return the pattern of a Java regular expression, None if that is malformed."""
    try:
        return compiled(pattern)
    except EvaluationError:
        return None


def matches(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Iterate over the matches as `Matcher.find`: one without characters is followed by the next character.

    Python's `finditer` looks for a match with characters in the same place.
    """
    at = 0
    while at <= len(text) and (match := pattern.search(text, at)) is not None:
        yield match
        at = match.end() + (match.start() == match.end())


def replaced(pattern: re.Pattern[str], text: str, replacement: str) -> str:
    """Return the text with another one, which is taken literally, in place of each match."""
    parts, at = [], 0
    for match in matches(pattern, text):
        parts += [text[at : match.start()], replacement]
        at = match.end()
    return "".join([*parts, text[at:]])


def split_java(pattern: re.Pattern[str], text: str, limit: int = 0) -> list[str]:
    """Split a text as `String.split` does: empty parts at the end are left out, unless there is a limit.

    Args:
        pattern: What separates the parts.
        limit: The greatest number of parts; 0 for any.
    """
    parts: list[str] = []
    start = 0
    for found in matches(pattern, text):
        if limit and len(parts) == limit - 1:
            break
        if found.end() == 0 or (
            found.end() == found.start() and found.start() in (start, len(text)) and start == found.start()
        ):
            continue
        parts.append(text[start : found.start()])
        start = found.end()
    parts.append(text[start:])
    if not limit:
        while len(parts) > 1 and not parts[-1]:
            parts.pop()
    return parts
