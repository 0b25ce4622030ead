"""Texts and bytes in other forms: character sets, base 64, hashes, addresses."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Callable, Sequence
from typing import Final
from urllib.parse import quote_plus

from scurry.errors import EvaluationError
from scurry.sql.functions.definition import CallSite, ScalarFunction, Signature, SignatureError
from scurry.sql.functions.kernels import by_value
from scurry.sql.functions.signatures import Infer, Parameter, always, if_any_nullable, refuse, signature
from scurry.sql.types import CharType, DataType, VarCharType
from scurry.sql.types.families import BIGINT, BINARY, BYTES, CHARACTER, INTEGER, STRING

_HASHED: Final[Parameter] = (*CHARACTER, *BINARY)
_CODECS: Final = {"utf-16": "utf-16-be", "iso-8859-1": "latin-1", "us-ascii": "ascii"}
_ADDRESS: Final = re.compile(
    r"(?P<PROTOCOL>[A-Za-z][A-Za-z0-9+.-]*):(?://(?P<AUTHORITY>(?:(?P<USERINFO>[^/?#@]*)@)?(?P<HOST>\[[^\]]*\]|[^/?#:]*)"
    r"(?::\d*)?))?(?P<PATH>[^?#]*)(?:\?(?P<QUERY>[^#]*))?(?:#(?P<REF>.*))?"
)
_PROTOCOLS: Final = {"http", "https", "ftp", "file", "jar", "mailto"}


def _codec(charset: str) -> str:
    known = charset.lower()
    return _CODECS.get(known, known)


def encode(text: str, charset: str) -> bytes:
    """ENCODE: the bytes of a text in a character set; missing characters become question marks."""
    try:
        mark = b"\xfe\xff" if charset.lower() == "utf-16" and text else b""
        return mark + text.encode(_codec(charset), "replace")
    except LookupError:
        raise EvaluationError(f"Unsupported encoding: {charset}") from None


def decode(data: bytes, charset: str) -> str:
    """DECODE: the text of bytes in a character set."""
    try:
        if charset.lower() == "utf-16" and data[:2] in (b"\xfe\xff", b"\xff\xfe"):
            return data.decode("utf-16", "replace")
        return data.decode(_codec(charset), "replace")
    except LookupError:
        raise EvaluationError(f"Unsupported encoding: {charset}") from None


def to_base64(text: str | bytes) -> str:
    """TO_BASE64: bytes, or those of a text in UTF-8, as base 64."""
    return base64.b64encode(text.encode() if isinstance(text, str) else text).decode()


def from_base64(text: str) -> str:
    """FROM_BASE64: the text in UTF-8 that is in base 64."""
    for character in text:
        if not (character.isascii() and (character.isalnum() or character in "+/=")):
            raise EvaluationError(f"Illegal base64 character {ord(character):x}")
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4)).decode("utf-8", "replace")
    except binascii.Error as error:
        raise EvaluationError(f"Input byte array has wrong 4-byte ending unit: {error}") from error


def url_encode(text: str) -> str:
    """URL_ENCODE: a text as application/x-www-form-urlencoded."""
    return quote_plus(text, safe="*-._").replace("~", "%7E")


def url_decode(text: str) -> str | None:
    """URL_DECODE: a text from application/x-www-form-urlencoded, NULL if that is malformed."""
    if re.search(r"%(?![0-9a-fA-F]{2})", text):
        return None
    plain = text.replace("+", " ").encode("utf-8", "surrogatepass")
    return re.sub(rb"%([0-9a-fA-F]{2})", lambda found: bytes([int(found[1], 16)]), plain).decode("utf-8", "replace")


def parse_url(address: str, part: str, key: str | None = None) -> str | None:
    """PARSE_URL: a part of an address, or the value of a key in its query."""
    found = _ADDRESS.fullmatch(address.strip())
    if found is None or found["PROTOCOL"].lower() not in _PROTOCOLS:
        return None
    if key is not None:
        if part != "QUERY" or found["QUERY"] is None:
            return None
        value = re.search(rf"(?:&|^){re.escape(key)}=([^&]*)", found["QUERY"])
        return None if value is None else value[1]
    if part == "FILE":
        return found["PATH"] if found["QUERY"] is None else f"{found['PATH']}?{found['QUERY']}"
    return found[part] if part in _ADDRESS.groupindex else None


def inet_aton(text: str) -> int | None:
    """INET_ATON: the number of an IPv4 address."""
    parts = text.split(".")
    if len(parts) > 4 or not all(part.isascii() and part.isdigit() and int(part) < 256 for part in parts):
        return None
    # The last part of a shorter address is its last byte.
    *upper, last = map(int, parts)
    return int.from_bytes(bytes([*upper, *[0] * (4 - len(parts)), last]), "big")


def inet_ntoa(number: int) -> str | None:
    """INET_NTOA: the IPv4 address of a number."""
    if not 0 <= number <= 0xFFFF_FFFF:
        return None
    return ".".join(map(str, number.to_bytes(4, "big")))


def _digest(name: str) -> Callable[[str | bytes], str]:
    return lambda data: hashlib.new(name, data.encode() if isinstance(data, str) else data).hexdigest()


def sha2(data: str | bytes, bits: int) -> str:
    """SHA2: the hash of a number of bits."""
    if bits not in (224, 256, 384, 512):
        raise EvaluationError(f"Unsupported algorithm: SHA-{bits}")
    return _digest(f"sha{bits}")(data)


def _infer_hash(parameters: Sequence[Parameter], result: DataType) -> Infer:
    inferred = signature(parameters, if_any_nullable(result))

    def infer(site: CallSite) -> Signature:
        if len(site.arguments) != len(parameters):
            raise SignatureError(
                f"Invalid number of arguments to function '{site.name}'. Was expecting {len(parameters)} arguments"
            )
        try:
            return inferred(site)
        except SignatureError:
            raise refuse(site, f"'{site.name}(<CHARACTER>)'") from None

    return infer


def _hash(name: str, length: int, algorithm: str) -> ScalarFunction:
    return ScalarFunction(name, _infer_hash([_HASHED], CharType(length)), by_value(_digest(algorithm)))


FUNCTIONS = (
    ScalarFunction("ENCODE", signature([CHARACTER, CHARACTER], if_any_nullable(BYTES)), by_value(encode)),
    ScalarFunction("DECODE", signature([BINARY, CHARACTER], if_any_nullable(STRING)), by_value(decode)),
    ScalarFunction("TO_BASE64", signature([_HASHED], if_any_nullable(STRING)), by_value(to_base64)),
    ScalarFunction("FROM_BASE64", signature([CHARACTER], if_any_nullable(STRING)), by_value(from_base64)),
    ScalarFunction("URL_ENCODE", signature([CHARACTER], always(STRING)), by_value(url_encode)),
    ScalarFunction("URL_DECODE", signature([CHARACTER], always(STRING)), by_value(url_decode)),
    ScalarFunction(
        "PARSE_URL", signature([CHARACTER, CHARACTER, CHARACTER], always(STRING), optional=1), by_value(parse_url)
    ),
    ScalarFunction("INET_ATON", signature([CHARACTER], always(BIGINT)), by_value(inet_aton)),
    ScalarFunction("INET_NTOA", signature([INTEGER], always(STRING)), by_value(inet_ntoa)),
    _hash("MD5", 32, "md5"),
    _hash("SHA1", 40, "sha1"),
    _hash("SHA224", 56, "sha224"),
    _hash("SHA256", 64, "sha256"),
    _hash("SHA384", 96, "sha384"),
    _hash("SHA512", 128, "sha512"),
    ScalarFunction("SHA2", _infer_hash([_HASHED, INTEGER], VarCharType(128)), by_value(sha2)),
)
