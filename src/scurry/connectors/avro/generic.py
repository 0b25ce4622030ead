"""The type of Avro's records as dicts."""

from __future__ import annotations

from scurry._dataclasses import dataclass
from scurry.common.typeinfo import PickledBytesTypeInfo
from scurry.connectors.avro.schema import AvroSchema


@dataclass(frozen=True, slots=True, repr=False)
class GenericRecordAvroTypeInfo(PickledBytesTypeInfo):
    """Values of an Avro schema as plain Python: records are dicts.

    Dates and times are `datetime` objects, timestamps are in UTC with time zone, decimals are `Decimal`.

    Attributes:
        schema: The schema.
    """

    schema: AvroSchema

    def __repr__(self) -> str:
        """Return the schema."""
        return f"GenericRecord({self.schema})"
