"""Positions of the binlog by time and by GTID, from which a job reads changes."""

from __future__ import annotations

import contextlib
import random
import re
from collections.abc import Callable, Sequence
from typing import Any

from scurry.connectors.cdc.capture import LogPosition
from scurry.connectors.cdc.mysql.connection import connected, explained, login
from scurry.connectors.cdc.mysql.settings import MySqlSettings
from scurry.errors import LogLostError, UnsupportedError, ValidationError

#: The place of the first event of a file.
FIRST_PLACE = 4
#: Events of a page; the list of GTIDs is among the first ones of a file.
_PAGE, _HEAD = 5000, 10
#: The domain, the server and the number of a transaction of MariaDB.
_GTID = re.compile(r"(\d+)-(\d+)-(\d+)")

#: Asks the server, and returns the rows.
Ask = Callable[[str], Sequence[Sequence[Any]]]


def position_of_time(settings: MySqlSettings, files: Sequence[str], millis: int) -> LogPosition:
    """Return the begin of the last file that begins before a time, of the first one if none does.

    Changes before the time are left out when the file is read.

    Args:
        settings: The server.
        files: The files of the binlog, oldest first.
        millis: The time, in milliseconds since 1970.
    """
    for file in reversed(files):
        if _begin_of(settings, file) * 1000 <= millis:
            return [file, FIRST_PLACE]
    return [files[0], FIRST_PLACE]


def _begin_of(settings: MySqlSettings, file: str) -> int:
    """Return when a file was begun, in seconds since 1970."""
    from pymysqlreplication import BinLogStreamReader

    with explained(settings):
        stream = BinLogStreamReader(
            connection_settings=login(settings),
            pymysql_wrapper=connected,
            server_id=random.randint(*settings.server_ids),
            log_file=file,
            log_pos=FIRST_PLACE,
            resume_stream=True,
            blocking=False,
            filter_non_implemented_events=False,
            enable_logging=False,
        )
        with contextlib.closing(stream):
            return next((event.timestamp for event in stream if event.timestamp), 0)


def position_of_gtid(settings: MySqlSettings, files: Sequence[str], gtid: str, ask: Ask) -> LogPosition:
    """Return the position behind a transaction of MariaDB.

    Args:
        settings: The server.
        files: The files of the binlog, oldest first.
        gtid: Its domain, server and number, such as `0-1-100`.
        ask: Asks the server.

    Raises:
        LogLostError: The server has purged the log behind it.
        UnsupportedError: It is a set of MySQL, or has several domains.
        ValidationError: It is no GTID, or the server has not come to it.
    """
    domain, number = _parsed(gtid)
    for file in reversed(files):
        head = ask(f"SHOW BINLOG EVENTS IN '{file}' LIMIT {_HEAD}")
        before = next((str(event[5]) for event in head if event[2] == "Gtid_list"), "")
        if _number_in(before, domain) <= number:
            return _behind(file, domain, number, gtid, ask)
    raise LogLostError(f"changes of {settings.shown} are lost: the binlog begins behind GTID {gtid}").with_hint(
        "'scan.startup.mode' = 'initial' reads the tables; binlog_expire_logs_seconds says how long the binlog is kept"
    )


def _parsed(gtid: str) -> tuple[str, int]:
    found = _GTID.fullmatch(gtid.strip())
    if found is not None:
        return found[1], int(found[3])
    if ":" in gtid:
        raise UnsupportedError(f"GTID set {gtid}: those of MySQL are not read").with_hint(
            "'scan.startup.specific-offset.file' and '.pos' say where to begin; SHOW MASTER STATUS prints both"
        )
    if "," in gtid:
        raise UnsupportedError(f"GTIDs {gtid}: the position is that of one domain").with_hint(
            "'scan.startup.specific-offset.file' and '.pos' say where to begin; SHOW MASTER STATUS prints both"
        )
    raise ValidationError(f"{gtid!r} is no GTID of MariaDB").with_hint(
        "it has a domain, a server and a number, such as 0-1-100: SELECT @@gtid_binlog_pos"
    )


def _number_in(text: str, domain: str) -> int:
    """Return the number of the last transaction of a domain, 0 for none."""
    return max((int(number) for of, _, number in _GTID.findall(text) if of == domain), default=0)


def _behind(file: str, domain: str, number: int, gtid: str, ask: Ask) -> LogPosition:
    place, last = FIRST_PLACE, 0
    while events := ask(f"SHOW BINLOG EVENTS IN '{file}' FROM {place} LIMIT {_PAGE}"):
        for event in events:
            found = _GTID.search(str(event[5])) if event[2] == "Gtid" else None
            if found is not None and found[1] == domain:
                if int(found[3]) > number:
                    return [file, int(event[1])]
                last = int(found[3])
            elif event[2] == "Gtid_list":
                last = _number_in(str(event[5]), domain)
        place = int(events[-1][4])
        if len(events) < _PAGE:
            break
    if last < number:
        raise ValidationError(f"the server has not come to GTID {gtid}: its last one of domain {domain} is {last}")
    return [file, place]
