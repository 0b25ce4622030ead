"""The hash of an operator's uid, by which Flink names operators in savepoints."""

from __future__ import annotations

_MASK = (1 << 64) - 1
_FIRST, _SECOND = 0x87C37B91114253D5, 0x4CF5AD432745937F


def uid_hash(uid: str) -> str:
    """Return the hash that Flink computes of a uid: MurmurHash3 of 128 bits, as 32 hexadecimal digits."""
    data = uid.encode()
    whole = len(data) // 16 * 16
    low = high = 0
    for place in range(0, whole, 16):
        first, second = _words(data[place : place + 16])
        low = ((_rotated(low ^ _mixed_first(first), 27) + high) * 5 + 0x52DCE729) & _MASK
        high = ((_rotated(high ^ _mixed_second(second), 31) + low) * 5 + 0x38495AB5) & _MASK
    first, second = _words(data[whole:])
    low ^= _mixed_first(first) ^ len(data)
    high ^= _mixed_second(second) ^ len(data)
    low = (low + high) & _MASK
    high = (high + low) & _MASK
    low, high = _avalanche(low), _avalanche(high)
    low = (low + high) & _MASK
    high = (high + low) & _MASK
    return (low.to_bytes(8, "little") + high.to_bytes(8, "little")).hex()


def _words(data: bytes) -> tuple[int, int]:
    return int.from_bytes(data[:8], "little"), int.from_bytes(data[8:], "little")


def _mixed_first(word: int) -> int:
    return _rotated(word * _FIRST & _MASK, 31) * _SECOND & _MASK


def _mixed_second(word: int) -> int:
    return _rotated(word * _SECOND & _MASK, 33) * _FIRST & _MASK


def _rotated(word: int, bits: int) -> int:
    return (word << bits | word >> 64 - bits) & _MASK


def _avalanche(word: int) -> int:
    word = (word ^ word >> 33) * 0xFF51AFD7ED558CCD & _MASK
    word = (word ^ word >> 33) * 0xC4CEB9FE1A85EC53 & _MASK
    return word ^ word >> 33
