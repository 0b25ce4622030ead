"""HttpTableSource: rows that a server answers for keys."""

from __future__ import annotations

import json
import logging
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

from scurry._dataclasses import dataclass
from scurry.connectors.http.client import HttpAnswer
from scurry.connectors.http.requests import HttpRequests, HttpSession, Statuses
from scurry.connectors.lookup_cache import CacheSettings
from scurry.errors import ConnectorError, MalformedRecordError, SourceConnectionError, ValidationError
from scurry.sql.connectors.contract import Changes, LookupSource, TableSource
from scurry.sql.connectors.lookups import KeyLookup
from scurry.sql.formats.contract import chosen_columns
from scurry.sql.formats.message_format import BoundFormat
from scurry.sql.formats.messages import DecodingError
from scurry.sql.types.values import batch_of_columns, from_values, to_values

_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class HttpTableSource(TableSource):
    """Look up rows; a table over HTTP has no other reading.

    Attributes:
        requests: Address and retries of requests.
        format: The format of answers.
        success: The statuses of answers with rows.
        ignored: The statuses of keys without rows.
        continues: Whether a key whose lookup fails has no rows.
    """

    requests: HttpRequests
    format: BoundFormat
    success: Statuses
    ignored: Statuses
    continues: bool
    cache: CacheSettings | None

    def splits(self) -> list[Any]:
        """Refuse a scan."""
        raise self._refusal()

    def read(self, split: Any, columns: Sequence[str]) -> Iterator[Changes]:
        """Refuse a scan."""
        raise self._refusal()

    def _refusal(self) -> ValidationError:
        return ValidationError(
            "a table of the connector 'http' is only looked up: JOIN it FOR SYSTEM_TIME AS OF a PROCTIME() column"
        )

    def create_lookup(self, keys: Sequence[str], columns: Sequence[str]) -> LookupSource:
        return _HttpLookup(self, keys, columns)


def _parameters(text: bytes) -> dict[str, str]:
    """Return the fields of an object of JSON; a number as it is written, since a float would round a DECIMAL."""
    values, written = json.loads(text), json.loads(text, parse_float=str)
    return {
        name: written[name] if isinstance(written[name], str) else json.dumps(value) for name, value in values.items()
    }


class _HttpLookup(KeyLookup):
    def __init__(self, source: HttpTableSource, keys: Sequence[str], columns: Sequence[str]) -> None:
        wanted = chosen_columns(source.format.columns, columns)
        super().__init__([(column.name, column.type) for column in wanted], source.cache)
        self._source = source
        self._keys = chosen_columns(source.format.columns, keys)

    def open(self) -> None:
        super().open()
        form = self._source.format
        self._session = HttpSession(self._source.requests)
        self._decoder = form.decoder(self._names, ())
        self._encoder = BoundFormat(form.format, self._keys, form.options).encoder()

    def find(self, key: tuple[Any, ...]) -> Sequence[tuple[Any, ...]]:
        return self._rows(self._answer(key))

    def _found(self, identity: Hashable, key: tuple[Any, ...]) -> Sequence[tuple[Any, ...]]:
        """Return the rows of a key; that it could not be asked for does not come into the cache."""
        try:
            return super()._found(identity, key)
        except ConnectorError as error:
            if not self._source.continues:
                raise
            _logger.warning("a key has no rows ('http.source.lookup.continue-on-error'): %s", error)
            return []

    def _answer(self, key: tuple[Any, ...]) -> HttpAnswer | None:
        source = self._source
        arrays = [from_values([value], column.type) for value, column in zip(key, self._keys, strict=True)]
        (text,) = self._encoder.encode(batch_of_columns(arrays, [column.name for column in self._keys], 1))
        try:
            if source.requests.method == "GET":
                answer = self._session.send(None, _parameters(text))
            else:
                answer = self._session.send(text, None, {"Content-Type": "application/json"})
        except ConnectionError as error:
            raise SourceConnectionError(f"no server answers at 'url' ({error}): check the address") from None
        if answer.status in source.ignored:
            return None
        if answer.status not in source.success:
            said = f"{source.requests.method} {source.requests.shown} was answered {answer.status}: {answer.shown}"
            hint = "; check the credentials in 'http.source.lookup.header.*'" if answer.status in (401, 403) else ""
            raise SourceConnectionError(f"{said}{hint}")
        return answer

    def _rows(self, answer: HttpAnswer | None) -> Sequence[tuple[Any, ...]]:
        if answer is None or not answer.body.strip():
            return []
        try:
            batch = self._decoder.decode([answer.body])
        except DecodingError as error:
            text = answer.body.decode(errors="replace")
            raise MalformedRecordError(f"answer of {self._source.requests.shown}", None, text, str(error)).with_hint(
                error.hint
            ) from None
        if not self._names:
            return [()] * batch.num_rows
        return list(zip(*map(to_values, batch.columns), strict=True))

    def close(self) -> None:
        super().close()
        self._session.close()
