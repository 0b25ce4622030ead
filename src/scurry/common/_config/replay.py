"""Configuration keys of captured micro-batches, which `scurry replay` runs again."""

from __future__ import annotations

from scurry.common.config_options import ConfigOption, at_least, one_of, parse_bytes

REPLAY_CAPTURE = ConfigOption(
    "scurry.replay.capture",
    one_of("off", "failures", "all"),
    "off",
    "Which micro-batches of a STREAMING job are kept for `scurry replay`: none, those that fail, or all. What is kept "
    "has the records, the state that was touched, and the program's functions.",
)
REPLAY_DIR = ConfigOption(
    "scurry.replay.dir",
    str,
    None,
    "Directory or URI for that, which all workers must reach; if not set, `replay` in the job's checkpoint directory, "
    "or this user's directory for jobs without checkpoints.",
)
REPLAY_MAX_BYTES = ConfigOption(
    "scurry.replay.max-bytes",
    parse_bytes,
    64 << 20,
    "Bytes that the kept micro-batches of a subtask may have: the oldest are deleted, and one that is larger by itself "
    "is not kept.",
)
REPLAY_MAX_BATCHES = ConfigOption(
    "scurry.replay.max-batches", at_least(1), 10, "How many micro-batches of a subtask are kept, the latest ones."
)

REPLAY_OPTIONS: tuple[ConfigOption[object], ...] = (
    REPLAY_CAPTURE,
    REPLAY_DIR,
    REPLAY_MAX_BYTES,
    REPLAY_MAX_BATCHES,
)  # type: ignore[assignment]
"""Every key of this subject."""
