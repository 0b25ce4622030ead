"""Measurement of the records and bytes of files, for all readers; errors of decoders that name the damaged file."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from scurry.connectors.source import MEASURED, MalformedRecords
from scurry.errors import MalformedRecordError, ScurryError
from scurry.errors.user_frames import only_user_frames

_BUILTIN = (EOFError, UnicodeDecodeError, zlib.error)
_RAISERS = ("pyarrow", "zlib", "gzip", "lzma", "_lzma", "bz2", "fastavro")


T = TypeVar("T")


def _records_of(block: Any) -> int:
    return len(block.errors if isinstance(block, MalformedRecords) else block)


def naming_damage(
    blocks: Iterable[T], path: str, start: int, size: int, count: Callable[[T], int] = _records_of
) -> Iterator[T]:
    """Yield the blocks of a file, and measure them; convert a decoder's error to one that names file and position.

    Args:
        blocks: The blocks that the file's format yields.
        path: The file.
        start: The first byte to read.
        size: The number of bytes to read.
        count: Returns the number of records of a block.

    Raises:
        MalformedRecordError: The file is damaged.
    """
    source, records = iter(blocks), 0
    while True:
        try:
            block = next(source)
        except StopIteration:
            MEASURED.get()(records, size)
            return
        except Exception as error:
            if not _is_damage(error):
                raise
            behind = f", read from byte {start:,} on" if start else ""
            reason = f"damaged or cut off behind record {records:,}{behind}: {type(error).__name__}: {error}"
            raise MalformedRecordError(path, None, "", reason) from error
        records += count(block)
        yield block


def _is_damage(error: Exception) -> bool:
    """Return whether a decoder raised the error, not the operating system or a user's schema."""
    if isinstance(error, ScurryError) or only_user_frames(error.__traceback__) is not None:
        return False
    if isinstance(error, OSError):  # decoders raise OSError without errno
        return error.errno is None
    return isinstance(error, _BUILTIN) or type(error).__module__.partition(".")[0] in _RAISERS
