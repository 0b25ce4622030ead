"""Configuration keys of state on the disks of the machines that run a job."""

from __future__ import annotations

import os

from scurry.common.config_options import ConfigOption, parse_boolean, parse_bytes


def _directory(text: str) -> str:
    if "," in text or not os.path.isabs(text):
        raise ValueError("expected the absolute path of one directory")
    return text


LOCAL_DIRECTORY = ConfigOption(
    "state.backend.rocksdb.localdir",
    _directory,
    None,
    "Where workers keep copies of large state; in Spark's local directory if not set.",
)
RECOVER_FROM_LOCAL = ConfigOption(
    "execution.state-recovery.from-local",
    parse_boolean,
    True,
    "Whether a job that resumes on the same machine uses the copies that it left there.",
    aliases=("state.backend.local-recovery",),
)
LOCAL_MAX_BYTES = ConfigOption(
    "scurry.state.local.max-bytes",
    parse_bytes,
    10 << 30,
    "How much the copies of jobs that do not run may have together; the oldest are removed when a job starts.",
)
SUPERSEDED_MAX_BYTES = ConfigOption(
    "scurry.state.superseded.max-bytes",
    parse_bytes,
    1 << 30,
    "How much large files of state that merges have superseded may take up in the checkpoint; each subtask has an "
    "equal part of it. Those to which the last ten micro-batches can be rolled back are kept anyway.",
)

STATE_OPTIONS: tuple[ConfigOption[object], ...] = (
    LOCAL_DIRECTORY,
    RECOVER_FROM_LOCAL,
    LOCAL_MAX_BYTES,
    SUPERSEDED_MAX_BYTES,
)  # type: ignore[assignment]
"""Every key of this subject."""
