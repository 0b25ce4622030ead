"""Functions of BITMAP: sets of whole numbers."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

from scurry.sql.functions.bitmaps import Bits, bits_of, packed, unpacked
from scurry.sql.functions.casts.texts import text_of
from scurry.sql.functions.definition import CallSite, EvaluationContext, ScalarFunction, Signature, SignatureError
from scurry.sql.functions.kernels import by_value
from scurry.sql.functions.signatures import Infer, if_any_nullable
from scurry.sql.types import ArrayType, BitmapType, DataType, IntType, NullType
from scurry.sql.types.families import BIGINT, BINARY, BYTES, INT, STRING

_BITMAP = BitmapType()


def _takes(result: DataType, *types: type[DataType], count: int = 1) -> Infer:
    def infer(site: CallSite) -> Signature:
        fits = all(isinstance(each, (*types, NullType)) for each in site.types)
        if len(site.arguments) != count or not fits:
            raise SignatureError("Invalid input arguments.")
        return Signature(site.types, if_any_nullable(result)(site, site.types))

    return infer


def _infer_build(site: CallSite) -> Signature:
    found = _takes(_BITMAP, ArrayType)(site)
    array = site.types[0]
    if isinstance(array, ArrayType) and not isinstance(array.element_type, IntType | NullType):
        raise SignatureError("Invalid input arguments.")
    return found


def build(numbers: list[int | None]) -> bytes:
    """BITMAP_BUILD: the bitmap of the elements of an array."""
    return packed(bits_of(number for number in numbers if number is not None))


def from_bytes(data: bytes) -> bytes:
    """BITMAP_FROM_BYTES: the bitmap that is serialised in bytes."""
    return packed(unpacked(data))


def to_array(bitmap: bytes) -> list[int]:
    """BITMAP_TO_ARRAY: the members as INT, in the order without signs."""
    return [number - (1 << 32) if number >> 31 else number for number in unpacked(bitmap)]


def _combined(combine: Callable[[Bits, Bits], Bits]) -> Callable[[bytes, bytes], bytes]:
    return lambda one, other: packed(combine(unpacked(one), unpacked(other)))


_COMBINATIONS: Sequence[tuple[str, Callable[[Bits, Bits], Bits]]] = (
    ("BITMAP_AND", operator.and_),
    ("BITMAP_OR", operator.or_),
    ("BITMAP_XOR", operator.xor),
    ("BITMAP_ANDNOT", operator.sub),
)

FUNCTIONS = (
    ScalarFunction("BITMAP_BUILD", _infer_build, by_value(build)),
    ScalarFunction("BITMAP_FROM_BYTES", _takes(_BITMAP, *BINARY), by_value(from_bytes)),
    ScalarFunction("BITMAP_TO_BYTES", _takes(BYTES, BitmapType), by_value(lambda bitmap: bitmap)),
    ScalarFunction("BITMAP_TO_ARRAY", _takes(ArrayType(INT), BitmapType), by_value(to_array)),
    ScalarFunction("BITMAP_TO_STRING", _takes(STRING, BitmapType), by_value(text_of(_BITMAP, EvaluationContext()))),
    ScalarFunction("BITMAP_CARDINALITY", _takes(BIGINT, BitmapType), by_value(lambda bitmap: len(unpacked(bitmap)))),
    *(
        ScalarFunction(name, _takes(_BITMAP, BitmapType, count=2), by_value(_combined(of)))
        for name, of in _COMBINATIONS
    ),
)
