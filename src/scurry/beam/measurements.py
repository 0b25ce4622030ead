"""The measurements of bundles: Beam's metrics."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable
from functools import reduce
from typing import Any

from apache_beam import coders
from apache_beam.metrics import monitoring_infos
from apache_beam.portability.api import metrics_pb2


class Measurements:
    """The measurements of the bundles of a job, added up by stage."""

    def __init__(self) -> None:
        self._infos: dict[str, list[Any]] = defaultdict(list)
        self._lock = threading.Lock()

    def __call__(self, records: list[tuple[str, bytes]]) -> None:
        """Add the measurements of a committed batch."""
        with self._lock:
            for stage, info in records:
                self._infos[stage].append(metrics_pb2.MonitoringInfo.FromString(info))
            for stage in {stage for stage, _ in records}:
                self._infos[stage] = _added_up(self._infos[stage])

    def by_stage(self) -> dict[str, list[Any]]:
        """Return all that was measured so far."""
        with self._lock:
            return {stage: list(infos) for stage, infos in self._infos.items()}


def _added_up(infos: list[Any]) -> list[Any]:
    """Return one info for each metric; Beam adds up counters and distributions only."""
    found: dict[Any, list[Any]] = defaultdict(list)
    for info in monitoring_infos.consolidate(infos):
        found[monitoring_infos.to_key(info)].append(info)
    return [reduce(_COMBINED.get(same[0].type, _later), same) for same in found.values()]


def _later(a: Any, b: Any) -> Any:
    return b


def _latest(a: Any, b: Any) -> Any:
    """Return the gauge that was set last."""
    times = [coders.VarIntCoder().get_impl().decode_nested(each.payload) for each in (a, b)]
    return b if times[1] >= times[0] else a


def _united(a: Any, b: Any) -> Any:
    """Return a set of the texts of two."""
    coder = coders.IterableCoder(coders.StrUtf8Coder())
    payload = coder.encode(sorted({*coder.decode(a.payload), *coder.decode(b.payload)}))
    return metrics_pb2.MonitoringInfo(urn=a.urn, type=a.type, labels=dict(a.labels), payload=payload)


def _combined_tries(a: Any, b: Any) -> Any:
    """Return a bounded trie of the paths of two."""
    tries = [monitoring_infos.extract_bounded_trie_value(each) for each in (a, b)]
    payload = tries[0].combine(tries[1]).to_proto().SerializeToString()
    return metrics_pb2.MonitoringInfo(urn=a.urn, type=a.type, labels=dict(a.labels), payload=payload)


_COMBINED: dict[str, Callable[[Any, Any], Any]] = {
    monitoring_infos.LATEST_INT64_TYPE: _latest,
    monitoring_infos.STRING_SET_TYPE: _united,
    monitoring_infos.BOUNDED_TRIE_TYPE: _combined_tries,
}
