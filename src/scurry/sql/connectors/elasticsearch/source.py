"""DocumentTableSource: the documents of an index as rows, and lookups of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from scurry._dataclasses import dataclass
from scurry.connectors.elasticsearch.search import Search
from scurry.connectors.http.client import HttpSettings
from scurry.connectors.lookup_cache import CacheSettings
from scurry.connectors.source import MEASURED
from scurry.errors import MalformedRecordError
from scurry.sql.connectors.contract import Changes, LookupSource, TableSource
from scurry.sql.connectors.elasticsearch.documents import DocumentIds
from scurry.sql.connectors.lookups import KeyLookup
from scurry.sql.formats.contract import chosen_columns
from scurry.sql.formats.message_format import BoundFormat
from scurry.sql.formats.messages import DecodingError, MessageDecoder
from scurry.sql.types.values import batch_of_columns, from_values, to_values

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class DocumentTableSource(TableSource):
    """Read the documents of an index, in slices; look up documents by id or by the values of fields.

    A slice is read from one point in time. A repeated micro-batch reads it again.

    Attributes:
        hosts: Addresses of the server.
        page_size: Documents that are fetched at once.
        slices: Number of slices; None for one per shard.
        ids: The ids of the primary key's values, if there is one and the index is a single one.
        cache: The settings of the cache of lookups; None for no cache.
        parallelism: Number of readers of a STREAMING job; None for the job's parallelism.
        document_type: The type of documents, of Elasticsearch 6; None for none.
    """

    hosts: HttpSettings
    index: str
    format: BoundFormat
    page_size: int
    slices: int | None
    ids: DocumentIds | None
    cache: CacheSettings | None
    parallelism: int | None = None
    document_type: str | None = None

    def splits(self) -> list[Any]:
        """Return the slices."""
        search = Search(self.hosts, self.index)
        try:
            shards = search.shards()
        finally:
            search.close()
        count = self.slices or shards
        return [(number, count) for number in range(count)]

    def read(self, split: Any, columns: Sequence[str]) -> Iterator[Changes]:
        """Yield the rows of a slice."""
        search, decoder = Search(self.hosts, self.index), self.format.decoder(columns, ())
        try:
            for hits in search.pages(split[0], split[1], self.page_size, columns):
                texts = [_text(hit.get("_source", {})) for hit in hits]
                MEASURED.get()(len(texts), sum(map(len, texts)))
                found = [f"{hit.get('_index')}/{hit.get('_id')}" for hit in hits]
                yield Changes(batch_of_columns(_decoded(decoder, texts, found), columns, len(texts)))
        finally:
            search.close()

    def create_lookup(self, keys: Sequence[str], columns: Sequence[str]) -> LookupSource:
        return _DocumentLookup(self, keys, columns)


def _text(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode()


def _decoded(decoder: MessageDecoder, texts: list[bytes], places: Sequence[str]) -> list[pa.Array]:
    try:
        return list(decoder.decode(texts).columns)
    except DecodingError as error:
        text = texts[error.index].decode()
        raise MalformedRecordError(f"document {places[error.index]}", None, text, str(error)).with_hint(
            error.hint
        ) from None


class _DocumentLookup(KeyLookup):
    def __init__(self, source: DocumentTableSource, keys: Sequence[str], columns: Sequence[str]) -> None:
        wanted = chosen_columns(source.format.columns, columns)
        super().__init__([(column.name, column.type) for column in wanted], source.cache)
        self._source = source
        self._keys = chosen_columns(source.format.columns, keys)

    def open(self) -> None:
        super().open()
        source = self._source
        self._search = Search(source.hosts, source.index, source.document_type)
        self._decoder = source.format.decoder(self._names, ())
        by_key = BoundFormat(source.format.format, self._keys, source.format.options)
        self._encoder = by_key.encoder()
        names = {column.name for column in self._keys}
        ids = source.ids
        self._ids = ids if ids is not None and {column.name for column in ids.columns} == names else None

    def find(self, key: tuple[Any, ...]) -> Sequence[tuple[Any, ...]]:
        arrays = [from_values([value], column.type) for value, column in zip(key, self._keys, strict=True)]
        if self._ids is not None:
            by_name = {column.name: array for column, array in zip(self._keys, arrays, strict=True)}
            (identity,) = self._ids.of([by_name[column.name] for column in self._ids.columns])
            document = self._search.document(identity)
            documents = [] if document is None else [document]
        else:
            (text,) = self._encoder.encode(batch_of_columns(arrays, [column.name for column in self._keys], 1))
            documents = self._search.matching(json.loads(text))
        texts = list(map(_text, documents))
        if not self._names:
            return [()] * len(texts)
        columns = _decoded(self._decoder, texts, [self._source.index] * len(texts))
        return list(zip(*map(to_values, columns), strict=True))

    def close(self) -> None:
        super().close()
        self._search.close()
