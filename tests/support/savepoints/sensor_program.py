"""A job with every kind of state, in variants: what a savepoint of one of them starts another with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from scurry.common import Configuration, Duration, Encoder, Time, Types, WatermarkStrategy
from scurry.common.job_client import JobClient
from scurry.datastream import DataStream, KeyedProcessFunction, ProcessWindowFunction, StreamExecutionEnvironment
from scurry.datastream.connectors import BucketAssigner, FileSink
from scurry.datastream.functions import KeyedBroadcastProcessFunction
from scurry.datastream.state import MapStateDescriptor, ReducingStateDescriptor, ValueStateDescriptor
from scurry.datastream.window import TumblingEventTimeWindows
from support.held_source import HeldSource

RECORDS = 3000
SENSORS = 17
RULES = MapStateDescriptor("rules", Types.STRING(), Types.INT())
READING = Types.TUPLE([Types.STRING(), Types.LONG(), Types.INT()])
TEXT = Types.STRING()


def reading(index: int) -> tuple[str, int, int]:
    """Sensor, time in milliseconds, value; times are 10 ms apart and out of order by up to 70 ms."""
    return f"sensor-{index % SENSORS}", index * 10 - index * 31 % 8 * 10 + 70, index % 100


class Running(KeyedProcessFunction):
    """A running count of each sensor, its sum at the end, and a timer at every other second of event time."""

    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))
        self.sum = runtime_context.get_reducing_state(ReducingStateDescriptor("sum", lambda a, b: a + b, Types.LONG()))

    def process_element(self, value: Any, ctx: Any) -> Iterator[str]:
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        self.sum.add(value[2])
        ctx.timer_service().register_event_time_timer(value[1] // 2000 * 2000 + 2000)
        yield f"running {value[0]} {count}"
        if count == len(range(int(value[0].split("-")[1]), RECORDS, SENSORS)):
            yield f"sum {value[0]} {self.sum.get()}"

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[str]:
        yield f"timer {ctx.get_current_key()} {timestamp}"


class SumOfWindow(ProcessWindowFunction):
    def process(self, key: str, context: Any, elements: Iterable[Any]) -> Iterator[str]:
        yield f"window {key} {context.window().start} {sum(value for _, _, value in elements)}"


class Alarm(KeyedBroadcastProcessFunction):
    """How often a sensor was above the limit, 90 until a rule says so; `ruled` expects the rule to be there."""

    def __init__(self, ruled: bool) -> None:
        self.ruled = ruled

    def open(self, runtime_context: Any) -> None:
        self.alarms = runtime_context.get_state(ValueStateDescriptor("alarms", Types.INT()))

    def process_element(self, value: Any, ctx: Any) -> Iterator[str]:
        limit = ctx.get_broadcast_state(RULES).get("limit")
        assert limit == 90 or not self.ruled
        if value[2] >= (limit or 90):
            alarms = (self.alarms.value() or 0) + 1
            self.alarms.update(alarms)
            yield f"alarm {value[0]} {alarms}"

    def process_broadcast_element(self, value: Any, ctx: Any) -> None:
        ctx.get_broadcast_state(RULES).put(*value)


def environment(runner: str, parallelism: int, **configuration: str) -> StreamExecutionEnvironment:
    settings = {"scurry.runner": runner, "scurry.progress": "off"}
    settings |= {key.replace("_", "-").replace("--", "."): value for key, value in configuration.items()}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings))
    env.set_parallelism(parallelism)
    return env


def readings(
    env: StreamExecutionEnvironment,
    records: int = RECORDS,
    make: Callable[[int], Any] = reading,
    uid: str = "readings",
) -> DataStream:
    """Records of all sensors, up to the one at which the job's parameter `hold` names a file to wait."""
    hold = env.get_config().get_global_job_parameters().get("hold", "not held")
    source = HeldSource(Path(hold), make, records, READING)
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(100))
    strategy = strategy.with_timestamp_assigner(lambda value, _: value[1])
    return env.from_source(source, strategy, "readings").uid(uid)


def running(stream: DataStream) -> DataStream:
    return stream.key_by(lambda value: value[0], key_type=TEXT).process(Running(), TEXT).uid("running")


def windows(stream: DataStream) -> DataStream:
    keyed = stream.key_by(lambda value: value[0], key_type=TEXT).window(TumblingEventTimeWindows.of(Time.seconds(1)))
    return keyed.process(SumOfWindow(), TEXT).uid("windows")


def totals(stream: DataStream) -> DataStream:
    """A second level: windows over the results of windows."""
    parsed = stream.map(lambda text: ("all", int(text.split()[2]), int(text.split()[3])), READING)
    keyed = parsed.key_by(lambda value: value[0], key_type=TEXT).window(TumblingEventTimeWindows.of(Time.seconds(2)))
    return keyed.process(SumOfWindow(), TEXT).uid("totals")


def alarms(env: StreamExecutionEnvironment, stream: DataStream, ruled: bool = False) -> DataStream:
    rules = env.from_collection([("limit", 90)], Types.TUPLE([TEXT, Types.INT()])).uid("rules").broadcast(RULES)
    keyed = stream.key_by(lambda value: value[0], key_type=TEXT)
    return keyed.connect(rules).process(Alarm(ruled), TEXT).uid("alarms")


def save(stream: DataStream, directory: Path) -> None:
    sink = FileSink.for_row_format(str(directory), Encoder.simple_string_encoder())
    stream.sink_to(sink.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner()).build())


def start(env: StreamExecutionEnvironment, output: Path, *streams: DataStream) -> JobClient:
    """Runs a job that writes some streams into a directory each."""
    for number, stream in enumerate(streams):
        save(stream, output / str(number))
    return env.execute_async("readings")


def lines(*outputs: Path, kind: str = "") -> list[str]:
    """The lines of all visible files, sorted."""
    files = [file for output in outputs for file in output.rglob("*") if file.is_file() and file.name[0] != "."]
    return sorted(line for file in files for line in file.read_text().splitlines() if line.startswith(kind))


def everything(env: StreamExecutionEnvironment, ruled: bool = False) -> list[DataStream]:
    stream = readings(env)
    summed = windows(stream)
    return [running(stream), summed, totals(summed), alarms(env, stream, ruled)]


def goes_on(env: StreamExecutionEnvironment) -> list[DataStream]:
    """The same program, sure to find the state of before."""
    return everything(env, ruled=True)


def only_running(env: StreamExecutionEnvironment) -> list[DataStream]:
    return [running(readings(env))]
