"""Keys: their canonical form, their stable hash, their key group and subtask.

A user's key may be any Python value. The runtime hashes, compares and stores its *canonical form*. `str` and `int`,
by far the most frequent keys, are their own canonical form. All other keys become `bytes` that are equal exactly if
type and value are equal. That separates what Python's `==` confuses (1, True, 1.0), makes unhashable keys usable, and
does not depend on the process, unlike `hash(str)` and pickle's memo.
"""

from __future__ import annotations

import datetime
import decimal
import io
import pickle
import struct
import zlib
from collections.abc import Callable, Collection, Iterable, Sequence
from operator import itemgetter
from typing import Any

from scurry.errors import KeyTypeError

CanonicalKey = str | int | bytes

_PLAIN = frozenset((str, int))
_LENGTH = struct.Struct(">I")
_GROUP = struct.Struct(">H")
_TAG_OF, _INT_TAG = itemgetter(0), ord("i")
#: As many keys are hashed as an array; a small job does without NumPy, whose import takes longer.
_MANY = 256


def canonical_keys(keys: list[Any]) -> list[Any]:
    """Return the canonical forms of a block of keys: the same list if all keys are their own canonical form."""
    if set(map(type, keys)) <= _PLAIN:
        return keys
    return [key if type(key) in _PLAIN else encode_key(key) for key in keys]


def row_keys(columns: Sequence[list[Any]]) -> list[Any]:
    """Return the canonical forms of rows: of the value if there is one column, else of the tuple of the values.

    Args:
        columns: At least one column.
    """
    if len(columns) == 1:
        return canonical_keys(columns[0])
    return [b"t" + b"".join(parts) for parts in zip(*map(_encoded_parts, columns), strict=True)]


def original_key(key: CanonicalKey) -> Any:
    """Return the user's key of a canonical form."""
    return decode_key(key) if type(key) is bytes else key


def sortable(key: CanonicalKey) -> bytes:
    """Return a canonical key as bytes, for sorters."""
    return key if type(key) is bytes else encode_key(key)


def from_sortable(data: bytes) -> CanonicalKey:
    """Invert `sortable`."""
    return decode_key(data) if data[:1] in b"is" else data  # the tags of int and str


def sortables(keys: Sequence[CanonicalKey]) -> list[bytes]:
    """Return some canonical keys as `sortable` does one by one."""
    some: Sequence[Any] = keys
    kinds = set(map(type, some))
    if kinds == {bytes}:
        return list(some)
    if kinds == {int}:
        return [b"i%d" % key for key in some]
    return list(map(sortable, some))


def from_sortables(data: Sequence[bytes]) -> list[CanonicalKey]:
    """Invert `sortables`."""
    if set(map(_TAG_OF, data)) == {_INT_TAG}:
        return [int(each[1:]) for each in data]
    return list(map(from_sortable, data))


class KeyOrder:
    """The order of the keys of a BATCH job: strings and numbers in their own, others by their bytes.

    Args:
        groups: The number of key groups, which come before keys in the order; None is without them.
    """

    def __init__(self, groups: int | None = None) -> None:
        self._groups = groups

    def sort(self, keys: Collection[CanonicalKey]) -> list[Any]:
        if self._groups is None and len(set(map(type, keys))) == 1:
            some: Any = keys
            return sorted(some)
        return sorted(keys, key=self.bytes_of)

    def bytes_of(self, key: CanonicalKey) -> bytes:
        """Return a key as bytes in the same order, for sorters and comparisons."""
        encoded = _ordered_int(key) if type(key) is int else sortable(key)
        return encoded if self._groups is None else _GROUP.pack(key_hash(key) % self._groups) + encoded


def _ordered_int(number: int) -> bytes:
    """Return an int as bytes in the order of ints: its length and its bytes, inverted if it is negative."""
    size = (number if number >= 0 else ~number).bit_length() + 7 >> 3
    length = 128 + size if size < 127 else 255 << 64 | size
    head = length.to_bytes(1 if size < 127 else 9, "big")
    if number >= 0:
        return b"i" + head + number.to_bytes(size, "big")
    return b"i" + bytes(255 - each for each in head + (~number).to_bytes(size, "big"))


def key_hash(key: CanonicalKey) -> int:
    """Return a 32-bit hash that is the same in every process and release."""
    if type(key) is str:
        hashed = zlib.crc32(key.encode("utf-8", "surrogatepass"))
    elif type(key) is int:
        hashed = zlib.crc32(b"%d" % key)
    else:
        hashed = zlib.crc32(key)  # type: ignore[arg-type]
    # similar keys have similar CRCs: mix them as murmur does, or keys 0 to 9 would all belong to one subtask
    hashed = (hashed ^ hashed >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    hashed = (hashed ^ hashed >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    return hashed ^ hashed >> 16


def key_hashes(keys: Sequence[CanonicalKey]) -> list[int]:
    """Return the hashes of some keys, as `key_hash` does one by one."""
    crc32, kinds = zlib.crc32, set(map(type, keys))
    if len(keys) < _MANY or len(kinds) > 1:
        return list(map(key_hash, keys))
    import numpy as np

    some: Any = keys
    if int in kinds:
        some = [b"%d" % key for key in some]
    elif str in kinds:
        some = [key.encode("utf-8", "surrogatepass") for key in some]
    hashed: Any = list(map(crc32, some))
    hashed = np.array(hashed, dtype=np.uint64)
    hashed = (hashed ^ hashed >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    hashed = (hashed ^ hashed >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    found: list[int] = (hashed ^ hashed >> 16).tolist()
    return found


def subtask_of(hashed: int, max_parallelism: int, parallelism: int) -> int:
    """Return the subtask of a key with this hash; each subtask has a range of key groups, as in Flink."""
    return hashed % max_parallelism * parallelism // max_parallelism


def groups_of(subtask: int, max_parallelism: int, parallelism: int) -> range:
    """Return the key groups of a subtask: those that `subtask_of` maps to it."""
    return range(-(-subtask * max_parallelism // parallelism), -(-(subtask + 1) * max_parallelism // parallelism))


# ------------------------------------------------------------------ the encoding of everything but str and int


def encode_key(key: Any) -> bytes:
    """Encode any value; equal bytes mean same type and equal value."""
    encoder = _ENCODERS.get(type(key))
    return encoder(key) if encoder is not None else _encode_other(key)


def decode_key(data: bytes) -> Any:
    """Invert `encode_key`."""
    tag, body = data[:1], data[1:]
    if tag == b"p":
        return pickle.loads(body)
    return _DECODERS[tag](body)


def _encode_other(key: Any) -> bytes:
    if type(key).__module__ == "scurry.common.types" and type(key).__name__ == "Row":
        return b"r" + _join(map(encode_key, (*_row_head(key), *key)))
    buffer = io.BytesIO(b"p")
    buffer.seek(1)
    pickler = pickle.Pickler(buffer, 5)
    pickler.fast = True  # no memo: Pair(a, a) and Pair(a, copy of a) are one key and must give the same bytes
    try:
        pickler.dump(key)
    except (pickle.PicklingError, AttributeError, TypeError, ValueError) as error:
        raise KeyTypeError(
            f"a {type(key).__name__} cannot be a key: {error}; let the key selector return a str, an int or a tuple of "
            "such, or an object of a class defined at the top of a module"
        ) from error
    return buffer.getvalue()


def _row_head(row: Any) -> tuple[Any, ...]:
    names = getattr(row, "_fields", None)
    return (row.get_row_kind().value, None if names is None else list(names))


def _decode_row(body: bytes) -> Any:
    from scurry.common.types import Row, RowKind

    kind, names, *values = _parts(body)
    row = Row(*values)
    if names is not None:
        row.set_field_names(names)
    row.set_row_kind(RowKind(kind))
    return row


def _join(parts: Iterable[bytes]) -> bytes:
    return b"".join(_LENGTH.pack(len(part)) + part for part in parts)


def _parts(body: bytes) -> list[Any]:
    parts, at = [], 0
    while at < len(body):
        (length,) = _LENGTH.unpack_from(body, at)
        at += 4
        parts.append(decode_key(body[at : at + length]))
        at += length
    return parts


def _encoded_parts(values: Sequence[Any]) -> list[bytes]:
    kinds, pack = set(map(type, values)), _LENGTH.pack
    encode = _ENCODERS.get(kinds.pop(), encode_key) if len(kinds) == 1 else encode_key
    return [pack(len(part)) + part for part in map(encode, values)]


def _sequence(tag: bytes) -> Callable[[Any], bytes]:
    return lambda values: tag + _join(map(encode_key, values))


def _set(tag: bytes) -> Callable[[Any], bytes]:
    return lambda values: tag + _join(sorted(map(encode_key, values)))


def _dict(mapping: dict[Any, Any]) -> bytes:
    items = sorted((encode_key(k), encode_key(v)) for k, v in mapping.items())
    return b"d" + b"".join(_LENGTH.pack(len(part)) + part for item in items for part in item)


def _float(value: float) -> bytes:
    return b"f" + struct.pack(">d", float("nan") if value != value else value)


_ENCODERS: dict[type, Callable[[Any], bytes]] = {
    type(None): lambda key: b"n",
    bool: lambda key: b"b1" if key else b"b0",
    int: lambda key: b"i%d" % key,
    float: _float,
    str: lambda key: b"s" + key.encode("utf-8", "surrogatepass"),
    bytes: lambda key: b"y" + key,
    tuple: _sequence(b"t"),
    list: _sequence(b"l"),
    dict: _dict,
    set: _set(b"e"),
    frozenset: _set(b"z"),
    datetime.date: lambda key: b"D" + key.isoformat().encode(),
    decimal.Decimal: lambda key: b"m" + str(key).encode(),
}

_DECODERS: dict[bytes, Callable[[bytes], Any]] = {
    b"n": lambda body: None,
    b"b": lambda body: body == b"1",
    b"i": int,
    b"f": lambda body: struct.unpack(">d", body)[0],
    b"s": lambda body: body.decode("utf-8", "surrogatepass"),
    b"y": bytes,
    b"t": lambda body: tuple(_parts(body)),
    b"l": _parts,
    b"e": lambda body: set(_parts(body)),
    b"z": lambda body: frozenset(_parts(body)),
    b"d": lambda body: dict(zip(*[iter(_parts(body))] * 2, strict=True)),
    b"r": _decode_row,
    b"D": lambda body: datetime.date.fromisoformat(body.decode()),
    b"m": lambda body: decimal.Decimal(body.decode()),
}
