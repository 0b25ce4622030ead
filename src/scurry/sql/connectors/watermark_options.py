"""The options `scan.watermark.*`, which all tables have whose sources have watermarks."""

from __future__ import annotations

from typing import Any

from scurry.errors import ValidationError
from scurry.sql.catalog.table_options import Options, TableOption, one_of
from scurry.sql.connectors.durations import duration

EMIT_STRATEGY = TableOption(
    "scan.watermark.emit.strategy",
    one_of(("on-event", "on-periodic")),
    "on-periodic",
    "When watermarks are emitted: `on-event`, with each row that raises it, or `on-periodic`, when it has moved by "
    "`pipeline.auto-watermark-interval`.",
)
IDLE_TIMEOUT = TableOption(
    "scan.watermark.idle-timeout",
    duration,
    None,
    "After which time without rows a reader does not hold back the watermark; else `table.exec.source.idle-timeout`.",
)
ALIGNMENT_GROUP = TableOption(
    "scan.watermark.alignment.group",
    str,
    None,
    "Tables of one group wait for each other: one that is too far ahead in event time is not read for a while.",
)
ALIGNMENT_DRIFT = TableOption(
    "scan.watermark.alignment.max-drift",
    duration,
    None,
    "How far the watermark of a table may be ahead of the lowest one of its group.",
)
ALIGNMENT_INTERVAL = TableOption(
    "scan.watermark.alignment.update-interval",
    duration,
    1000,
    "Without effect: watermarks are compared before every micro-batch.",
)
_ALIGNMENT: tuple[TableOption[Any], ...] = (ALIGNMENT_GROUP, ALIGNMENT_DRIFT, ALIGNMENT_INTERVAL)
WATERMARK_OPTIONS: tuple[TableOption[Any], ...] = (EMIT_STRATEGY, IDLE_TIMEOUT, *_ALIGNMENT)


def check_watermark_options(options: Options, connector: str) -> None:
    """Check the options of a table.

    Raises:
        ValidationError: A value is wrong, or options do not fit together.
    """
    options.check(WATERMARK_OPTIONS)
    if not any(option in options for option in _ALIGNMENT):
        return
    if ALIGNMENT_GROUP not in options or ALIGNMENT_DRIFT not in options:
        raise ValidationError(
            f"Error configuring watermark for '{connector}', '{ALIGNMENT_GROUP.key}' and '{ALIGNMENT_DRIFT.key}' must "
            "be set when configuring watermark alignment"
        )
