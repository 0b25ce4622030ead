"""The job plan: operators and their subtasks. The planner creates it, a runner executes it, and `explain` prints it.

Tasks are the sources (level 0) and the *head* operators that receive an exchange (level 1 and deeper). All operators
that need no exchange are chained behind them through `outputs`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from scurry._dataclasses import dataclass
from scurry.common.redaction import without_secrets
from scurry.errors import SourceConnectionError, SourceNotFoundError
from scurry.errors.user_frames import with_source
from scurry.graph.capture import as_captured
from scurry.graph.nodes import Origin
from scurry.graph.operators import AssignTimestamps, Filter, Global, Operator, Partitioner, Sink
from scurry.graph.settings import JobSettings

if TYPE_CHECKING:
    from scurry.common.output_tag import OutputTag
    from scurry.common.pickling import Captured
    from scurry.common.typeinfo import TypeInformation
    from scurry.common.watermark_strategy import WatermarkStrategy
    from scurry.connectors.source import Source


@contextmanager
def naming_source(name: str, origin: Origin) -> Iterator[None]:
    """Name a source in the errors of the systems it reads from."""
    try:
        yield
    except (SourceConnectionError, SourceNotFoundError) as error:
        error.args = (f"{error}\n  in source {name!r} built at {with_source(str(origin))}",)
        raise


def _definition(plan: OperatorPlan) -> str:
    """Return where the function of an operator is defined; where the operator is built if that says as much."""
    function = getattr(plan.operator, "function", None)
    code = getattr(function, "__code__", None)
    if code is None or code.co_name == "<lambda>":
        return str(plan.origin)
    return with_source(f"{code.co_filename}:{code.co_firstlineno}")


@dataclass
class Output:
    """The target of an operator's records: a chained operator or an edge; `tag` None is the main output.

    `ship` is Flink's word for how they are distributed over the subtasks there, whether or not they are moved here.
    """

    tag: str | None
    operator: int | None = None
    edge: int | None = None
    ship: str = "FORWARD"


@dataclass
class ChannelGroup:
    """The channels on which one task sends along an edge; `untimed` ones have no watermarks and hold back no others."""

    task: int
    count: int
    idle_timeout: int | None = None
    untimed: bool = False


@dataclass
class Edge:
    """An exchange to input `input_index` of operator `target`, which runs on level `level`."""

    id: int
    target: int
    input_index: int
    partitioner: Partitioner
    level: int = 0
    parallelism: int = 1
    max_parallelism: int = 128
    #: whether watermarks and processing time must travel along the edge, to every subtask
    progress: bool = False
    #: whether time that the driver moves, up to the end of input, must do so, too
    ticks: bool = False
    senders: list[ChannelGroup] = field(default_factory=list)
    #: the repartitioning that errors name, such as the stream's key_by
    name: str = ""
    origin: Origin | None = None
    #: the partitioner as the program gave it
    captured: dict[str, Captured] = field(default_factory=dict)

    def __getstate__(self) -> dict[str, Any]:
        return as_captured(self)

    def place(self, sender: OperatorPlan | SourcePlan) -> OperatorPlan | SourcePlan:
        """Return the operator to blame for errors of the partitioner; `sender` is where its records come from."""
        if self.origin is None:
            return sender
        place = replace(sender, name=self.name, origin=self.origin)
        if isinstance(sender, OperatorPlan) and isinstance(place, OperatorPlan):
            place.producers = sender.as_producers()
        return place

    @property
    def receivers(self) -> int:
        """Number of subtasks that records are distributed over."""
        return 1 if isinstance(self.partitioner, Global) else self.parallelism


@dataclass
class OperatorPlan:
    id: int
    uid: str
    name: str
    operator: Operator
    output_type: TypeInformation | None
    parallelism: int
    origin: Origin
    description: str | None = None
    outputs: list[Output] = field(default_factory=list)
    input_edges: list[int] = field(default_factory=list)
    level: int = 0
    #: tag of the side output for records on which the function fails, None if they fail the job
    dead_letters: OutputTag | None = None
    #: the operators whose functions return its records, as text for errors
    producers: list[str] = field(default_factory=list)
    #: schemas of restored states that no function had registered at the restore, as JSON; None: the state was dropped
    restored: dict[str, Any] = field(default_factory=dict)
    #: the operator as the program gave it
    captured: dict[str, Captured] = field(default_factory=dict)
    #: whether the program sets its parallelism, and not only that of the job
    sets_parallelism: bool = False

    def __getstate__(self) -> dict[str, Any]:
        return as_captured(self)

    def as_producers(self) -> list[str]:
        """Return the `producers` of the operators that receive this one's records."""
        handed_on = isinstance(self.operator, (Filter, AssignTimestamps))
        return self.producers if handed_on else [f"{self.name!r} ({_definition(self)})"]


@dataclass
class SourcePlan:
    id: int
    uid: str
    name: str
    source: Source
    watermark_strategy: WatermarkStrategy | None
    output_type: TypeInformation | None
    parallelism: int
    channels: int
    origin: Origin
    description: str | None = None
    outputs: list[Output] = field(default_factory=list)
    #: tag of the side output for malformed records, None if they fail the job
    dead_letters: OutputTag | None = None
    #: the operator between the reader and the outputs, if the watermark strategy has something to do; it belongs to the
    #: source, as in Flink, and has its number
    assigner: OperatorPlan | None = None
    #: the source and the watermark strategy as the program gave them
    captured: dict[str, Captured] = field(default_factory=dict)

    def __getstate__(self) -> dict[str, Any]:
        return as_captured(self)


@dataclass
class JobPlan:
    settings: JobSettings
    sources: dict[int, SourcePlan] = field(default_factory=dict)
    operators: dict[int, OperatorPlan] = field(default_factory=dict)
    edges: dict[int, Edge] = field(default_factory=dict)
    levels: int = 0
    #: whether something may happen by the clock alone, so that time must pass while sources are idle
    ticks: bool = False
    #: the numbers by which a runner identifies subtasks 0, 1, 2, ...; Spark finds a row's partition by hashing them
    subtask_ids: list[int] = field(default_factory=list)
    #: the number of Spark's partitions that the subtasks share; 0 where they are not known
    partitions: int = 0
    #: settings of streams without effect, each with the reason or what to do instead
    unused: tuple[str, ...] = ()
    #: plans the same program with other settings; stays on the driver
    rebuild: Callable[[JobSettings], JobPlan] | None = field(default=None, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "rebuild": None, "settings": replace(self.settings, tables=None)}

    def labels(self) -> dict[int, str]:
        """Return a name of its own for each source and operator: its name, or its uid if others have that name."""
        vertices: list[SourcePlan | OperatorPlan] = [*self.sources.values(), *self.operators.values()]
        named, uids = Counter(vertex.name for vertex in vertices), {vertex.uid: vertex.id for vertex in vertices}
        return {
            vertex.id: vertex.name
            if named[vertex.name] == 1 and uids.get(vertex.name, vertex.id) == vertex.id
            else vertex.uid
            for vertex in vertices
        }

    def require_consistent(self) -> None:
        """Assert that tasks, edges and levels fit together; the planner and each process that loads a plan do."""
        for number, edge in self.edges.items():
            target = self.operators[edge.target]
            assert number == edge.id and number in target.input_edges, f"edge {number} is no input of {edge.target}"
            assert 0 < edge.level == target.level <= self.levels, f"edge {number} is on level {edge.level}"
            assert edge.receivers <= len(self.subtask_ids), f"edge {number} has more receivers than subtasks"
            assert 0 < edge.parallelism <= edge.max_parallelism, f"edge {number} has {edge.parallelism} subtasks"
            assert all(sender.count > 0 for sender in edge.senders), f"edge {number} has senders without channels"
        vertices: list[SourcePlan | OperatorPlan] = [*self.sources.values(), *self.operators.values()]
        for vertex in vertices:
            for out in vertex.outputs:
                assert (out.operator is None) != (out.edge is None), f"an output of {vertex.id} leads nowhere"
        assert len(set(self.subtask_ids)) == len(self.subtask_ids), "two subtasks have the same number"

    def heads(self, level: int) -> list[OperatorPlan]:
        """Return the operators that receive an exchange on `level` (1-based)."""
        return [op for op in self.operators.values() if op.input_edges and op.level == level]

    @property
    def bounded(self) -> bool:
        return all(source.source.bounded for source in self.sources.values())

    def to_json(self) -> str:
        """Return the plan as JSON text, with the fields of Flink's execution plans and some of scurry's own."""
        vertices: dict[int, SourcePlan | OperatorPlan] = {**self.sources, **self.operators}
        inputs: dict[int, list[dict[str, Any]]] = {number: [] for number in vertices}
        for number, vertex in sorted(vertices.items()):
            for out in vertex.outputs:
                target = out.operator if out.edge is None else self.edges[out.edge].target
                assert target is not None
                inputs[target].append({"id": number, "ship_strategy": out.ship, "side": "second"})
        nodes = [
            self._json_node(vertex, inputs[number])
            for number, vertex in sorted(vertices.items(), key=lambda item: (_is_sink(item[1]), item[0]))
            if not (isinstance(vertex, OperatorPlan) and getattr(vertex.operator, "implied", False))
        ]
        settings = self.settings
        return json.dumps(
            {"job": settings.job_name, "mode": settings.mode, "levels": self.levels, "nodes": nodes}, indent=2
        )

    def _json_node(self, vertex: SourcePlan | OperatorPlan, predecessors: list[dict[str, Any]]) -> dict[str, Any]:
        kind, prefix = ("Data Sink", "Sink: ") if _is_sink(vertex) else ("Operator", "")
        own: dict[str, Any] = {"parallelism": vertex.parallelism, "predecessors": predecessors}
        if isinstance(vertex, SourcePlan):
            kind, prefix = "Data Source", "Source: "
            own = {"parallelism": vertex.channels}
        name = without_secrets(prefix + vertex.name.removeprefix(prefix))
        contents = without_secrets(vertex.description or name)
        node = {"id": vertex.id, "type": name, "pact": kind, "contents": contents, **own}
        level = 0 if isinstance(vertex, SourcePlan) else vertex.level
        return node | {"uid": without_secrets(vertex.uid), "level": level, "built_at": str(vertex.origin)}

    def describe(self) -> str:
        """Return the plan as text (`scurry explain`): one block per level."""
        lines = [
            f"{self.settings.job_name}: {self.settings.mode}, parallelism {self.settings.parallelism}, "
            f"{self.levels + 1} level(s)"
        ]
        tasks: list[tuple[int, Any]] = [(0, s) for s in self.sources.values()]
        tasks += [(op.level, op) for op in self.operators.values() if op.input_edges]
        for level in range(self.levels + 1):
            lines.append(f"level {level}" + (" (sources)" if level == 0 else " (exchange, one stateful stage)"))
            for _, task in sorted((t for t in tasks if t[0] == level), key=lambda t: t[1].id):
                self._describe_chain(task, "  ", lines)
        return without_secrets("\n".join(lines))

    def _describe_chain(self, task: Any, indent: str, lines: list[str]) -> None:
        kind = task.operator.kind if isinstance(task, OperatorPlan) else "Source"
        lines.append(f"{indent}[{task.id}] {task.name} ({kind}, {task.origin})")
        for out in task.outputs:
            tag = f"side output {out.tag!r}" if out.tag else ""
            gap = " " if tag else ""
            if out.edge is not None:
                edge = self.edges[out.edge]
                name = type(edge.partitioner).__name__.lower()
                lines.append(f"{indent}  {tag}{gap}--{name}--> [{edge.target}] on level {edge.level}")
            else:
                assert out.operator is not None
                if tag:
                    lines.append(f"{indent}  {tag}:")
                self._describe_chain(self.operators[out.operator], indent + "  ", lines)


def _is_sink(vertex: SourcePlan | OperatorPlan) -> bool:
    return isinstance(vertex, OperatorPlan) and isinstance(vertex.operator, Sink)
