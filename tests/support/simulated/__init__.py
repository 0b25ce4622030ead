"""Programs on simulated machines: what jobs can have, each with a naive evaluation of its right output."""

from __future__ import annotations

from collections.abc import Callable

from scurry.testing import simulation
from scurry.testing.simulation import Program
from support.simulated.keyed import enriched, evolving, expiring, hybrid, overlapping, passed
from support.simulated.late import late
from support.simulated.patterns import pairs
from support.simulated.storage import files, log, objects, sequence
from support.simulated.streams import divided, divided_states, divided_windows, joins, rules
from support.simulated.tables import changes, tumbling

#: Name -> program.
PROGRAMS: dict[str, Callable[[], Program]] = {
    program.__name__: program
    for program in (
        simulation.counts,
        simulation.timers,
        simulation.windows,
        simulation.sessions,
        late,
        joins,
        divided,
        divided_windows,
        divided_states,
        rules,
        expiring,
        evolving,
        overlapping,
        enriched,
        hybrid,
        passed,
        pairs,
        files,
        objects,
        log,
        sequence,
        tumbling,
        changes,
    )
}
