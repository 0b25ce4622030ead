"""The log of assignments in a checkpoint."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

from scurry.runtime.checkpoint.storage import LocalStorage
from scurry.runtime.exchange.wire import SplitAssignment
from scurry.runtime.savepoint.metadata import SourcePositions
from scurry.runtime.savepoint.restore import RestoreWork
from scurry.runtime.state.evolution.operator import drop
from scurry.spark.checkpoint.assignment_log import AssignmentLog, LogEntry, LoggedAssignment

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

#: An entry with state to restore, as it was pickled while the modules of state evolution were apart.
RESTORING_BEFORE = base64.b64decode(
    "gAWVAAMAAAAAAACMJnNjdXJyeS5zcGFyay5jaGVja3BvaW50LmFzc2lnbm1lbnRfbG9nlIwITG9nRW50cnmUk5QpgZR9lCiMC2Fz"
    "c2lnbm1lbnRzlF2UaACMEExvZ2dlZEFzc2lnbm1lbnSUk5QpgZR9lCiMBm9mZnNldJRLA4wIYXNzaWduZWSUjCBzY3VycnkucnVu"
    "dGltZS5zYXZlcG9pbnQucmVzdG9yZZSMC1Jlc3RvcmVXb3JrlJOUKYGUfZQojAtkaXN0cmlidXRvcpRoDYwQU3RhdGVEaXN0cmli"
    "dXRvcpSTlCmBlH2UKIwJb3BlcmF0b3JzlH2UjA9tYXhfcGFyYWxsZWxpc22US4CMCW1pZ3JhdGlvbpSMInNjdXJyeS5ydW50aW1l"
    "LnNhdmVwb2ludC5taWdyYXRpb26UjAdfdW5wYWNrlJOUQgcBAACABZX8AAAAAAAAAH2UKIwJb3BlcmF0b3JzlH2UjARzdW1zlIwe"
    "c2N1cnJ5LnJ1bnRpbWUuc3RhdGUubWlncmF0aW9ulIwRT3BlcmF0b3JNaWdyYXRpb26Uk5QpgZR9lCiMCG9wZXJhdG9ylIwPb3Bl"
    "cmF0b3IgJ3N1bXMnlIwGc3RhdGVzlH2UjAVjb3VudJRoBIwEZHJvcJSTlHOMB2NsYXNzZXOUjBxzY3VycnkucnVudGltZS5zdGF0"
    "ZS5jbGFzc2VzlIwOQ2hhbmdlZENsYXNzZXOUk5R9lIWUUpR1YnOMB3NjaGVtYXOUfZSMBW5vdGVzlF2UjAlfcmVzdG9yZWSUfZR1"
    "LpSFlFKUjAZmaWx0ZXKUTnVijARmaWxllE6MCnJvd19ncm91cHOUKYwHZW50cmllc5QpdWJ1YmGMEHNvdXJjZV9wb3NpdGlvbnOU"
    "jCFzY3VycnkucnVudGltZS5zYXZlcG9pbnQubWV0YWRhdGGUjA9Tb3VyY2VQb3NpdGlvbnOUk5QpgZR9lCiMCXBvc2l0aW9uc5R9"
    "lIwFZW5kZWSUj5SMCHJlc3RvcmVklEsBdWJ1Yi4="
)


def test_an_entry_is_read_as_it_was_written(tmp_path: Path) -> None:
    log = AssignmentLog(LocalStorage(str(tmp_path)))
    log.write(ENTRY)
    assert log.read(7) == ENTRY
    assert log.offsets() == [7]


def test_an_entry_is_read_although_a_module_has_moved_since_it_was_written(tmp_path: Path) -> None:
    assert b"savepoint.taking" in BEFORE
    assert read(tmp_path, BEFORE) == ENTRY


def test_a_migration_is_read_although_its_modules_have_moved_since_it_was_written(tmp_path: Path) -> None:
    assert b"scurry.runtime.state.migration" in RESTORING_BEFORE
    work = read(tmp_path, RESTORING_BEFORE).assignments[0].assigned
    assert isinstance(work, RestoreWork) and work.distributor.migration is not None
    assert work.distributor.migration.operators["sums"].states == {"count": drop}


def read(directory: Path, pickled: bytes) -> LogEntry:
    """Return the entry of a log that contains nothing else."""
    storage = LocalStorage(str(directory))
    storage.write(AssignmentLog.path(7), hashlib.blake2b(pickled, digest_size=16).digest() + pickled)
    return AssignmentLog(storage).read(7)
