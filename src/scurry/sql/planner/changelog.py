"""Changelog modes of a STREAMING plan: the kinds of changes of its rows, inferred as Flink does.

Inputs decide which kinds an operation produces. Consumers decide, from the sinks down, whether updates need the row
before (UPDATE_BEFORE) beside the row after. `RULES` has a line per operation.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from scurry._dataclasses import dataclass
from scurry.common._config.tables import SINK_UPSERT_MATERIALIZE
from scurry.errors import ValidationError
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan import nodes as nodes
from scurry.sql.plan.changelog_functions import FromChangelog, ToChangelog
from scurry.sql.plan.matching import Match, PatternMatch
from scurry.sql.plan.models import MLPredict, VectorSearch
from scurry.sql.plan.nodes import Plan
from scurry.sql.plan.physical import aggregates, changes, joins, over, ranks, windows
from scurry.sql.plan.process_tables import ProcessTableFunction
from scurry.sql.plan.rewriting import input_references
from scurry.sql.planner.unique_keys import are_given, upsert_keys


class Kinds(enum.Flag):
    INSERT = 1
    UPDATE = 2
    DELETE = 4
    ALL = 7


class Update(enum.Enum):
    """Content of an update: the row after it, or the row before it as well."""

    ONLY_AFTER = "UA"
    BEFORE_AND_AFTER = "UB,UA"


@dataclass(frozen=True)
class ChangelogRule:
    """Effect of an operation on changes.

    Attributes:
        makes: Returns the kinds it produces, of the node and the kinds of its inputs.
        takes: The kinds it can consume; a function of the node and the number of an input where inputs differ.
        needs: Returns for each input what its updates have to consist of, of the node, of what its own updates have to
            consist of, and of which inputs have updates; None if it cannot produce such updates.
        transparent: Whether it only passes changes on: who cannot take them blames the inputs.
        absorbs: Whether it takes updates and makes none of them.
    """

    makes: Callable[[Any, Sequence[Kinds]], Kinds]
    takes: Kinds | Callable[[Any, int], Kinds] = Kinds.ALL
    needs: Callable[[Any, Update, Sequence[bool]], Sequence[Update] | None] = lambda node, update, updating: (
        [Update.BEFORE_AND_AFTER] * len(node.inputs)
    )
    transparent: bool = False
    absorbs: bool = False

    def taken(self, node: Plan, place: int) -> Kinds:
        """Return the kinds that a node can consume of an input."""
        return self.takes if isinstance(self.takes, Kinds) else self.takes(node, place)


def _union(node: Plan, inputs: Sequence[Kinds]) -> Kinds:
    found = Kinds(0)
    for each in inputs:
        found |= each
    return found or Kinds.INSERT


def _updating(node: Plan, inputs: Sequence[Kinds]) -> Kinds:
    """Return the kinds of groups: they vanish only if rows of theirs may be taken back."""
    return Kinds.INSERT | Kinds.UPDATE if inputs[0] == Kinds.INSERT else Kinds.ALL


def _merged(node: aggregates.GlobalGroupAggregate, inputs: Sequence[Kinds]) -> Kinds:
    return Kinds.ALL if node.retracts else Kinds.INSERT | Kinds.UPDATE


def _any(node: Plan, inputs: Sequence[Kinds]) -> Kinds:
    return Kinds.INSERT if all(each == Kinds.INSERT for each in inputs) else Kinds.ALL


def _filtered(node: nodes.Filter, update: Update, updating: Sequence[bool]) -> Sequence[Update] | None:
    # A row that does not pass any more has to be taken back, which is known by its UPDATE_BEFORE only; but rows of the
    # same key pass alike if the condition is one on the key.
    columns = input_references(node.condition)
    by_key = any(columns <= key for key in upsert_keys(node.input))
    return None if update is Update.ONLY_AFTER and not by_key else [update]


def _looked_up(node: joins.LookupJoin, update: Update, updating: Sequence[bool]) -> Sequence[Update] | None:
    # An inner join drops the row after an update if the table has none for it: what it replaces has to be taken back.
    return None if update is Update.ONLY_AFTER and node.kind != "LEFT" else [update]


def _multiplied(node: Plan, update: Update, updating: Sequence[bool]) -> Sequence[Update] | None:
    # The row after an update may become fewer rows than the one before.
    return None if update is Update.ONLY_AFTER else [update]


def _inserts(node: Plan, inputs: Sequence[Kinds]) -> Kinds:
    return Kinds.INSERT


def _joined(node: joins.RegularJoin, inputs: Sequence[Kinds]) -> Kinds:
    return _union(node, inputs) if node.kind in ("INNER", "SEMI") else Kinds.ALL


def _by_join_key(node: joins.RegularJoin, update: Update, updating: Sequence[bool]) -> Sequence[Update] | None:
    # A row that is replaced keeps its join key if its own key has that of the join, and its pairs are replaced, too,
    # unless other conditions do not hold any more. Flink forgets the latter, and leaves pairs that do not exist.
    width = len(node.left.schema)
    tested = set() if node.rest is None else input_references(node.rest)
    sides = (
        (node.left, {key.left for key in node.keys} | {column for column in tested if column < width}),
        (node.right, {key.right for key in node.keys} | {column - width for column in tested if column >= width}),
    )
    keeping = [any(key.issuperset(columns) for key in upsert_keys(side)) for side, columns in sides]
    moving = any(updates and not keeps for updates, keeps in zip(updating, keeping, strict=True))
    return None if update is Update.ONLY_AFTER and moving else [update, update]


def _of_left(node: Plan, inputs: Sequence[Kinds]) -> Kinds:
    return inputs[0]


def _versioned(node: Plan, update: Update, updating: Sequence[bool]) -> Sequence[Update]:
    return [Update.BEFORE_AND_AFTER, Update.ONLY_AFTER]


def _scanned(node: nodes.Scan, inputs: Sequence[Kinds]) -> Kinds:
    return {"INSERT": Kinds.INSERT, "UPSERT": Kinds.UPDATE | Kinds.DELETE}.get(node.changes, Kinds.ALL)


def _deduplicated(node: ranks.Deduplicate, inputs: Sequence[Kinds]) -> Kinds:
    return Kinds.ALL if node.keep_last else Kinds.INSERT


def _ranked(node: ranks.Rank, update: Update, updating: Sequence[bool]) -> Sequence[Update]:
    return [Update.ONLY_AFTER if node.strategy == "UpdateFastStrategy" else Update.BEFORE_AND_AFTER]


def _taken_by_function(node: ProcessTableFunction, place: int) -> Kinds:
    return Kinds.ALL if node.tables and node.tables[place].takes_updates else Kinds.INSERT


def _processed(node: ProcessTableFunction, inputs: Sequence[Kinds]) -> Kinds:
    if node.has_time and any(each != Kinds.INSERT for each in inputs):
        raise ValidationError(
            "Time operations using the `on_time` argument are currently not supported for PTFs that consume or produce "
            "updates."
        )
    return Kinds.INSERT


def _by_partition(node: ProcessTableFunction, update: Update, updating: Sequence[bool]) -> Sequence[Update]:
    # If the columns of PARTITION BY identify rows, the row after an update replaces the one of its partition.
    return [
        Update.ONLY_AFTER
        if not table.needs_before and frozenset(table.partition_by) in upsert_keys(source)
        else Update.BEFORE_AND_AFTER
        for source, table in zip(node.sources, node.tables, strict=False)
    ] or [update] * len(node.sources)


_PASSED = ChangelogRule(_union, needs=lambda node, update, updating: [update] * len(node.inputs), transparent=True)
_MULTIPLIED = ChangelogRule(_union, needs=_multiplied, transparent=True)
_OTHER = ChangelogRule(_any)
_MATCHED = ChangelogRule(_inserts, takes=Kinds.INSERT)

#: A line per operation; one that has none takes everything, and only inserts if its inputs do.
RULES: dict[type[Plan], ChangelogRule] = {
    aggregates.Expand: _PASSED,
    aggregates.GlobalGroupAggregate: ChangelogRule(_merged),
    aggregates.LocalGroupAggregate: ChangelogRule(_inserts),
    changes.ChangelogNormalize: ChangelogRule(lambda node, inputs: Kinds.ALL),
    joins.EventTimeTemporalJoin: ChangelogRule(_of_left, needs=_versioned),
    joins.IntervalJoin: ChangelogRule(_inserts, takes=Kinds.INSERT),
    joins.LookupJoin: ChangelogRule(_union, needs=_looked_up, transparent=True),
    joins.RegularJoin: ChangelogRule(_joined, needs=_by_join_key),
    joins.WindowJoin: ChangelogRule(_inserts, takes=Kinds.INSERT),
    FromChangelog: ChangelogRule(lambda node, inputs: Kinds.ALL, takes=Kinds.INSERT, needs=_multiplied),
    Match: _MATCHED,
    MLPredict: _MATCHED,
    PatternMatch: _MATCHED,
    ProcessTableFunction: ChangelogRule(_processed, takes=_taken_by_function, needs=_by_partition, absorbs=True),
    VectorSearch: _MATCHED,
    nodes.Aggregate: ChangelogRule(_updating),
    nodes.Filter: ChangelogRule(_union, needs=_filtered, transparent=True),
    nodes.Project: _PASSED,
    nodes.Scan: ChangelogRule(_scanned),
    nodes.SetOperation: _PASSED,
    nodes.TableAggregate: ChangelogRule(lambda node, inputs: Kinds.INSERT | Kinds.DELETE),
    nodes.TableFunctionScan: _MULTIPLIED,
    nodes.Unnest: _MULTIPLIED,
    nodes.Values: ChangelogRule(_inserts),
    nodes.WindowTable: _PASSED,
    changes.ReplicateRows: _PASSED,
    windows.SessionTable: ChangelogRule(_inserts, takes=Kinds.INSERT),
    over.OverAggregate: ChangelogRule(_inserts, takes=Kinds.INSERT),
    over.NonTimeOverAggregate: ChangelogRule(lambda node, inputs: Kinds.ALL),
    ranks.Deduplicate: ChangelogRule(_deduplicated, takes=Kinds.INSERT),
    ranks.Rank: ChangelogRule(lambda node, inputs: Kinds.ALL, needs=_ranked),
    ranks.TemporalSort: ChangelogRule(_inserts, takes=Kinds.INSERT),
    ToChangelog: ChangelogRule(_inserts, absorbs=True),
    windows.GroupWindowAggregate: ChangelogRule(_inserts),
    windows.WindowAggregate: ChangelogRule(_inserts),
    windows.WindowDeduplicate: ChangelogRule(_inserts, takes=Kinds.INSERT),
    windows.WindowRank: ChangelogRule(_inserts, takes=Kinds.INSERT),
}

#: Hint for changes that reach an operation of insertions only.
_TAKES_CHANGES = (
    "write into a table that takes updates: one with PRIMARY KEY (...) NOT ENFORCED and the connector 'jdbc' or "
    "'upsert-kafka', or a format of changes such as 'debezium-json'; or aggregate in windows, whose rows are final"
)
_NEEDS_INSERTIONS = "aggregate in windows (TUMBLE, HOP, CUMULATE, SESSION), whose rows are final, or run it in BATCH"


class Changelogs:
    """The kinds of changes of all nodes of the plans of a job.

    Equal parts of plans are one: their updates have the row before if any consumer needs it.
    """

    def __init__(self, roots: Sequence[Plan], update: Sequence[Update] = (Update.BEFORE_AND_AFTER,)) -> None:
        """Infer.

        Args:
            roots: Plans of sinks, or of a query.
            update: What the updates of a query may consist of, the best first.

        Raises:
            ValidationError: A node or sink cannot take the changes of its input.
        """
        self._kinds: dict[Plan, Kinds] = {}
        self._before: dict[Plan, bool] = {}
        for root in roots:
            if isinstance(root, nodes.Sink):
                self._check_sink(root)
                self._satisfy(root.input, _updates_of_sink(root))
            else:
                self.kinds(root)
                self._satisfy(root, update)

    def kinds(self, plan: Plan) -> Kinds:
        """Return the kinds of the changes of a node.

        Raises:
            ValidationError: A node cannot take the changes of its input.
        """
        found = self._kinds.get(plan)
        if found is None:
            rule = RULES.get(type(plan), _OTHER)
            inputs = [self.kinds(each) for each in plan.inputs]
            for place, each in enumerate(plan.inputs):
                self._check(each, rule.taken(plan, place), _consumer(plan))
            found = self._kinds[plan] = rule.makes(plan, inputs)
        return found

    def is_insert_only(self, plan: Plan) -> bool:
        """Return whether a node only inserts rows."""
        return self.kinds(plan) == Kinds.INSERT

    def updates_before(self, plan: Plan) -> bool:
        """Return whether the updates of a node must have the row before."""
        return self._before.get(plan, True)

    def can_omit_before(self, plan: Plan) -> bool:
        """Return whether a node can update without the rows before."""
        return self._provided(plan, Update.ONLY_AFTER) is not None

    def needs_materializer(self, sink: nodes.Sink, session: EvaluationContext) -> bool:
        """Return whether the changes of a query have to be converted to the key of a sink, which is not their own."""
        mode = session.get(SINK_UPSERT_MATERIALIZE)
        if not sink.key or sink.changes == "INSERT" or mode == "NONE":
            return False
        if mode == "FORCE":
            return True
        covered = are_given(sink.input) or any(key <= set(sink.key) for key in upsert_keys(sink.input))
        return not covered and not self.is_insert_only(sink.input)

    def text(self, plan: Plan) -> str:
        """Return the kinds as EXPLAIN CHANGELOG_MODE has them, as `I,UB,UA`."""
        if isinstance(plan, nodes.Sink):
            return "NONE"
        found = self.kinds(plan)
        shown = ["I"] if Kinds.INSERT in found else []
        if Kinds.UPDATE in found:
            shown.append("UB,UA" if self.updates_before(plan) else "UA")
        if Kinds.DELETE in found:
            shown.append("D")
        return ",".join(shown)

    def _check_sink(self, sink: nodes.Sink) -> None:
        kinds = self.kinds(sink.input)
        if sink.changes == "INSERT" and kinds != Kinds.INSERT:
            if sink.refusal is not None:
                raise ValidationError(sink.refusal)
            self._check(sink.input, Kinds.INSERT, f"Table sink '{'.'.join(sink.path)}'")

    def _check(self, plan: Plan, takes: Kinds, consumer: str) -> None:
        """Refuse a plan with other changes than a consumer takes, in Flink's words.

        Raises:
            ValidationError: There are such changes.
        """
        refused = self.kinds(plan) & ~takes
        if not refused:
            return
        if RULES.get(type(plan), _OTHER).transparent:
            for each in plan.inputs:
                self._check(_named_as_above(each, plan), takes, consumer)
        from scurry.sql.planner.explain import physical_text

        listed = [name for name in ("update", "delete") if Kinds[name.upper()] in refused]
        error = ValidationError(
            f"{consumer} doesn't support consuming {' and '.join(listed)} changes which is produced by node "
            f"{physical_text(_of_both_phases(plan))}"
        )
        error.about = consumer.rpartition(".")[2].rstrip("'")
        raise error.with_hint(_TAKES_CHANGES if consumer.startswith("Table sink") else _NEEDS_INSERTIONS)

    def _satisfy(self, plan: Plan, updates: Sequence[Update]) -> None:
        """Choose the first of some ways to update that a plan can produce."""
        for each in updates:
            found = self._provided(plan, each)
            if found is not None:
                for node, before in found.items():
                    self._before[node] = before or self._before.get(node, False)
                return
        raise AssertionError("rows before updates can always be produced")

    def _provided(self, plan: Plan, update: Update) -> dict[Plan, bool] | None:
        """Return for the nodes of a plan whether they update with the row before; None if that is impossible."""
        found: dict[Plan, bool] = {}
        rule = RULES.get(type(plan), _OTHER)
        updating = [Kinds.UPDATE in self.kinds(each) for each in plan.inputs]
        needed: Sequence[Update] | None = [Update.BEFORE_AND_AFTER] * len(plan.inputs)
        if Kinds.UPDATE in self.kinds(plan):
            found[plan] = update is Update.BEFORE_AND_AFTER
            needed = rule.needs(plan, update, updating)
        elif rule.absorbs:
            needed = rule.needs(plan, Update.BEFORE_AND_AFTER, updating)
        if needed is None:
            return None
        for node, each in zip(plan.inputs, needed, strict=True):
            below = self._provided(node, each)
            if below is None and rule.absorbs:
                below = self._provided(node, Update.BEFORE_AND_AFTER)
            if below is None:
                return None
            for other, before in below.items():
                found[other] = before or found.get(other, False)
        return found


def _updates_of_sink(sink: nodes.Sink) -> Sequence[Update]:
    """Return how a sink may be updated, the best way first."""
    if sink.changes == "ALL" or (sink.key and frozenset(sink.key) not in upsert_keys(sink.input)):
        return [Update.BEFORE_AND_AFTER]
    return [Update.ONLY_AFTER, Update.BEFORE_AND_AFTER]


def _named_as_above(plan: Plan, above: Plan) -> Plan:
    """Return an aggregation with the names that a projection above gives its columns."""
    plan = _of_both_phases(plan)
    if not isinstance(above, nodes.Project) or not isinstance(plan, nodes.Aggregate):
        return plan
    if [getattr(each, "index", None) for each in above.expressions] != list(range(len(plan.schema))):
        return plan
    return replace(plan, names=above.names[len(above.names) - len(plan.names) :])


def _of_both_phases(plan: Plan) -> Plan:
    """Return an aggregation as it was before it was divided: Flink infers changes before."""
    if not isinstance(plan, aggregates.GlobalGroupAggregate):
        return plan
    assert isinstance(plan.input, aggregates.LocalGroupAggregate)
    return plan.aggregate.with_inputs((plan.input.input,))


def _consumer(plan: Plan) -> str:
    """Return how Flink names an operation that does not take the changes of its input."""
    return "Match Recognize" if isinstance(plan, Match) else f"StreamPhysical{_name(plan)}"


def _name(plan: Plan) -> str:
    """Return Flink's name of an operation."""
    names = {"Aggregate": "GroupAggregate", "FromChangelog": "ProcessTableFunction", "Over": "OverAggregate"}
    names |= {"VectorSearch": "VectorSearchTableFunction", "WindowTable": "WindowTableFunction"}
    return names.get(type(plan).__name__, type(plan).__name__)
