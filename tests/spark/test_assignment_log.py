"""The log of assignments in a checkpoint."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

from scurry.runtime.driver.assignments import SplitAssignment
from scurry.runtime.savepoint.metadata import SourcePositions
from scurry.spark.checkpoint.assignment_log import AssignmentLog, LogEntry, LoggedAssignment
from scurry.spark.checkpoint.storage import LocalStorage

ENTRY = LogEntry(
    [LoggedAssignment(7, SplitAssignment(0, 1, "orders/2", True))],
    SourcePositions({"orders": 3}, {("orders", 1)}, None),
)
#: ENTRY as it was pickled while SourcePositions was in `scurry.runtime.savepoint.taking`
BEFORE = base64.b64decode(
    "gAWVgQEAAAAAAACMJnNjdXJyeS5zcGFyay5jaGVja3BvaW50LmFzc2lnbm1lbnRfbG9nlIwITG9nRW50cnmUk5QpgZR9lCiMC2Fz"
    "c2lnbm1lbnRzlF2UaACMEExvZ2dlZEFzc2lnbm1lbnSUk5QpgZR9lCiMBm9mZnNldJRLB4wIYXNzaWduZWSUjCFzY3VycnkucnVu"
    "dGltZS5kcml2ZXIuYXNzaWdubWVudHOUjA9TcGxpdEFzc2lnbm1lbnSUk5QpgZR9lCiMBnNvdXJjZZRLAIwHY2hhbm5lbJRLAYwF"
    "c3BsaXSUjAhvcmRlcnMvMpSMBWZpbmFslIh1YnViYYwQc291cmNlX3Bvc2l0aW9uc5SMH3NjdXJyeS5ydW50aW1lLnNhdmVwb2lu"
    "dC50YWtpbmeUjA9Tb3VyY2VQb3NpdGlvbnOUk5QpgZR9lCiMCXBvc2l0aW9uc5R9lIwGb3JkZXJzlEsDc4wFZW5kZWSUj5QoaB9L"
    "AYaUkIwIcmVzdG9yZWSUTnVidWIu"
)


def test_an_entry_is_read_as_it_was_written(tmp_path: Path) -> None:
    log = AssignmentLog(LocalStorage(str(tmp_path)))
    log.write(ENTRY)
    assert log.read(7) == ENTRY
    assert log.offsets() == [7]


def test_an_entry_is_read_although_a_module_has_moved_since_it_was_written(tmp_path: Path) -> None:
    assert b"savepoint.taking" in BEFORE
    storage = LocalStorage(str(tmp_path))
    storage.write(AssignmentLog.path(7), hashlib.blake2b(BEFORE, digest_size=16).digest() + BEFORE)
    assert AssignmentLog(storage).read(7) == ENTRY
