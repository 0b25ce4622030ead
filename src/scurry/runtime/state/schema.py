"""What an operator keeps, as JSON next to it: the schemas of its states, and the classes of what is in them.

Schemas are by state name. State that an operator keeps by itself goes by the name of its slot in the entry, what is
broadcast by `broadcast:NAME`, the type of the keys by `(key)`, and all classes together by `(classes)`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from scurry.graph import operators as ops
from scurry.graph.plan import JobPlan, OperatorPlan
from scurry.runtime.state.types import ANY, TypeJson, describe, text

#: The slot of the contents of windows, within `(CONTENTS, window)`.
CONTENTS = "window-contents"
CLASSES = "(classes)"
KEY = "(key)"
#: Kinds that no descriptor has: what operators keep by themselves.
OWN_KINDS = ("window", "reduce", "join", "key")

#: What operators call their own state; no state of a function may be called the same.
OWN_NAMES: dict[type[ops.Operator], tuple[str, ...]] = {
    ops.KeyedReduce: ("reduce",),
    ops.Window: (CONTENTS,),
    ops.IntervalJoin: ("interval-join-left", "interval-join-right"),
}

#: Schemas as they are kept: operator uid -> state name -> JSON.
Schemas = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class StateSchema:
    """What is stored of one state.

    Attributes:
        kind: A descriptor's kind, "broadcast", or one of `OWN_KINDS`.
        type: The type of the whole: of a list state a LIST.
        ttl: The time to live in milliseconds, None if it does not expire.
        version: That of the declared migration, 0 without.
        lazy: Whether it was registered after `open()`, so that a later program may do so, too.
        layout: How an operator arranges its own state; "" for others.
        cleanup: When expired values go that nobody touches: "" in the background, "snapshot" at the next restore,
            "never".
    """

    kind: str
    type: TypeJson
    ttl: int | None = None
    version: int = 0
    lazy: bool = False
    layout: str = ""
    cleanup: str = ""

    def __str__(self) -> str:
        """As in error messages: kind and type."""
        ttl = "" if self.ttl is None else f", living {self.ttl} ms"
        return f"{self.kind} {self.layout + ' ' if self.layout else ''}of type {text(self.type)}{ttl}"

    def to_json(self) -> dict[str, Any]:
        """As JSON, without what is as usual."""
        return {name: value for name, value in asdict(self).items() if value or name in ("kind", "type")}

    @classmethod
    def from_json(cls, json: dict[str, Any]) -> StateSchema:
        """Inverse of `to_json`; ignores what later versions may add."""
        return cls(**{name: json[name] for name in cls.__dataclass_fields__ if name in json})


def descriptor_schema(descriptor: Any, broadcast: bool = False, lazy: bool = False) -> StateSchema:
    """The schema of a descriptor's state."""
    ttl, migration = descriptor.ttl_config, descriptor.migration
    return StateSchema(
        "broadcast" if broadcast else descriptor.kind,
        describe(descriptor.type_info),
        None if ttl is None or broadcast else ttl.ttl_ms,
        0 if migration is None else migration.version,
        lazy,
        cleanup="" if ttl is None or broadcast else _cleanup(ttl.cleanup_strategies),
    )


def _cleanup(strategies: Any) -> str:
    """When expired values go, by Flink's settings: its two ways of cleaning up in the background are one here."""
    if strategies.get_incremental_cleanup_strategy() or strategies.get_rocksdb_compact_filter_cleanup_strategy():
        return ""
    return "snapshot" if strategies.in_full_snapshot() else "never"


def broadcast_name(name: str) -> str:
    """The name of a broadcast state among an operator's schemas."""
    return f"broadcast:{name}"


# ------------------------------------------------------------------ what operators keep by themselves


def own_schemas(plan: JobPlan, operator: OperatorPlan) -> dict[str, StateSchema]:
    """The schemas of what an operator keeps by itself; they follow from the plan."""
    spec = operator.operator
    inputs = [_input_type(plan, operator, index) for index in (0, 1)]
    schemas: dict[str, StateSchema] = {}
    if isinstance(spec, ops.KeyedReduce):
        schemas["reduce"] = StateSchema("reduce", inputs[0])
    elif isinstance(spec, ops.Window):
        schemas[CONTENTS] = StateSchema("window", _contents_type(spec, inputs), layout=_layout(spec))
    elif isinstance(spec, ops.IntervalJoin):
        for side, kept in zip(("left", "right"), inputs, strict=True):
            schemas[f"interval-join-{side}"] = StateSchema("join", ["LIST", ["TUPLE", "LONG", kept]])
    keys = {
        repr(key): key
        for edge in operator.input_edges
        if isinstance(partitioner := plan.edges[edge].partitioner, ops.Hash)
        and (key := describe(partitioner.key_type)) != ANY
    }
    if len(keys) == 1:
        schemas[KEY] = StateSchema("key", *keys.values())
    return schemas


def _input_type(plan: JobPlan, operator: OperatorPlan, index: int) -> TypeJson:
    """The type of the records of an input, ANY if several streams of different types meet there."""
    edges = {edge for edge in operator.input_edges if plan.edges[edge].input_index == index}
    senders: list[Any] = [*plan.sources.values(), *plan.operators.values()]
    found = [
        describe(sender.output_type if out.tag is None else None)
        for sender in senders
        for out in sender.outputs
        if out.edge in edges
    ]
    return found[0] if found and all(each == found[0] for each in found) else ANY


def _contents_type(spec: ops.Window, inputs: list[TypeJson]) -> TypeJson:
    if spec.kind == "co_group":
        return ["LIST", ANY] if spec.evictor is not None else ["TUPLE", *(["LIST", kept] for kept in inputs)]
    if spec.evictor is not None:
        return ["LIST", ["TUPLE", inputs[0], ANY]]
    if spec.pre_kind == "reduce":
        return inputs[0]
    return describe(spec.accumulator_type) if spec.pre_kind == "aggregate" else ["LIST", inputs[0]]


def _layout(spec: ops.Window) -> str:
    """How window contents are arranged: what decides on the runtime operator, and what it cannot read off the state."""
    folded = "elements" if spec.evictor is not None or spec.pre_kind is None else spec.pre_kind
    if spec.evictor is None and spec.allowed_lateness == 0:
        if spec.aligned is not None:
            return f"windows of {spec.aligned[0]} ms ({folded})"
        if spec.session_gap is not None:
            return f"sessions ({folded})"
    return f"{'merging ' if spec.merging else ''}windows ({folded})"
