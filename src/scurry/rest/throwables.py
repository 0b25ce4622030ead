"""Failures as Flink's clients read them: with an exception that Java has serialized."""

from __future__ import annotations

import base64

from scurry.rest.models import FailureCause

#: Java 17's serialized form of Flink's SerializedThrowable with these three texts as message, stack trace and class.
_WRITTEN = base64.b64decode(
    "rO0ABXNyAClvcmcuYXBhY2hlLmZsaW5rLnV0aWwuU2VyaWFsaXplZFRocm93YWJsZWUWnfUfpxPzAgADTAAZZnVsbFN0cmluZ2lmaWVkU3RhY2tU"
    "cmFjZXQAEkxqYXZhL2xhbmcvU3RyaW5nO0wAFm9yaWdpbmFsRXJyb3JDbGFzc05hbWVxAH4AAVsAE3NlcmlhbGl6ZWRFeGNlcHRpb250AAJbQnhy"
    "ABNqYXZhLmxhbmcuRXhjZXB0aW9u0P0fPho7HMQCAAB4cgATamF2YS5sYW5nLlRocm93YWJsZdXGNSc5d7jLAwAETAAFY2F1c2V0ABVMamF2YS9s"
    "YW5nL1Rocm93YWJsZTtMAA1kZXRhaWxNZXNzYWdlcQB+AAFbAApzdGFja1RyYWNldAAeW0xqYXZhL2xhbmcvU3RhY2tUcmFjZUVsZW1lbnQ7TAAU"
    "c3VwcHJlc3NlZEV4Y2VwdGlvbnN0ABBMamF2YS91dGlsL0xpc3Q7eHBwdAAIQG1lc3NhZ2V1cgAeW0xqYXZhLmxhbmcuU3RhY2tUcmFjZUVsZW1l"
    "bnQ7AkYqPDz9IjkCAAB4cAAAAABzcgAfamF2YS51dGlsLkNvbGxlY3Rpb25zJEVtcHR5TGlzdHq4F7Q8p57eAgAAeHB4dAAGQHRyYWNldAAGQGNs"
    "YXNzdXIAAltCrPMX+AYIVOACAAB4cAAAAAA="
)
_PLACES = tuple(b"t\0" + bytes([len(text)]) + text.encode() for text in ("@message", "@trace", "@class"))
#: Characters of a text; more would need another form than Java's short one, which has up to 65,535 bytes.
_MOST = 10_000


def failure_cause(kind: str, text: str) -> FailureCause:
    """Return a failure in Flink's message.

    Args:
        kind: Name of the error's class.
        text: What has happened.
    """
    written = _WRITTEN
    for place, value in zip(_PLACES, (text, f"{kind}: {text}", kind), strict=True):
        written = written.replace(place, _java_text(value), 1)
    return FailureCause(class_=kind, stack_trace=text, serialized_throwable=base64.b64encode(written).decode())


def _java_text(text: str) -> bytes:
    """Return a text as Java's streams write it: UTF-16 units, each as UTF-8, zero as two bytes."""
    units = text[:_MOST].encode("utf-16-be", "surrogatepass")
    encoded = b"".join(
        b"\xc0\x80" if unit == b"\0\0" else unit.decode("utf-16-be", "surrogatepass").encode("utf-8", "surrogatepass")
        for unit in (units[at : at + 2] for at in range(0, len(units), 2))
    )
    return b"t" + len(encoded).to_bytes(2, "big") + encoded
