"""The descriptions of operators, as data: one frozen class per kind.

`scurry.runtime.operators` maps them to the operators that run.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, ClassVar

from scurry._dataclasses import dataclass


@dataclass(frozen=True, eq=False)
class Operator:
    """Base of all operator descriptions. `keyed` ones need an input that is partitioned by key."""

    function: Any

    keyed = False
    #: whether the operator depends on the watermark or processing time, so that time must reach it even without data
    timed = False

    #: the operator of which this is a variant: the program has that one, and the planner chooses this one
    variant_of: ClassVar[type[Operator] | None] = None

    @property
    def kind(self) -> str:
        """Its name for users and in savepoints; variants have the same."""
        return (self.variant_of or type(self)).__name__


@dataclass(frozen=True, eq=False)
class Map(Operator):
    """One output per record (MapFunction or callable)."""


@dataclass(frozen=True, eq=False)
class MapOrDeadLetter(Map):
    """A map with dead letters: no output for a record on which it fails."""

    variant_of = Map


@dataclass(frozen=True, eq=False)
class FlatMap(Operator):
    """Any number of outputs per record (FlatMapFunction or callable)."""


@dataclass(frozen=True, eq=False)
class Filter(Operator):
    """Keep the records that its function accepts (FilterFunction or callable)."""


@dataclass(frozen=True, eq=False)
class Process(Operator):
    """A ProcessFunction on a stream without keys: time can be read, timers cannot be set."""

    timed = True


@dataclass(frozen=True, eq=False)
class AsyncWait(Operator):
    """An AsyncFunction with up to `capacity` calls in flight.

    `timeout` is in ms, 0 for none; `retry_strategy` is an AsyncRetryStrategy or None. `ordered` says whether results
    keep the order of the records instead of that in which calls end.
    """

    timeout: int = 0
    capacity: int = 100
    retry_strategy: Any = None
    ordered: bool = False


@dataclass(frozen=True, eq=False)
class AssignTimestamps(Operator):
    """Assign event timestamps and generate watermarks; `function` is the WatermarkStrategy."""


@dataclass(frozen=True, eq=False)
class AssignWatermarks(AssignTimestamps):
    """Generate the watermarks of a table, whose records are batches of rows; `function` computes them per row."""


@dataclass(frozen=True, eq=False)
class CoMap(Operator):
    """CoMapFunction over two connected streams; a result of None is dropped, as in PyFlink."""


@dataclass(frozen=True, eq=False)
class CoFlatMap(Operator):
    """CoFlatMapFunction over two connected streams."""


@dataclass(frozen=True, eq=False)
class CoProcess(Operator):
    """CoProcessFunction over two connected streams without keys."""

    timed = True


@dataclass(frozen=True, eq=False)
class KeyedProcess(Operator):
    """KeyedProcessFunction: state and timers per key."""

    keyed = True
    timed = True


@dataclass(frozen=True, eq=False)
class KeyedCoProcess(Operator):
    """KeyedCoProcessFunction: two inputs that share state and timers per key."""

    keyed = True
    timed = True


@dataclass(frozen=True, eq=False)
class BroadcastProcess(Operator):
    """BroadcastProcessFunction: input 0 has no keys; input 1 is broadcast and writes the state that input 0 reads."""

    #: descriptors of the broadcast state
    descriptors: tuple[Any, ...] = ()

    timed = True


@dataclass(frozen=True, eq=False)
class KeyedBroadcastProcess(Operator):
    """KeyedBroadcastProcessFunction: input 0 is keyed, with state and timers per key, input 1 is broadcast."""

    #: descriptors of the broadcast state
    descriptors: tuple[Any, ...] = ()

    keyed = True
    timed = True


@dataclass(frozen=True, eq=False)
class KeyedReduce(Operator):
    """Rolling reduce per key: emits the new value for every input (STREAMING), or only the last one (BATCH)."""

    keyed = True


@dataclass(frozen=True, eq=False)
class KeyedRows(Operator):
    """An operator of tables with state and timers: `function` has a `KeyedRowsFunction`'s methods.

    Its inputs are partitioned by `HashRows`.

    Attributes:
        keeps: What decides the meaning of its state, as text: another text has other state.
    """

    keeps: str = ""

    keyed = True
    timed = True


@dataclass(frozen=True, eq=False)
class RecordsToRows(Operator):
    """Turn the records of a stream into batches of rows, blocks of records at a time.

    `function.rows(values, timestamps)` returns a batch.

    Attributes:
        watermarks: Whether watermarks hold for the rows, too; otherwise only the one that ends the input does.
    """

    watermarks: bool = False


@dataclass(frozen=True, eq=False)
class RowsToRecords(Operator):
    """Turn batches of rows into the records of a stream.

    `function.records(batch)` returns records and their timestamps, None if they have none.
    """


@dataclass(frozen=True, eq=False)
class Bundle(Operator):
    """Process blocks of records, without state.

    `function.bundle(index, records)` returns results; those for a side output are pairs of its tag and the result.
    """


@dataclass(frozen=True, eq=False)
class BroadcastBundle(Bundle):
    """Process blocks of records of two inputs; input 1 is broadcast, and in BATCH comes first."""


class WindowHook(Enum):
    """The method of a window function that is called for a fired window; its value is the method's name."""

    PROCESS = "process"
    APPLY = "apply"
    #: with the records of two inputs
    CO_GROUP = "co_group"


class PreAggregation(Enum):
    """The incremental aggregation of the elements of a window."""

    REDUCE = "reduce"
    AGGREGATE = "aggregate"


@dataclass(frozen=True, eq=False)
class Window(Operator):
    """Windowing per key (or over all records, with a constant key); the planner chooses the variant that runs.

    `function` is the window function applied to a fired window, through `hook`; both are None without such a function.
    `pre_aggregate` is the ReduceFunction or AggregateFunction that folds elements as they arrive, as
    `pre_aggregation` says; both are None if all elements are kept.
    """

    assigner: Any = None
    trigger: Any = None
    evictor: Any = None
    allowed_lateness: int = 0
    late_tag: Any = None
    pre_aggregate: Any = None
    pre_aggregation: PreAggregation | None = None
    accumulator_type: Any = None
    hook: WindowHook | None = None
    over_all: bool = False
    merging: bool = False
    #: (size, slide, offset) in ms of tumbling or sliding event-time windows with their default trigger
    aligned: tuple[int, int, int] | None = None
    #: gap in ms of event-time sessions with a fixed gap and their default trigger
    session_gap: int | None = None

    keyed = True
    timed = True


@dataclass(frozen=True, eq=False)
class AlignedWindow(Window):
    """The common case: tumbling or sliding event-time windows that fire once, at their end; `aligned` is set."""

    variant_of = Window


@dataclass(frozen=True, eq=False)
class SessionWindow(Window):
    """Event-time sessions with a fixed gap that fire once, at their end; `session_gap` is set."""

    variant_of = Window


@dataclass(frozen=True, eq=False)
class EvictingWindow(Window):
    """Windows whose `evictor` removes elements before or after the window function sees them."""

    variant_of = Window


@dataclass(frozen=True, eq=False)
class IntervalJoin(Operator):
    """Join records of two inputs with equal keys; `function` is a ProcessJoinFunction.

    A left record at t is joined with the right ones from `t + lower` to `t + upper`, both inclusive, in ms. Late
    records go to the side outputs `left_late_tag` and `right_late_tag`; None drops them.
    """

    lower: int = 0
    upper: int = 0
    left_late_tag: Any = None
    right_late_tag: Any = None

    keyed = True
    timed = True


@dataclass(frozen=True, eq=False)
class Cep(Operator):
    """Find a pattern of events per key (or over all records, with a constant key).

    `function` is a PatternProcessFunction, `comparator` an EventComparator for events of equal times, or None. Late
    records go to the side output `late_tag`; None drops them. `conditions` compiles conditions that are expressions;
    None without such conditions.
    """

    pattern: Any = None
    comparator: Any = None
    event_time: bool = True
    late_tag: Any = None
    conditions: Any = None

    keyed = True
    timed = True


@dataclass(frozen=True, eq=False)
class DynamicCep(Cep):
    """Find patterns that input 1, which is broadcast, adds, changes and removes; `pattern` is None.

    Its records are (id, version, pattern as JSON). Those that are refused go to the side output `invalid_tag`; None
    fails the job. `timed_patterns` says whether they have watermarks; otherwise only those of the events count.
    """

    invalid_tag: Any = None
    timed_patterns: bool = True


@dataclass(frozen=True, eq=False)
class TableOperation(Operator):
    """An operation of tables in BATCH, `function`: a node of a plan that the runner executes as a whole."""


@dataclass(frozen=True, eq=False)
class Sink(Operator):
    """Write records; `function` is a `scurry.connectors.sink.Sink`.

    Attributes:
        implied: Whether it ends a stream to which the program added no sink.
    """

    implied: bool = False


# ------------------------------------------------------------------ partitioning


@dataclass(frozen=True, eq=False)
class Partitioner:
    """Distribution of records over the receiving subtasks."""


@dataclass(frozen=True, eq=False)
class Hash(Partitioner):
    """By key: `selector` is a callable or KeySelector, `key_type` its TypeInformation or None."""

    selector: Any
    key_type: Any = None


@dataclass(frozen=True, eq=False)
class HashRows(Partitioner):
    """By key, for records that are batches of rows; `partition` splits a record.

    `partition(record, max_parallelism, receivers)` returns pairs of a subtask and the part of the record for it.
    """

    partition: Any


@dataclass(frozen=True, eq=False)
class Rebalance(Partitioner):
    """Round robin over all subtasks (also serves rescale and shuffle)."""

    style: str = "rebalance"


@dataclass(frozen=True, eq=False)
class Forward(Partitioner):
    """Subtask i to subtask i."""


@dataclass(frozen=True, eq=False)
class Global(Partitioner):
    """All records to subtask 0."""


@dataclass(frozen=True, eq=False)
class Broadcast(Partitioner):
    """Every record to every subtask."""


@dataclass(frozen=True, eq=False)
class Custom(Partitioner):
    """To the subtask that the user's Partitioner selects."""

    partitioner: Any
    selector: Any
