"""Character sets as in Java: UTF-16 and UTF-32 are big-endian unless a mark says otherwise, unlike in Python.

What a character set cannot express becomes `?`, and bytes it cannot read become U+FFFD.
"""

from __future__ import annotations

import codecs

#: The marks by which a text tells its byte order, by codec.
_MARKS = {
    "utf-16": (codecs.BOM_UTF16_BE, codecs.BOM_UTF16_LE),
    "utf-32": (codecs.BOM_UTF32_BE, codecs.BOM_UTF32_LE),
}


def codec_of(charset: str) -> str:
    """Return Python's name of a character set.

    Raises:
        LookupError: Python does not know it.
    """
    return codecs.lookup(charset).name


def has_byte_order(codec: str) -> bool:
    """Return whether texts of this codec may begin with a mark."""
    return codec in _MARKS


def encode(text: str, codec: str) -> bytes:
    """Return the bytes of a text; in UTF-16, they begin with a mark unless there are none."""
    if codec not in _MARKS:
        return text.encode(codec, "replace")
    mark = codecs.BOM_UTF16_BE if text and codec == "utf-16" else b""
    return mark + text.encode(f"{codec}-be", "replace")


def decode(data: bytes, codec: str) -> str:
    """Return the text of bytes."""
    marks = _MARKS.get(codec)
    return data.decode(codec if marks is None or data.startswith(marks) else f"{codec}-be", "replace")
