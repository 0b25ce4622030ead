"""`CEP` and `PatternStream`: a pattern applied to a stream."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Generic, Self, overload

from scurry.cep.functions import (
    EventComparator,
    PatternFlatSelectFunction,
    PatternFlatTimeoutFunction,
    PatternProcessFunction,
    PatternSelectFunction,
    PatternTimeoutFunction,
    Select,
    SelectWithTimeouts,
)
from scurry.cep.patterns.automaton import compile_nfa
from scurry.cep.patterns.conditions import ExpressionCondition
from scurry.cep.patterns.pattern import Pattern
from scurry.common._api import ApiObject
from scurry.common._config.tables import LOCAL_TIME_ZONE
from scurry.common._type_variables import R, T, T_co
from scurry.common.output_tag import OutputTag
from scurry.datastream._functions import DeclaredType, require_function
from scurry.datastream.data_stream.keyed import KeyedStream
from scurry.datastream.data_stream.stream import DataStream, operator_stream
from scurry.errors import ArgumentTypeError
from scurry.graph import operators as ops
from scurry.graph.nodes import Node, OperatorNode, PartitionNode, SourceNode

__all__ = ["CEP", "DynamicPatternStream", "PatternStream"]


class CEP(ApiObject):
    """Find patterns in streams."""

    @staticmethod
    def pattern(
        input: DataStream[T], pattern: Pattern, comparator: EventComparator[T] | Callable[[T, T], int] | None = None
    ) -> PatternStream[T]:
        """Apply a pattern to a stream.

        Args:
            input: The events. On a keyed stream matches are found per key; on others one subtask sees all events. If
                conditions of the pattern are expressions, the type of the stream says which fields they may refer to.
            pattern: The pattern.
            comparator: The order of events with equal times: an EventComparator, or a function like its `compare`; they
                keep the order in which they arrive if it is not given.

        Raises:
            MalformedPatternError: Flink refuses the pattern.
        """
        if not isinstance(input, DataStream):
            raise ArgumentTypeError(f"CEP.pattern takes a DataStream, not {input!r}")
        if not isinstance(pattern, Pattern):
            raise ArgumentTypeError(f"CEP.pattern takes a Pattern, not {pattern!r}")
        if comparator is not None and not isinstance(comparator, EventComparator) and not callable(comparator):
            raise ArgumentTypeError(f"CEP.pattern takes an EventComparator, not {comparator!r}")
        tests = compile_nfa(pattern).tests
        conditions = None
        if any(isinstance(test.given, ExpressionCondition) for test in tests):
            conditions = conditions_of(input)
            conditions.open().bound(tests, pattern.stage_names())
        return PatternStream(input, pattern, comparator, conditions)

    @staticmethod
    def dynamic_patterns(input: DataStream[T], patterns: DataStream[Any]) -> DynamicPatternStream[T]:
        """Apply patterns to a stream that may come, change and go while the job runs.

        Args:
            input: The events; their type says which fields the conditions of patterns may refer to. On a keyed stream
                matches are found per key; on others one subtask sees all events.
            patterns: The patterns, as tuples or Rows of an id (text or int), a version (int) and the pattern as JSON
                (`Pattern.to_json`); None instead of JSON removes the pattern. A record counts if its version is higher
                than the last one of its id, or if it removes that. If it has a timestamp that the watermark has not
                reached, it takes effect at that time, otherwise at once.

        Raises:
            ValidationError: The stream of events has no type that says which fields they have.
        """
        for stream in (input, patterns):
            if not isinstance(stream, DataStream):
                raise ArgumentTypeError(f"CEP.dynamic_patterns takes two DataStreams, not {stream!r}")
        return DynamicPatternStream(input, patterns, conditions_of(input))


class PatternStream(ApiObject, Generic[T_co]):
    """A stream with a pattern, whose matches have no function yet."""

    _instead = dict.fromkeys(
        ("print", "map", "flat_map", "filter", "key_by", "sink_to", "add_sink", "union", "execute_and_collect", "uid"),
        "select(...), flat_select(...) or process(...) first makes a stream of the matches",
    )

    def __init__(
        self,
        input_stream: DataStream[T_co],
        pattern: Pattern | None,
        comparator: EventComparator[T_co] | Callable[..., int] | None,
        conditions: Any = None,
    ) -> None:
        """Apply a pattern to a stream; programs call `CEP.pattern`."""
        self._input = input_stream
        self._pattern = pattern
        self._comparator = comparator
        self._conditions = conditions
        self._event_time = True
        self._late_tag: OutputTag[Any] | None = None

    def in_event_time(self) -> Self:
        """Order events by their timestamps, with the watermark; this is the default."""
        return self._with(_event_time=True)

    def in_processing_time(self) -> Self:
        """Match events in the order of their arrival, in processing time."""
        return self._with(_event_time=False)

    def with_comparator(self, comparator: EventComparator[Any] | Callable[[Any, Any], int]) -> Self:
        """Set the order of events with equal times.

        Args:
            comparator: An EventComparator, or a function like its `compare`.
        """
        return self._with(_comparator=comparator)

    def side_output_late_data(self, output_tag: OutputTag[Any]) -> Self:
        """Emit events that the watermark has passed to a side output of the result, instead of dropping them.

        Args:
            output_tag: The side output.
        """
        if not isinstance(output_tag, OutputTag):
            raise ArgumentTypeError(f"expected an OutputTag, got {output_tag!r}")
        return self._with(_late_tag=output_tag)

    def _with(self, **changes: Any) -> Self:
        changed = copy.copy(self)
        vars(changed).update(changes)
        return changed

    @overload
    def process(
        self, pattern_process_function: PatternProcessFunction[T_co, R], output_type: None = None
    ) -> DataStream[R]: ...
    @overload
    def process(
        self, pattern_process_function: PatternProcessFunction[T_co, Any], output_type: DeclaredType[R]
    ) -> DataStream[R]: ...
    def process(
        self,
        pattern_process_function: PatternProcessFunction[T_co, Any],
        output_type: DeclaredType[Any] | None = None,
    ) -> DataStream[Any]:
        """Process each match.

        Args:
            pattern_process_function: The function; with `TimedOutPartialMatchHandler` as another base, it sees partial
                matches that time out.
            output_type: Declared type of the results.

        Returns:
            The results; their timestamps are those of the matches.
        """
        require_function(pattern_process_function, (PatternProcessFunction,))
        return self._processed(pattern_process_function, output_type)

    def _processed(self, function: PatternProcessFunction[T_co, Any], output_type: Any) -> DataStream[Any]:
        return self._operator_stream(ops.Cep, function, output_type)

    def _operator_stream(
        self,
        kind: type[ops.Cep],
        function: PatternProcessFunction[T_co, Any],
        output_type: Any,
        others: tuple[Node, ...] = (),
        **settings: Any,
    ) -> DataStream[Any]:
        """Return the results of the operator."""
        operator = kind(
            function,
            pattern=self._pattern,
            comparator=self._comparator,
            event_time=self._event_time,
            late_tag=self._late_tag if self._event_time else None,
            conditions=self._conditions,
            **settings,
        )
        stream = self._input
        if not isinstance(stream, KeyedStream):
            stream = stream._partition(ops.Global())
        return operator_stream(stream._env, (stream._node, *others), operator, "CepOperator", output_type)

    def select(self, *functions: Any, output_type: DeclaredType[Any] | None = None) -> DataStream[Any]:
        """Turn each match into one result.

        Args:
            functions: A PatternSelectFunction or a function of the match; or, to see partial matches that time out, the
                OutputTag for them, a PatternTimeoutFunction (or a function of the partial match and the end of its
                window), and the former.
            output_type: Declared type of the results.
        """
        kinds = (PatternSelectFunction, PatternTimeoutFunction)
        return self.process(_adapted(functions, "select", kinds, False), output_type)

    def flat_select(self, *functions: Any, output_type: DeclaredType[Any] | None = None) -> DataStream[Any]:
        """Turn each match into any number of results.

        Args:
            functions: A PatternFlatSelectFunction or a function of the match; or, to see partial matches that time out,
                the OutputTag for them, a PatternFlatTimeoutFunction (or a function of the partial match and the end of
                its window), and the former.
            output_type: Declared type of the results.
        """
        kinds = (PatternFlatSelectFunction, PatternFlatTimeoutFunction)
        return self.process(_adapted(functions, "flat_select", kinds, True), output_type)


class DynamicPatternStream(PatternStream[T_co]):
    """A stream with patterns of another stream, whose matches have no function yet.

    Each match is a `PatternMatch`: it has the id and the version of its pattern.
    """

    def __init__(self, input_stream: DataStream[T_co], patterns: DataStream[Any], conditions: Any) -> None:
        """Apply patterns to a stream; programs call `CEP.dynamic_patterns`."""
        super().__init__(input_stream, None, None, conditions)
        self._patterns = patterns
        self._invalid_tag: OutputTag[Any] | None = None

    def side_output_invalid_patterns(self, output_tag: OutputTag[Any]) -> Self:
        """Emit patterns that are refused to a side output of the result, instead of failing.

        Args:
            output_tag: The side output; it gets pairs of the record and the reason.
        """
        if not isinstance(output_tag, OutputTag):
            raise ArgumentTypeError(f"expected an OutputTag, got {output_tag!r}")
        return self._with(_invalid_tag=output_tag)

    def _processed(self, function: PatternProcessFunction[T_co, Any], output_type: Any) -> DataStream[Any]:
        node = self._patterns._node
        return self._operator_stream(
            ops.DynamicCep,
            function,
            output_type,
            (self._patterns._partition(ops.Broadcast())._node,),
            invalid_tag=self._invalid_tag,
            timed_patterns=_has_watermarks(node),
        )


def conditions_of(stream: DataStream[Any]) -> Any:
    """Return the compiler of conditions on the events of a stream.

    Raises:
        ValidationError: Its type says nothing of their fields.
    """
    from scurry.sql.statements.streams.conditions import RecordConditions

    node: Node = stream._node
    while isinstance(node, PartitionNode):
        (node,) = node.inputs
    return RecordConditions(node.output_type, stream._env._configuration.get_string(LOCAL_TIME_ZONE.key, "UTC"))


def _has_watermarks(node: Node) -> bool:
    """Return whether anything above a node generates watermarks."""
    if isinstance(node, SourceNode):
        strategy = node.watermark_strategy
        return strategy is not None and strategy.generates_watermarks
    if isinstance(node, OperatorNode) and isinstance(node.operator, ops.AssignTimestamps):
        return bool(node.operator.function.generates_watermarks)
    return any(map(_has_watermarks, node.inputs))


def _adapted(
    functions: tuple[Any, ...], method: str, kinds: tuple[type, type], flat: bool
) -> PatternProcessFunction[Any, Any]:
    if len(functions) not in (1, 3):
        raise ArgumentTypeError(
            f"{method} takes a function, or an OutputTag, a function of partial matches that time out, and a function; "
            f"not {len(functions)} arguments"
        )
    require_function(functions[-1], kinds[:1], or_callable=True)
    if len(functions) == 1:
        return Select(functions[0], method, flat)
    tag, timeout, function = functions
    if not isinstance(tag, OutputTag):
        raise ArgumentTypeError(f"expected an OutputTag, got {tag!r}")
    require_function(timeout, kinds[1:], or_callable=True)
    return SelectWithTimeouts(function, method, flat, tag, timeout)
