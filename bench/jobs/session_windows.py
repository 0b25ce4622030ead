"""Sums per session: as the peer benchmark's W2, with windows that end 2 s after a key's last record.

A PyFlink program; `bench/sessions.py` runs it with PyFlink and, unmodified, with scurry.
"""

from __future__ import annotations

from pyflink.common import Time, Types
from pyflink.datastream.window import EventTimeSessionWindows
from pyflink_base import PAIR, args, csv, environment, event_time, finish

workload, n, opts = args()
env = environment(opts)
records = csv(env, workload, n, ["key", "ts", "value"])
sums = (
    event_time(records, 1)
    .map(lambda r: (r[0], r[2]), output_type=PAIR)
    .key_by(lambda r: r[0], key_type=Types.LONG())
    .window(EventTimeSessionWindows.with_gap(Time.seconds(2)))
    .reduce(lambda a, b: (a[0], a[1] + b[1]))
)
finish(env, sums, n)
