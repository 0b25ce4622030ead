"""Aircraft that came in late three times in a row, and then on time: a pattern on a year of flights from New York.

    scurry run --runner local examples/recovering_aircraft.py --months 1
    python examples/recovering_aircraft.py --mode batch            # on Spark, the same results

The flights are those of `flights.py`. Reports are out of order by the length of a flight and its delay; the pattern
sees the flights of an aircraft in the order of their departures.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from datetime import timedelta

from flights import REPORT, code, columns, day_of, parse, read_reports, save, write_reports

from scurry.cep import CEP, AfterMatchSkipStrategy, Pattern, PatternProcessFunction, TimedOutPartialMatchHandler
from scurry.common import Configuration, Duration, Row, Types, WatermarkStrategy
from scurry.datastream import OutputTag, RuntimeExecutionMode, StreamExecutionEnvironment
from scurry.datastream.connectors.file_system import FileSource
from scurry.datastream.formats.csv import CsvReaderFormat

LATE_MINUTES = 30
RECOVERY = columns(tailnum=str, day=str, late_flights=str, worst=int, recovered_day=str, recovered_flight=str)
STILL_LATE = columns(tailnum=str, day=str, late_flights=str)
NOT_RECOVERED = OutputTag("not recovered")


def is_late(flight: Row) -> bool:
    return flight.arrival_delay is not None and flight.arrival_delay > LATE_MINUTES


def is_on_time(flight: Row) -> bool:
    return flight.arrival_delay is not None and flight.arrival_delay <= 0


def recovery() -> Pattern:
    """Three late flights without another one between, then one on time, all within a week."""
    late = Pattern.begin("late", AfterMatchSkipStrategy.skip_past_last_event()).where(is_late).times(3).consecutive()
    return late.followed_by("recovered").where(is_on_time).within(timedelta(days=7))


class Recoveries(PatternProcessFunction[Row, Row], TimedOutPartialMatchHandler[Row]):
    """Say which flights they were; aircraft that stay late for a week go to a side output."""

    def process_match(self, match: dict[str, list[Row]], ctx: PatternProcessFunction.Context) -> Iterator[Row]:
        late, (recovered,) = match["late"], match["recovered"]
        worst = max(flight.arrival_delay for flight in late)
        yield Row(ctx.get_current_key(), day_of(late[0].scheduled), " ".join(map(code, late)), worst,
                  day_of(recovered.scheduled), code(recovered))  # fmt: skip

    def process_timed_out_match(self, match: dict[str, list[Row]], ctx: PatternProcessFunction.Context) -> Iterator:
        late = match["late"]
        if len(late) == 3:
            yield NOT_RECOVERED, Row(ctx.get_current_key(), day_of(late[0].scheduled), " ".join(map(code, late)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mode", choices=["streaming", "batch"], help="runtime mode (default: streaming)")
    args = parse(parser)
    write_reports(read_reports(args.data, args.months), args.output / "reports")

    env = StreamExecutionEnvironment.get_execution_environment(Configuration())
    if args.mode is not None:
        env.set_runtime_mode(RuntimeExecutionMode[args.mode.upper()])
    source = FileSource.for_record_stream_format(CsvReaderFormat.for_schema(REPORT), str(args.output / "reports"))
    event_time = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_days(2)).with_timestamp_assigner(
        lambda flight, _: flight.scheduled
    )
    flights = env.from_source(source.build(), event_time, "flight reports")
    aircraft = flights.filter(lambda flight: flight.tailnum is not None)
    by_tail = aircraft.key_by(lambda flight: flight.tailnum, key_type=Types.STRING())

    found = CEP.pattern(by_tail, recovery(), by_number).process(Recoveries()).name("recoveries").uid("recoveries")
    save(found, RECOVERY, args.output / "recoveries")
    save(found.get_side_output(NOT_RECOVERED), STILL_LATE, args.output / "not-recovered")
    env.execute("recovering aircraft")
    print(f"results: {args.output}")


def by_number(one: Row, other: Row) -> int:
    """Order flights that depart at the same time."""
    first, second = (one.carrier, one.flight), (other.carrier, other.flight)
    return (first > second) - (first < second)


if __name__ == "__main__":
    main()
