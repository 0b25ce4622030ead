"""A keyed function whose records say what to do with timers and state."""

from __future__ import annotations

from typing import Any

try:
    from scurry.common import Time, Types
    from scurry.datastream import TimeDomain
    from scurry.datastream import functions as fn
    from scurry.datastream import state as st
except ImportError:  # on Flink itself
    from pyflink.common import Time, Types  # type: ignore[no-redef]
    from pyflink.datastream import TimeDomain  # type: ignore[no-redef]
    from pyflink.datastream import functions as fn  # type: ignore[no-redef]
    from pyflink.datastream import state as st  # type: ignore[no-redef]


class Commands(fn.KeyedProcessFunction):
    """Does what the record's value says: `{command: argument, ...}`, one after another.

    event, processing: set a timer at that time; delete_event, delete_processing: delete one. again: each timer that
    fires sets another one so many ms later, as long as that is below `until`. time: emit the record's timestamp and the
    watermark. Everything else is done to the state, see `State`; reading emits what was read.
    """

    def __init__(self, spec: dict[str, Any]) -> None:
        self.spec = spec

    def open(self, runtime_context: Any) -> None:
        self.state = state_of(self.spec)
        self.state.open(runtime_context)

    def process_element(self, value: Any, ctx: Any) -> Any:
        timers = ctx.timer_service()
        set_or_delete = {
            "event": timers.register_event_time_timer,
            "processing": timers.register_processing_time_timer,
            "delete_event": timers.delete_event_time_timer,
            "delete_processing": timers.delete_processing_time_timer,
        }
        for command, argument in value[1].items():
            if command in set_or_delete:
                set_or_delete[command](argument)
            elif command == "time":
                yield [value[0], ctx.timestamp(), timers.current_watermark()]
            else:
                for result in self.state.do(command, argument):
                    yield [value[0], result]

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        event = ctx.time_domain() == TimeDomain.EVENT_TIME
        yield [ctx.get_current_key(), "event" if event else "processing", timestamp]
        later = timestamp + self.spec.get("again", 0)
        if timestamp < later <= self.spec.get("until", 0):
            timers = ctx.timer_service()
            (timers.register_event_time_timer if event else timers.register_processing_time_timer)(later)


def ttl_config(spec: dict[str, Any]) -> Any:
    """`{ms: time to live, update: on_read, visibility: expired}`; the last two only where they are not the default."""
    builder = st.StateTtlConfig.new_builder(Time.milliseconds(spec["ms"]))
    if spec.get("update") == "on_read":
        builder = builder.update_ttl_on_read_and_write()
    if spec.get("visibility") == "expired":
        builder = builder.return_expired_if_not_cleaned_up()
    return builder.build()


def state_of(spec: dict[str, Any]) -> State:
    """The state that commands of a script are about: `state` (value, list, map, reducing) with `ttl`."""
    state: State = STATES[spec.get("state", "value")]()
    if "ttl" in spec:
        state.descriptor.enable_time_to_live(ttl_config(spec["ttl"]))
    return state


class State:
    """A state by its descriptor, and what commands do to it."""

    descriptor: Any
    getter: str

    def open(self, context: Any) -> None:
        self.state = getattr(context, self.getter)(self.descriptor)

    def do(self, command: str, argument: Any) -> list[Any]:
        """Carries out a command; returns what it has read."""
        result = getattr(self, command)(argument)
        return [] if result is None else result


class ValueOf(State):
    getter = "get_state"

    def __init__(self) -> None:
        self.descriptor = st.ValueStateDescriptor("s", Types.INT())

    def get(self, argument: Any) -> list[Any]:
        return [self.state.value()]

    def put(self, argument: int) -> None:
        self.state.update(argument)

    def clear(self, argument: Any) -> None:
        self.state.clear()


class ListOf(State):
    getter = "get_list_state"

    def __init__(self) -> None:
        self.descriptor = st.ListStateDescriptor("s", Types.INT())

    def get(self, argument: Any) -> list[Any]:
        return [list(self.state.get() or [])]

    def add(self, argument: int) -> None:
        self.state.add(argument)

    def put(self, argument: list[int]) -> None:
        self.state.update(argument)


class MapOf(State):
    getter = "get_map_state"

    def __init__(self) -> None:
        self.descriptor = st.MapStateDescriptor("s", Types.STRING(), Types.INT())

    def get(self, argument: str) -> list[Any]:
        return [self.state.get(argument)]

    def items(self, argument: Any) -> list[Any]:
        return [sorted([key, value] for key, value in self.state.items())]

    def put(self, argument: list[Any]) -> None:
        self.state.put(*argument)


class ReducingOf(State):
    getter = "get_reducing_state"

    def __init__(self) -> None:
        self.descriptor = st.ReducingStateDescriptor("s", plus, Types.INT())

    def get(self, argument: Any) -> list[Any]:
        return [self.state.get()]

    def add(self, argument: int) -> None:
        self.state.add(argument)


def plus(left: int, right: int) -> int:
    return left + right


STATES: dict[str, Any] = {"value": ValueOf, "list": ListOf, "map": MapOf, "reducing": ReducingOf}
