"""CEP: patterns, conditions, quantifiers, what becomes of matches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from scurry.cep import (
    CEP,
    AfterMatchSkipStrategy,
    ConditionContext,
    EventComparator,
    IterativeCondition,
    Pattern,
    PatternFlatSelectFunction,
    PatternFlatTimeoutFunction,
    PatternProcessFunction,
    PatternSelectFunction,
    PatternTimeoutFunction,
    RichIterativeCondition,
    SimpleCondition,
    TimedOutPartialMatchHandler,
)
from scurry.cep.patterns.quantifier import ConsumingStrategy, Quantifier, QuantifierProperty
from scurry.common import Time, Types, WatermarkStrategy
from scurry.datastream import DataStream, OutputTag, StreamExecutionEnvironment
from scurry.datastream.functions import RuntimeContext

env = StreamExecutionEnvironment.get_execution_environment()


@dataclass
class Event:
    name: str
    time: int


@dataclass
class Alarm(Event):
    pass


in_time = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda event, _: event.time)


def stream(names: str) -> DataStream[Event]:
    events = [Event(name, number) for number, name in enumerate(names)]
    return env.from_collection(events).assign_timestamps_and_watermarks(in_time)


def results(stream: DataStream[Any]) -> list[Any]:
    with stream.execute_and_collect() as records:
        return list(records)


class Named(SimpleCondition):
    def __init__(self, name: str) -> None:
        self.name = name

    def filter(self, value: Event) -> bool:
        return value.name == self.name


class Text(PatternSelectFunction):
    """The names of a match."""

    def select(self, match: dict[str, list[Event]]) -> str:
        return "".join(event.name for events in match.values() for event in events)


def matches(pattern: Pattern, names: str) -> list[str]:
    return sorted(results(CEP.pattern(stream(names), pattern).select(Text())))


# Stages

a, b, c = Named("a"), Named("b"), Named("c")
assert matches(Pattern.begin("a").where(a).next("b").where(b), "abacb") == ["ab"]
assert matches(Pattern.begin("a").where(a).followed_by("b").where(b), "acbb") == ["ab"]
assert matches(Pattern.begin("a").where(a).followed_by_any("b").where(b), "acbb") == ["ab", "ab"]
assert matches(Pattern.begin("a").where(a).not_next("c").where(c).followed_by("b").where(b), "acbab") == ["ab"]
assert matches(Pattern.begin("a").where(a).not_followed_by("c").where(c).followed_by("b").where(b), "acb") == []
assert matches(Pattern.begin("a or b").where(a).or_(b), "abc") == ["a", "b"]
assert matches(Pattern.begin("alarm").subtype(Alarm), "ab") == []

# How often

once_more = Pattern.begin("a").where(a).one_or_more().until(c)
assert matches(once_more, "aaca") == ["a", "a", "a", "aa"]
assert matches(Pattern.begin("a").where(a).times(2), "aba") == ["aa"]
assert matches(Pattern.begin("a").where(a).times(2).consecutive(), "aba") == []
assert matches(Pattern.begin("a").where(a).times(2).allow_combinations(), "aaa") == ["aa", "aa", "aa"]
assert matches(Pattern.begin("a").where(a).times_or_more(2).greedy().next("b").where(b), "aab") == ["aab"]
assert matches(Pattern.begin("a").where(a).next("b").where(b).optional().next("c").where(c), "ac") == ["ac"]
pair = Pattern.begin(Pattern.begin("a").where(a).next("b").where(b)).times(2)
assert matches(pair, "abab") == ["aabb"]

# After a match

overlapping = Pattern.begin("x", AfterMatchSkipStrategy.no_skip()).where(a).times(2)
assert matches(overlapping, "aaa") == ["aa", "aa"]
for strategy, found in (
    (AfterMatchSkipStrategy.skip_past_last_event(), ["aa"]),
    (AfterMatchSkipStrategy.skip_to_next(), ["aa", "aa"]),
    (AfterMatchSkipStrategy.skip_to_last("x"), ["aa", "aa"]),
):
    assert matches(Pattern.begin("x", strategy).where(a).times(2), "aaa") == found
to_b = AfterMatchSkipStrategy.skip_to_first("b")
assert matches(Pattern.begin("a", to_b).where(a).next("b").where(b), "abab") == ["ab", "ab"]

# Conditions


class Rising(IterativeCondition):
    """Later than all that the stage has taken so far."""

    def filter(self, value: Event, ctx: ConditionContext) -> bool:
        assert ctx.timestamp() == value.time
        assert ctx.current_processing_time() > 0
        return all(value.time > earlier.time for earlier in ctx.get_events_for_pattern("x"))


class Listed(RichIterativeCondition):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.names = {"a", "b"}

    def filter(self, value: Event, ctx: ConditionContext) -> bool:
        return value.name in self.names

    def close(self) -> None:
        self.names.clear()


assert matches(Pattern.begin("x").where(Rising()).times(2), "ab") == ["ab"]
assert matches(Pattern.begin("x").where(Listed()), "abc") == ["a", "b"]

# What becomes of matches, also of those that were not completed in time

late, timed_out = OutputTag("late", Types.PICKLED_BYTE_ARRAY()), OutputTag("timed out", Types.STRING())
quickly = Pattern.begin("a").where(a).followed_by("b").where(b).within(Time.milliseconds(2))
assert quickly.window_size() == 2


class Describe(PatternProcessFunction, TimedOutPartialMatchHandler):
    def process_match(self, match: dict[str, list[Event]], ctx: PatternProcessFunction.Context) -> Iterator[str]:
        assert ctx.current_processing_time() > 0
        yield f"{match['b'][0].name} at {ctx.timestamp()}"

    def process_timed_out_match(self, match: dict[str, list[Event]], ctx: PatternProcessFunction.Context) -> None:
        ctx.output(timed_out, match["a"][0].name)


class Began(PatternTimeoutFunction):
    def timeout(self, match: dict[str, list[Event]], timeout_timestamp: int) -> str:
        return f"{match['a'][0].name} until {timeout_timestamp}"


class AllNames(PatternFlatSelectFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.prefix = "name "

    def flat_select(self, match: dict[str, list[Event]]) -> Iterator[str]:
        for events in match.values():
            yield self.prefix + events[0].name

    def close(self) -> None:
        self.prefix = ""


class AllBegan(PatternFlatTimeoutFunction):
    def timeout(self, match: dict[str, list[Event]], timeout_timestamp: int) -> Iterator[str]:
        yield match["a"][0].name


described = CEP.pattern(stream("abaccc"), quickly).in_event_time().process(Describe())
assert results(described) == ["b at 1"]
assert results(described.get_side_output(timed_out)) == ["a"]
selected = CEP.pattern(stream("abaccc"), quickly).select(timed_out, Began(), Text())
assert results(selected) == ["ab"]
assert results(selected.get_side_output(timed_out)) == ["a until 4"]
flat = CEP.pattern(stream("abaccc"), quickly).flat_select(timed_out, AllBegan(), AllNames())
assert results(flat) == ["name a", "name b"]
assert results(CEP.pattern(stream("ab"), quickly).flat_select(AllNames())) == ["name a", "name b"]


class Alphabetical(EventComparator):
    """The order of events with the same timestamp."""

    def compare(self, o1: Event, o2: Event) -> int:
        return (o1.name > o2.name) - (o1.name < o2.name)


same_time = env.from_collection([Event("b", 0), Event("a", 0)]).assign_timestamps_and_watermarks(in_time)
in_order = Pattern.begin("a").where(a).next("b").where(b)
assert results(CEP.pattern(same_time, in_order, Alphabetical()).select(Text())) == ["ab"]
unordered = CEP.pattern(same_time, in_order).with_comparator(Alphabetical()).side_output_late_data(late)
assert results(unordered.select(Text())) == ["ab"]
assert results(CEP.pattern(stream("ab"), in_order).in_processing_time().select(Text())) == ["ab"]


class Spell(PatternProcessFunction):
    def process_match(self, match: dict[str, list[Event]], ctx: PatternProcessFunction.Context) -> Iterator[Any]:
        yield ctx.get_current_key()


by_time = stream("ab").key_by(lambda event: 7)
assert results(CEP.pattern(by_time, in_order).process(Spell())) == [7]

# What a match discards: events are numbers of their arrival at a time

past = AfterMatchSkipStrategy.skip_past_last_event()
last = past.pruning_id({"a": [(1, 0)], "b": [(2, 0)]})
assert last == (2, 0)
assert past.should_prune((1, 0), last)

# What a pattern is made of

looped = Pattern.begin("a").where(a).one_or_more().until(b).next("b").where(b)
assert looped.stage_names() == ["a", "b"]
assert (looped.group, looped.until_condition) == (None, None)
assert looped.condition is not None
alone = looped.quantifier
assert (alone.has_property(QuantifierProperty.SINGLE), alone.negated, alone.is_optional) == (True, False, False)
assert Quantifier.one(ConsumingStrategy.STRICT).has_property(QuantifierProperty.SINGLE)
some = Quantifier.looping(ConsumingStrategy.SKIP_TILL_NEXT)
some.combinations()
some.optional()
assert some.inner_consuming_strategy is ConsumingStrategy.SKIP_TILL_ANY
few = Quantifier.times(ConsumingStrategy.SKIP_TILL_NEXT)
few.consecutive()
few.greedy()
assert few.has_property(QuantifierProperty.GREEDY)

# Patterns as JSON, and patterns that change while the job runs

plain = Pattern.begin("a").next("b")
assert Pattern.from_json(plain.to_json()).to_json() == plain.to_json()

event_type = Types.ROW_NAMED(["name", "time"], [Types.STRING(), Types.LONG()])
of_two = Pattern.begin("first").where("name = 'a'").next("second").where("name = 'b'").to_json()
rules = env.from_collection([("ab", 1, of_two), ("wrong", 1, "no JSON")])
letters = env.from_collection([("a", 0), ("b", 1)], event_type).assign_timestamps_and_watermarks(
    WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda event, _: event[1])
)
invalid = OutputTag("invalid")
dynamic = CEP.dynamic_patterns(letters, rules).side_output_invalid_patterns(invalid)
assert results(dynamic.select(lambda match: match.pattern_id).get_side_output(invalid))[0][0][0] == "wrong"
