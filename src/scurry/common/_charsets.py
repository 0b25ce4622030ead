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
    """Return the bytes of a text; in UTF-16, a non-empty text begins with a byte order mark."""
    if codec not in _MARKS:
        return text.encode(codec, "replace")
    mark = codecs.BOM_UTF16_BE if text and codec == "utf-16" else b""
    return mark + text.encode(f"{codec}-be", "replace")


def decode(data: bytes, codec: str) -> str:
    marks = _MARKS.get(codec)
    return data.decode(codec if marks is None or data.startswith(marks) else f"{codec}-be", "replace")


def text_of(data: bytes, errors: str = "strict") -> str:
    """Return the text of a message in UTF-8, UTF-16 or UTF-32, found as Jackson finds it: by its mark or its zeros.

    Args:
        errors: What becomes of bytes that are no text, as for `bytes.decode`.

    Raises:
        UnicodeDecodeError: They are refused, and there are some.
    """
    codec, mark = detected(data)
    return str(data[mark:] if mark else data, codec, errors)


def detected(data: bytes) -> tuple[str, int]:
    """Return the codec of a text that begins with these bytes, of which four are enough, and the size of its mark."""
    if len(data) > 1 and (data[0] in _UNUSUAL or not data[1]):
        for mark, codec in _DETECTED:
            if data.startswith(mark):
                return codec, len(mark)
        for codec, zeros in _WITHOUT_MARK:
            if len(data) >= len(zeros) and all((not byte) == zero for byte, zero in zip(data, zeros, strict=False)):
                return codec, 0
    return "utf-8", 0


#: the first bytes of marks, and that of ASCII in UTF-16 and UTF-32
_UNUSUAL = frozenset((0x00, 0xEF, 0xFE, 0xFF))
#: longer marks first: that of UTF-32 begins as that of UTF-16 does
_DETECTED = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
)
#: which of the bytes of an ASCII character are zero
_WITHOUT_MARK = (
    ("utf-32-be", (True, True, True, False)),
    ("utf-32-le", (False, True, True, True)),
    ("utf-16-be", (True, False)),
    ("utf-16-le", (False, True)),
)
