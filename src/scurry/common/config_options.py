"""The configuration keys that mean something to scurry, and how their values are written.

Keys that Flink has as well keep Flink's name, value syntax and default; scurry's own begin with `scurry.`.
`config_validation` says what becomes of all other keys.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

from scurry.errors import ConfigError

__all__ = [
    "AUTO_WATERMARK_INTERVAL",
    "BATCH_MAX_BYTES",
    "BATCH_MAX_RECORDS",
    "BATCH_TARGET_DURATION",
    "CHECKPOINTING_DIR",
    "CHECKPOINTING_INTERVAL",
    "FINAL_SAVEPOINT_DIR",
    "GLOBAL_JOB_PARAMETERS",
    "JOB_NAME",
    "MAX_PARALLELISM",
    "OPERATOR_CHAINING",
    "OPTIONS",
    "PARALLELISM",
    "PROGRESS",
    "RUNNER",
    "RUNTIME_MODE",
    "SAVEPOINTS_DIR",
    "TICK_INTERVAL",
    "ConfigOption",
    "at_least",
    "one_of",
    "parse_boolean",
    "parse_bytes",
    "parse_duration",
    "parse_map",
]

T = TypeVar("T")


def parse_boolean(text: str) -> bool:
    """Return True for `true` and False for `false`, in any case.

    Raises:
        ValueError: It is neither.
    """
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    raise ValueError("expected true or false")


_NANOS_PER_UNIT = {
    **dict.fromkeys(("d", "day", "days"), 86_400_000_000_000),
    **dict.fromkeys(("h", "hour", "hours"), 3_600_000_000_000),
    **dict.fromkeys(("m", "min", "minute", "minutes"), 60_000_000_000),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1_000_000_000),
    **dict.fromkeys(("", "ms", "milli", "millis", "millisecond", "milliseconds"), 1_000_000),
    **dict.fromkeys(("µs", "micro", "micros", "microsecond", "microseconds"), 1_000),
    **dict.fromkeys(("ns", "nano", "nanos", "nanosecond", "nanoseconds"), 1),
}

_ISO_DURATION = re.compile(
    r"([-+]?)P(?:([-+]?\d+)D)?(?:T(?=[-+\d])(?:([-+]?\d+)H)?(?:([-+]?\d+)M)?(?:([-+]?\d+(?:\.\d{0,9})?)S)?)?",
    re.IGNORECASE,
)


def parse_duration(text: str) -> int:
    """Return a duration in whole milliseconds, rounded down.

    Args:
        text: As Flink writes it: `200 ms`, `10s`, `5 min`, `1 d`, a bare number of milliseconds, or ISO-8601: `PT10S`.

    Raises:
        ValueError: It is none of these.
    """
    stripped = text.strip()
    if plain := re.fullmatch(r"(\d+)\s*([a-zµ]*)", stripped.lower()):
        nanos_per_unit = _NANOS_PER_UNIT.get(plain[2])
        if nanos_per_unit is not None:
            return int(plain[1]) * nanos_per_unit // 1_000_000
    iso = _ISO_DURATION.fullmatch(stripped)
    if iso and any(iso.groups()[1:]):
        days, hours, minutes, seconds = (Fraction(part or 0) for part in iso.groups()[1:])
        millis = (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000
        return int(-millis if iso[1] == "-" else millis)
    raise ValueError("expected a duration such as '200 ms', '10 s', '5 min', '1 d' or 'PT10S'")


_BYTES_PER_UNIT = {
    **dict.fromkeys(("", "b", "bytes"), 1),
    **dict.fromkeys(("k", "kb", "kibibytes"), 1 << 10),
    **dict.fromkeys(("m", "mb", "mebibytes"), 1 << 20),
    **dict.fromkeys(("g", "gb", "gibibytes"), 1 << 30),
    **dict.fromkeys(("t", "tb", "tebibytes"), 1 << 40),
}


def parse_bytes(text: str) -> int:
    """Return a memory size in bytes.

    Args:
        text: As Flink writes it: `512 mb`, `1g`, or a bare number of bytes; units are powers of 1024.

    Raises:
        ValueError: It is none of these.
    """
    size = re.fullmatch(r"(\d+)\s*([a-z]*)", text.strip().lower())
    if size and size[2] in _BYTES_PER_UNIT:
        return int(size[1]) * _BYTES_PER_UNIT[size[2]]
    raise ValueError("expected a size such as '512 mb', '1 gb' or a number of bytes")


def parse_map(text: str) -> dict[str, str]:
    """Return the entries of a map.

    Args:
        text: As Flink writes it: `key:value,key:value`, or `{key: value, key: value}`.

    Raises:
        ValueError: It is neither.
    """
    inner = text.strip()
    if inner.startswith("{") and inner.endswith("}"):
        inner = inner[1:-1].strip()
    entries: dict[str, str] = {}
    for entry in inner.split(",") if inner else ():
        key, *values = (part.strip() for part in entry.split(":"))
        if len(values) != 1 or not key or not values[0]:
            raise ValueError(
                f"expected key:value,key:value, not {entry.strip()!r}; set values with commas or colons by "
                "env.get_config().set_global_job_parameters(...)"
            )
        entries[key] = values[0]
    return entries


def one_of(*choices: str) -> Callable[[str], str]:
    """Return a parser that takes one of these words, in any case."""

    def parse(text: str) -> str:
        for choice in choices:
            if text.lower() == choice.lower():
                return choice
        raise ValueError(f"expected one of {', '.join(choices)}")

    return parse


def at_least(low: int, high: int | None = None) -> Callable[[str], int]:
    """Return a parser of whole numbers within limits."""

    def parse(text: str) -> int:
        number = int(text)
        if number < low or (high is not None and number > high):
            raise ValueError(f"expected {low} or more" if high is None else f"expected {low} to {high}")
        return number

    return parse


def _positive_duration(text: str) -> int:
    milliseconds = parse_duration(text)
    if milliseconds <= 0:
        raise ValueError("expected more than 0 ms")
    return milliseconds


@dataclass(frozen=True)
class ConfigOption(Generic[T]):
    """A key with its meaning.

    Attributes:
        key: The key.
        type: Turns the text of a value into the value; raises ValueError, saying what it expects.
        default: What holds if the key is not set.
        description: What it is for, with units.
        aliases: Older or newer names of Flink's for the same key.
    """

    key: str
    type: Callable[[str], T]
    default: T | None
    description: str
    aliases: tuple[str, ...] = ()

    def parse(self, text: str) -> T:
        """Return the value written as `text`.

        Raises:
            ConfigError: It cannot be read.
        """
        try:
            return self.type(text)
        except ValueError as error:
            raise ConfigError(f"configuration {self.key} = {text!r} cannot be used: {error}") from None


PARALLELISM = ConfigOption(
    "parallelism.default",
    at_least(1),
    None,
    "Subtasks of operators that do not set their own; the number of CPUs if not set.",
)
MAX_PARALLELISM = ConfigOption(
    "pipeline.max-parallelism",
    at_least(-1, 1 << 15),
    None,
    "Number of key groups, the most a job can be rescaled to; -1 is the same as not set.",
)
AUTO_WATERMARK_INTERVAL = ConfigOption(
    "pipeline.auto-watermark-interval", parse_duration, 200, "Time between watermarks, in milliseconds; 0 emits none."
)
JOB_NAME = ConfigOption("pipeline.name", str, None, "Name of the job if `execute` is given none.")
GLOBAL_JOB_PARAMETERS = ConfigOption(
    "pipeline.global-job-parameters", parse_map, None, "Parameters for functions, as `key:value,key:value`."
)
OPERATOR_CHAINING = ConfigOption(
    "pipeline.operator-chaining.enabled",
    parse_boolean,
    True,
    "Whether operators may share a task with what precedes them.",
    aliases=("pipeline.operator-chaining",),
)
RUNTIME_MODE = ConfigOption(
    "execution.runtime-mode",
    one_of("STREAMING", "BATCH", "AUTOMATIC"),
    "STREAMING",
    "STREAMING, BATCH, or AUTOMATIC, which is BATCH if all sources are bounded.",
)
CHECKPOINTING_DIR = ConfigOption(
    "execution.checkpointing.dir",
    str,
    None,
    "Directory or URI of the checkpoints; a job without it starts afresh each time.",
    aliases=("state.checkpoints.dir",),
)
CHECKPOINTING_INTERVAL = ConfigOption(
    "execution.checkpointing.interval", parse_duration, None, "Time between checkpoints, in milliseconds."
)
SAVEPOINTS_DIR = ConfigOption(
    "state.savepoints.dir",
    str,
    None,
    "Directory or URI savepoints are written to if a command names none.",
    aliases=("execution.checkpointing.savepoint-dir",),
)
RECOVERY_PATH = ConfigOption(
    "execution.state-recovery.path",
    str,
    None,
    "Directory or URI of the savepoint a job starts from.",
    aliases=("execution.savepoint.path",),
)
IGNORE_UNCLAIMED = ConfigOption(
    "execution.state-recovery.ignore-unclaimed-state",
    parse_boolean,
    False,
    "Whether state of the savepoint that no operator takes is dropped; otherwise the job does not start.",
    aliases=("execution.savepoint.ignore-unclaimed-state",),
)
ALLOW_UNTRUSTED = ConfigOption(
    "scurry.savepoint.allow-untrusted",
    parse_boolean,
    False,
    "Whether a job starts from a savepoint or checkpoint that others could have written; they could run code in it.",
)
FINAL_SAVEPOINT_DIR = ConfigOption(
    "scurry.final-savepoint.dir",
    str,
    None,
    "Directory or URI in which a BATCH job leaves a savepoint when it ends; if not set, its state is dropped.",
)
RUNNER = ConfigOption(
    "scurry.runner", one_of("spark", "local"), "spark", "What runs jobs: Spark, or this very process."
)
PROGRESS = ConfigOption(
    "scurry.progress",
    one_of("auto", "plain", "off"),
    "auto",
    "What execute() shows of a running job on standard error: auto is live lines on terminals and plain lines "
    "elsewhere.",
)
BATCH_MAX_BYTES = ConfigOption(
    "scurry.batch.max-bytes",
    parse_bytes,
    512 << 20,
    "Bytes of files, or of values in Kafka, that a source reads per micro-batch at most.",
)
BATCH_MAX_RECORDS = ConfigOption(
    "scurry.batch.max-records",
    at_least(1),
    None,
    "Records that a source reads per micro-batch at most; 10 million if not set.",
)
BATCH_TARGET_DURATION = ConfigOption(
    "scurry.batch.target-duration",
    _positive_duration,
    None,
    "How long a micro-batch should take while a source has more than it may read: what the next one may read follows "
    "from the speed of the last; 5 s or the checkpointing interval, whichever is longer, if not set.",
)
TICK_INTERVAL = ConfigOption(
    "scurry.tick-interval",
    parse_duration,
    200,
    "Time between micro-batches of a job that waits for processing time, in milliseconds.",
)
CACHE_DIR = ConfigOption(
    "scurry.cache-dir",
    str,
    None,
    "Directory or URI for what DataStream.cache() keeps, which all workers must reach; the driver's directory for "
    "temporary files if not set.",
)

OPTIONS: tuple[ConfigOption[object], ...] = (
    PARALLELISM,
    MAX_PARALLELISM,
    AUTO_WATERMARK_INTERVAL,
    JOB_NAME,
    GLOBAL_JOB_PARAMETERS,
    OPERATOR_CHAINING,
    RUNTIME_MODE,
    CHECKPOINTING_DIR,
    CHECKPOINTING_INTERVAL,
    SAVEPOINTS_DIR,
    RECOVERY_PATH,
    IGNORE_UNCLAIMED,
    ALLOW_UNTRUSTED,
    FINAL_SAVEPOINT_DIR,
    RUNNER,
    PROGRESS,
    BATCH_MAX_BYTES,
    BATCH_MAX_RECORDS,
    BATCH_TARGET_DURATION,
    TICK_INTERVAL,
    CACHE_DIR,
)  # type: ignore[assignment]
"""Keys of jobs in general; checkpoints and restarts have files of their own, and `spark.*` goes to Spark as it is."""
