"""MapEmitter: records as documents, whose index and id are fixed or fields of theirs."""

from __future__ import annotations

import base64
import datetime
import decimal
import json.encoder
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scurry._dataclasses import dataclass
from scurry.common.types import Row
from scurry.connectors.elasticsearch.bulk import Action, action_of
from scurry.errors import RecordRejectedError

#: The text before and after a document in an update that inserts it if it is not there.
UPSERT_BEFORE, UPSERT_AFTER = '{"doc":', ',"doc_as_upsert":true}'


@dataclass(frozen=True)
class MapEmitter:
    """Make an action of each record, a dict or a Row with names: Flink's `MapElasticsearchEmitter`.

    With a key the fields of the record replace those of the document, which is made where it is missing. Without one
    each record becomes a document of its own.

    Attributes:
        index: The index, or the field that has it.
        key_field: The field that has the id; None for none.
        document_type: The type, of Elasticsearch 6; None for none.
        is_dynamic: Whether `index` is a field.
    """

    index: str
    key_field: str | None
    document_type: str | None
    is_dynamic: bool

    def actions(self, values: Sequence[Any]) -> list[Action]:
        """Return the actions of some records.

        Raises:
            RecordRejectedError: A record lacks a field, or is no document.
        """
        return [self._action(value) for value in values]

    def _action(self, value: Any) -> Action:
        document = value.as_dict() if isinstance(value, Row) else value
        if type(document) is not dict and not isinstance(document, Mapping):
            raise RecordRejectedError("a document is a dict, or a Row with names", value)
        index = self._field(document, self.index, value) if self.is_dynamic else self.index
        target: dict[str, Any] = {"_index": index}
        if self.document_type is not None:
            target["_type"] = self.document_type
        try:
            body = _text(document)
        except (TypeError, ValueError, RecursionError) as error:
            raise RecordRejectedError(f"it is no JSON: {error}", value) from None
        if self.key_field is None:
            return action_of("index", target, body.encode(), value)
        target["_id"] = self._field(document, self.key_field, value)
        return action_of("update", target, f"{UPSERT_BEFORE}{body}{UPSERT_AFTER}".encode(), value)

    def _field(self, document: Mapping[str, Any], name: str, value: Any) -> str:
        found = document.get(name)
        if found is None:
            raise RecordRejectedError(f"it has no field {name!r}, which the emitter names", value)
        return str(found)


def _json(value: Any) -> Any:
    if isinstance(value, Row):
        return value.as_dict()
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return float(value) if value % 1 else int(value)
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode()
    if hasattr(value, "item"):  # a number of NumPy
        return value.item()
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def _encoder() -> Callable[[Any], str]:
    """Return the function that writes documents.

    `json.dumps` makes its encoder anew for each document, which takes longer than to write a small one.
    """
    make: Any = getattr(json.encoder, "c_make_encoder", None)
    if make is None:  # an interpreter without it
        return json.JSONEncoder(ensure_ascii=False, default=_json, allow_nan=False).encode
    encode = make(None, _json, json.encoder.encode_basestring, None, ": ", ", ", False, False, False)
    return lambda document: "".join(encode(document, 0))


_text = _encoder()
