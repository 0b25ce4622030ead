"""ARRAY_AGG, COLLECT and LISTAGG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scurry.sql.functions.aggregate.definition import (
    Accumulator,
    AggregateFunction,
    AggregateProperties,
    AggregateSite,
    BatchState,
    Column,
    Groups,
)
from scurry.sql.functions.aggregate.grouped import listed, merged_lists, valid_rows
from scurry.sql.functions.definition import Signature, SignatureError
from scurry.sql.functions.keys import group_ids_of, order_codes
from scurry.sql.functions.signatures import refuse, refuse_call
from scurry.sql.types import ArrayType, CharType, DataType, MultisetType, VarCharType
from scurry.sql.types.arrow import arrow_type


def groups_of(lists: Column) -> Groups:
    """Return for each element of lists the position of its list."""
    lengths = np.asarray(pc.fill_null(pc.list_value_length(lists), 0))
    groups: Groups = np.repeat(np.arange(len(lists)), lengths)
    return groups


class Listing(Accumulator):
    """Keeps all values; the state is a list."""

    def __init__(self, result_type: DataType, nulls: bool) -> None:
        self._type = arrow_type(result_type)
        self._nulls = nulls

    def partial(self, columns: Sequence[Column], groups: Groups, count: int) -> list[Column]:
        columns = columns[:1]
        if not self._nulls:
            columns, groups = valid_rows(columns, groups)
        return [listed(columns[0], groups, count)]

    def merge(self, states: Sequence[Column], groups: Groups, count: int) -> list[Column]:
        return [merged_lists(states[0], groups, count)]

    def result(self, states: Sequence[Column]) -> Column:
        lists = states[0]
        filled = pc.greater(pc.list_value_length(lists), 0)
        return pc.if_else(filled, lists.cast(self._type), pa.scalar(None, self._type))


class Multiset(Listing):
    """Counts how often each value occurs."""

    def __init__(self, result_type: DataType) -> None:
        super().__init__(result_type, nulls=False)

    def result(self, states: Sequence[Column]) -> Column:
        lists = states[0]
        values, groups = lists.flatten(), groups_of(lists)
        number, first = group_ids_of([pa.array(groups), values], len(values))
        counts = np.bincount(number, minlength=len(first)).astype(np.int32)
        order = _in_order_of_java(values.take(pa.array(first)), groups[first])
        keys = values.take(pa.array(first[order]))
        sizes = np.bincount(groups[first], minlength=len(lists))
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
        return pa.MapArray.from_arrays(pa.array(offsets), keys, pa.array(counts[order])).cast(self._type)


def _in_order_of_java(values: Column, groups: Groups) -> Groups:
    """Return the positions of the distinct values of groups in the order in which a Java HashMap has them.

    That is the order in which Flink shows a multiset. Of other values than whole numbers the hash is not known here.
    """
    order = np.lexsort((order_codes(values, False, True), groups))
    kind = values.type
    if not (pa.types.is_integer(kind) or pa.types.is_date32(kind) or pa.types.is_time32(kind)):
        return order
    numbers = np.asarray(values.view(pa.int32()) if not pa.types.is_integer(kind) else values).astype(np.int64)
    mixed = numbers ^ (numbers >> 32) if pa.types.is_int64(kind) else numbers
    hashes = mixed.astype(np.uint32)
    sizes = np.bincount(groups)[groups]
    buckets = np.maximum(16, 2 ** np.ceil(np.log2(np.maximum(sizes, 1) / 0.75))).astype(np.uint32)
    bucket = (hashes ^ (hashes >> np.uint32(16))) & (buckets - np.uint32(1))
    found: Groups = np.lexsort((np.arange(len(groups)), bucket, groups))
    return found


class Concatenation(Listing):
    """Joins texts with a separator."""

    def __init__(self, result_type: DataType, separator: str) -> None:
        super().__init__(result_type, nulls=False)
        self._separator = separator

    def result(self, states: Sequence[Column]) -> Column:
        lists = states[0]
        joined = pc.binary_join(lists, self._separator)
        return pc.if_else(pc.greater(pc.list_value_length(lists), 0), joined, pa.scalar(None, pa.string()))


def _infer_array(site: AggregateSite) -> Signature:
    if len(site.arguments) != 1:
        raise refuse_call(site)
    return Signature(site.types, ArrayType(site.types[0], site.types[0].is_nullable))


def _infer_multiset(site: AggregateSite) -> Signature:
    if len(site.arguments) != 1:
        raise refuse_call(site)
    return Signature(site.types, MultisetType(site.types[0], False))


def _infer_text(site: AggregateSite) -> Signature:
    if not 1 <= len(site.arguments) <= 2:
        raise SignatureError(f"Invalid number of arguments to function '{site.name}'. Was expecting 1 arguments")
    if not isinstance(site.types[0], CharType | VarCharType):
        raise refuse(site, "'LISTAGG(<CHARACTER>)'\n'LISTAGG(<CHARACTER>, <CHARACTER>)'")
    if len(site.arguments) == 2 and not (site.arguments[1].is_literal and site.arguments[1].value is not None):
        raise SignatureError("Argument to function 'LISTAGG' must not be NULL")
    return Signature(site.types, site.types[0])


def _make_text(site: AggregateSite, result_type: DataType) -> Concatenation:
    return Concatenation(result_type, site.arguments[1].value if len(site.arguments) == 2 else ",")


#: Of values in the order of the rows.
LISTS: Final = AggregateProperties(
    mergeable=True,
    order_free=False,
    distinct_free=False,
    selects_value=False,
    value_of_nothing=None,
    is_value_of_one_row=False,
    is_constant_of_nothing=False,
    growth=0,
)
FUNCTIONS = (
    AggregateFunction(
        "ARRAY_AGG",
        _infer_array,
        lambda site, result_type: Listing(result_type, nulls=True),
        LISTS,
        batch_state=BatchState.WHOLE,
        takes_null_treatment=True,
    ),
    AggregateFunction(
        "COLLECT",
        _infer_multiset,
        lambda site, result_type: Multiset(result_type),
        replace(LISTS, order_free=True, value_of_nothing={}),
        batch_state=BatchState.OBJECT,
    ),
    AggregateFunction(
        "LISTAGG",
        _infer_text,
        _make_text,
        LISTS,
        state_names=("accDelimiter", "concatAcc"),
        retractable_state_names=("listagg",),
        batch_state=BatchState.OBJECT,
    ),
)
