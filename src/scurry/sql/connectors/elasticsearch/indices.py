"""IndexNames: the index of each row, fixed or made of a pattern as Flink's connector has them."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Sequence
from typing import Any

from scurry._dataclasses import dataclass
from scurry.common._epoch import EPOCH
from scurry.common.time import Instant
from scurry.connectors.files.writing.buckets import date_time_text
from scurry.errors import UnsupportedError, ValidationError
from scurry.errors.suggestions import did_you_mean
from scurry.sql.connectors.java_values import field_texts
from scurry.sql.formats.contract import FormatColumn
from scurry.sql.types import DateType, LocalZonedTimestampType, TimestampType, TimeType
from scurry.sql.values.records import record_reader
from scurry.sql.values.stored import moment_of

_PATTERN = re.compile(r"\{[^{}]+\}")
_FIELD = re.compile(r"\{\s*(?P<name>[^|{}]+?)\s*(?:\|(?P<form>[^{}]*))?\}")
#: Functions of the time at which a row is written.
_CLOCKS = {"now()", "localtimestamp", "current_timestamp", "localtime", "current_time", "current_date", "proctime()"}
_DEFAULT_FORMS = {DateType: "yyyy_MM_dd", TimeType: "HH_mm_ss"}
_DEFAULT_FORM = "yyyy_MM_dd_HH_mm_ss"


@dataclass(frozen=True)
class IndexNames:
    """The index of each row; picklable.

    Attributes:
        before: First part of the name; the whole name if nothing else is set.
        after: Last part of the name.
        column: Position of the column that is between; None for none.
        form: The pattern of the time that is between; None if the column's text is.
        time_zone: The zone of the clock.
    """

    before: str
    after: str = ""
    column: int | None = None
    kind: FormatColumn | None = None
    form: str | None = None
    time_zone: str = "UTC"

    @property
    def is_fixed(self) -> bool:
        """Return whether all rows have the same index."""
        return self.column is None and self.form is None

    @property
    def is_of_clock(self) -> bool:
        """Return whether the time at which a row is written decides."""
        return self.column is None and self.form is not None

    def reader(self) -> Callable[[Any], list[str]]:
        """Return a function that returns the indices of the rows of a record batch."""
        if self.column is None:
            return lambda batch: [self._named(self._now())] * batch.num_rows
        assert self.kind is not None
        position, texts = self.column, self._texts(self.kind)
        return lambda batch: [self._named(text) for text in texts(batch.column(position))]

    def _named(self, text: str) -> str:
        return f"{self.before}{text}{self.after}"

    def _now(self) -> str:
        if self.form is None:
            return ""
        zone = datetime.UTC if self.time_zone == "UTC" else _zone(self.time_zone)
        return date_time_text(self.form, datetime.datetime.now(zone))

    def _texts(self, kind: FormatColumn) -> Callable[[Any], list[str]]:
        if self.form is None:
            return column_texts(kind)
        read, form = record_reader(kind.type), self.form
        return lambda column: ["null" if each is None else date_time_text(form, _moment(each)) for each in read(column)]


def _zone(name: str) -> datetime.tzinfo:
    import zoneinfo

    return zoneinfo.ZoneInfo(name)


def _moment(value: Any) -> datetime.datetime:
    if isinstance(value, Instant):
        return moment_of(value)
    if isinstance(value, datetime.datetime):
        return value
    if isinstance(value, datetime.date):
        return datetime.datetime.combine(value, datetime.time())
    return datetime.datetime.combine(EPOCH.date(), value)


def column_texts(column: FormatColumn) -> Callable[[Any], list[str]]:
    """Return a function that returns the values of a column as Java's texts, without the zone of a timestamp."""
    from scurry.sql.types.values import to_values

    (text,) = field_texts((column.type,))
    is_zoned = isinstance(column.type, LocalZonedTimestampType)

    def texts(values: Any) -> list[str]:
        found = ["null" if value is None else text(value) for value in to_values(values)]
        return [each.removesuffix("Z") for each in found] if is_zoned else found

    return texts


def index_names(pattern: str, columns: Sequence[FormatColumn], time_zone: str) -> IndexNames:
    """Return the indices that the option `index` describes.

    Raises:
        ValidationError: It names no column, or several patterns.
    """
    found = _PATTERN.findall(pattern)
    if not found:
        return IndexNames(pattern)
    if len(found) > 1:
        raise ValidationError(
            f"Chaining dynamic index pattern {pattern} is not supported, only support single dynamic index pattern."
        )
    before, after = pattern.split(found[0])
    parts = _FIELD.fullmatch(found[0])
    assert parts is not None, "a pattern has something between its braces"
    name, form = parts["name"], parts["form"]
    if name.lower() in _CLOCKS:
        return IndexNames(before, after, None, None, _checked(form or _DEFAULT_FORM), time_zone)
    names = [column.name for column in columns]
    if name not in names:
        raise ValidationError(
            f"Unknown field '{name}' in index pattern '{pattern}', please check the field name."
        ).with_hint(did_you_mean(name, names))
    column = columns[names.index(name)]
    if form is None:
        return IndexNames(before, after, names.index(name), column)
    if not isinstance(column.type, (DateType, TimeType, TimestampType, LocalZonedTimestampType)):
        raise ValidationError(
            f"Unsupported type '{column.type}' found in Elasticsearch dynamic index field, time-related pattern only "
            "support types are: DATE,TIME,TIMESTAMP."
        )
    chosen = form or _DEFAULT_FORMS.get(type(column.type), _DEFAULT_FORM)
    return IndexNames(before, after, names.index(name), column, _checked(chosen))


def _checked(form: str) -> str:
    try:
        date_time_text(form, datetime.datetime(2000, 1, 1))
    except UnsupportedError as error:
        raise ValidationError(f"the time pattern '{form}' of 'index': {error}") from None
    return form
