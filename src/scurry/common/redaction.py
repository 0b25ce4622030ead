"""Remove secrets from texts and configurations that leave a job (logs, errors, plans, REST).

A secret is recognised by the name before it (`password=...`, `{"apiKey": ...}`, `Authorization: Bearer ...`) or by its
place (`//user:secret@host`, `scott/tiger@host`). If a text is ambiguous, more is hidden rather than less.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import NamedTuple

__all__ = ["HIDDEN", "has_secret", "is_secret", "redacted", "without_secrets"]

HIDDEN = "******"

# Flink's own list (GlobalConfiguration.SENSITIVE_KEYS), and how Spark, Hadoop and cloud clients name theirs.
_SECRET_KEY = (
    r"password|passwd|passphrase|passcode|secret|token|credential|api[-_.]?key|service-key|auth-?params|basic-auth"
    r"|jaas\.config|http-headers|authorization|account[-_.]?key|access[-_.]?key|private[-_.]?key|sas\.|signature"
    r"|(?:^|[._-])(?:pass|pw|pwd)$"
)
_SECRET_KEY_IN_CAMEL_CASE = r"[a-z](?:Pass|Pw|Pwd|PW|PWD)$"

# The part of a parameter's name by which it is recognised: the text before it is not hidden anyway.
_WORDS = (
    r"(?:password|passwd|passphrase|passcode|secret|credential|api[-_.]?key|account[-_.]?key|access[-_.]?key"
    r"|private[-_.]?key|(?<![a-z])pwd|[._-](?:pass|pw))"
)
_NAME = rf"(?:{_WORDS}|token|signature|(?<![a-z])(?:sig|pass|pw))(?![a-z])[\w.-]{{0,60}}"
_LONG_NAME = rf"(?:{_WORDS}|token|signature)[\w.-]{{0,60}}"
# A comma belongs to the value unless another `key=` comes after it.
_BARE = r"(?:[^\s&;,\"'\\]|,(?!\s{0,4}[\w.-]{1,60}\s{0,4}[=:]))+"


class _Rule(NamedTuple):
    """A pattern, its replacement, and texts of which each match has one, in small letters."""

    pattern: str
    replacement: str
    signs: tuple[str, ...]


def _rule(before: str, value: str, *signs: str) -> _Rule:
    return _Rule(f"(?P<before>{before}){value}", rf"\g<before>\g<quote>{HIDDEN}\g<quote>", signs)


_QUOTED = r"""(?P<quote>\\?["'])(?:\\{3}.|\\.|(?!(?P=quote)).)*?(?P=quote)"""
_VALUE = rf"(?:{_QUOTED}|{_BARE})"
_SIGNS_OF_NAMES = ("pass", "secret", "credential", "key", "pw", "token", "sig")
_RULES = (
    # Authorization: Bearer ..., "authorization": "Basic ..."
    _rule(r"""authorization\\?["']?\s*[=:]\s*\\?["']?""", r"""(?P<quote>)[^\r\n"'\\,]+""", "authorization"),
    _rule(r"\bBearer\s+", r"(?P<quote>)[\w.~+/=-]{6,}", "bearer"),
    # //user:pass@word@host: up to the last @, because passwords are not always encoded
    _rule(r"""://[^\s/@:"'<>]{0,256}:""", r"""(?P<quote>)[^\s"'<>]{1,1024}(?=@)""", "@"),
    # scott/tiger@host, scott/"pass word"@host
    _rule(
        r"""(?:^|[\s"'=(,]|:(?!/))[A-Z][\w$#]{0,60}/""",
        r"""(?P<quote>)(?:"[^"]{1,256}"|[^\s"']{1,256})(?=@[\w/(\[])""",
        "@",
    ),
    # password=..., password => ..., "password": ..., password: ..., --password ..., PASSWORD '...'
    _rule(rf"""(?:{_NAME}|{_LONG_NAME})\\?["']?\s{{0,4}}(?:=>|:=|=)\s{{0,4}}""", _VALUE, *_SIGNS_OF_NAMES),
    _rule(rf"""(?:{_NAME}|{_LONG_NAME})\\?["']\s{{0,4}}:\s{{0,4}}""", _VALUE, *_SIGNS_OF_NAMES),
    _rule(rf"(?:{_WORDS}|(?<=[\w.-])token)[\w.-]{{0,60}}\s{{0,4}}:\s{{0,4}}", _VALUE, *_SIGNS_OF_NAMES),
    _rule(rf"--[\w-]{{0,60}}?{_LONG_NAME}\s+", _VALUE, *_SIGNS_OF_NAMES),
    _rule(r"(?:password|identified\s+by)\s+", _QUOTED, "password", "identified"),
    _rule(
        "-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----",
        r"(?P<quote>).*?(?=-----END [A-Z ]{0,20}PRIVATE KEY-----|$)",
        "private key",
    ),
)


def is_secret(key: str) -> bool:
    """Return whether the name of a key marks its value as a secret."""
    return bool(_compiled(_SECRET_KEY, re.IGNORECASE).search(key) or _compiled(_SECRET_KEY_IN_CAMEL_CASE).search(key))


def has_secret(key: str, value: str) -> bool:
    """Return whether a value is a secret, or has one in it, such as an address with a password."""
    return is_secret(key) or without_secrets(value) != value


def redacted(configuration: Mapping[str, str]) -> dict[str, str]:
    """Return a configuration without its secrets: the values of secret keys, and secrets within other values."""
    return {key: HIDDEN if is_secret(key) else without_secrets(value) for key, value in configuration.items()}


def without_secrets(text: str, configuration: Mapping[str, str] | None = None) -> str:
    """Return a text without secrets.

    Args:
        text: The text.
        configuration: Values of its secret keys are hidden wherever they occur, except short ones, which could occur by
            chance.
    """
    for key, value in (configuration or {}).items():
        if len(value) >= _SHORTEST_KNOWN and value in text and is_secret(key):
            text = text.replace(value, HIDDEN)
    small = text.lower() if text.isascii() else None  # other letters match some of ASCII, too
    for pattern, replacement, signs in _RULES:
        if small is None or any(sign in small for sign in signs):
            text = _compiled(pattern, re.IGNORECASE | re.DOTALL).sub(replacement, text)
    return text


_SHORTEST_KNOWN = 8


@functools.cache
def _compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Compile a pattern when a text first needs it: all of them take longer than a small program."""
    return re.compile(pattern, flags)


# Control characters of ASCII and Latin-1, what changes the direction of a text, and halves of characters, which cannot
# be encoded. Terminals execute what begins with ESC, or with U+009B.
_UNSAFE = "\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_IN_TEXTS = f"[{_UNSAFE}]"
_IN_LINES = f"[\t\n\u2028\u2029{_UNSAFE}]"


def printable(text: str) -> str:
    r"""Return a text whose control characters are shown (`\x1b`) instead of executed; lines and tabs stay."""
    return text if text.isprintable() else _compiled(_IN_TEXTS).sub(_shown, text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    r"""Return a text as one line: as `printable`, and line breaks and tabs are shown, too (`\n`)."""
    return text if text.isprintable() else _compiled(_IN_LINES).sub(_shown, text)


def _shown(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()
