"""The schemas of an operator's states, stored as JSON with the state, and the classes of the values in them.

Schemas are by state name. State that an operator itself keeps is named after its slot in the entry, broadcast state
`broadcast:NAME`, the type of the keys `(key)`, what an operator of tables computes `(rows)`, and all classes together
`(classes)`.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from scurry._dataclasses import dataclass
from scurry.graph import operators as ops
from scurry.graph.plan import JobPlan, OperatorPlan
from scurry.runtime.state.slots import CONTENTS, JOINED, PARTIAL_MATCHES, REDUCED, WAITING_EVENTS
from scurry.runtime.state.types import ANY, TypeJson, describe, text

if TYPE_CHECKING:
    from scurry.runtime.functions.state_descriptor import StateDescriptor

CLASSES = "(classes)"
KEY = "(key)"
ROWS = "(rows)"
#: Kinds of state that operators themselves keep; no descriptor has them.
OWN_KINDS = ("window", "reduce", "join", "pattern", "rows", "key")

#: Kind of operator -> names of the state that it keeps itself; no state of a function may have the same name.
OWN_NAMES: dict[str, tuple[str, ...]] = {
    "KeyedReduce": (REDUCED,),
    "Window": (CONTENTS,),
    "IntervalJoin": JOINED,
    "Cep": (PARTIAL_MATCHES, WAITING_EVENTS),
    "DynamicCep": (PARTIAL_MATCHES, WAITING_EVENTS),
}

#: Stored schemas: operator uid -> state name -> JSON.
Schemas = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class StateSchema:
    """The schema of one state.

    Attributes:
        kind: A descriptor's kind, "broadcast", or one of `OWN_KINDS`.
        type: The type of the whole state, a LIST for list state.
        ttl: The time to live in milliseconds, None if the state does not expire.
        version: The version of the declared migration, 0 without one.
        lazy: Whether it was registered after `open()`, so that a later program may do so, too.
        layout: How an operator arranges its own state; "" for other states.
        cleanup: When expired values that are no longer touched are removed: "" in the background, "snapshot" at the
            next restore, "never".
    """

    kind: str
    type: TypeJson
    ttl: int | None = None
    version: int = 0
    lazy: bool = False
    layout: str = ""
    cleanup: str = ""

    def __str__(self) -> str:
        """Return kind and type, as in error messages."""
        ttl = "" if self.ttl is None else f", living {self.ttl} ms"
        return f"{self.kind} {self.layout + ' ' if self.layout else ''}of type {text(self.type)}{ttl}"

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON, without default values."""
        stored = {name: value for name, value in vars(self).items() if value or name in ("kind", "type")}
        return stored if isinstance(self.type, str) else {**stored, "type": copy.deepcopy(self.type)}

    @classmethod
    def from_json(cls, json: dict[str, Any]) -> StateSchema:
        """Invert `to_json`; ignore additions of later versions."""
        return cls(**{name: json[name] for name in cls.__dataclass_fields__ if name in json})


def descriptor_schema(descriptor: StateDescriptor, broadcast: bool = False, lazy: bool = False) -> StateSchema:
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
    """Return when expired values are removed; scurry has one background cleanup for Flink's two."""
    if strategies.get_incremental_cleanup_strategy() or strategies.get_rocksdb_compact_filter_cleanup_strategy():
        return ""
    return "snapshot" if strategies.in_full_snapshot() else "never"


def broadcast_name(name: str) -> str:
    """Return the name of a broadcast state among an operator's schemas."""
    return f"broadcast:{name}"


# ------------------------------------------------------------------ what operators themselves keep


def own_schemas(plan: JobPlan, operator: OperatorPlan) -> dict[str, StateSchema]:
    """Return the schemas of an operator's own state; they follow from the plan."""
    spec = operator.operator
    inputs = [_input_type(plan, operator, index) for index in (0, 1)]
    schemas: dict[str, StateSchema] = {}
    if isinstance(spec, ops.KeyedReduce):
        schemas[REDUCED] = StateSchema("reduce", inputs[0])
    elif isinstance(spec, ops.Window):
        schemas[CONTENTS] = StateSchema("window", _contents_type(spec, inputs), layout=_layout(spec))
    elif isinstance(spec, ops.IntervalJoin):
        for side, kept in zip(JOINED, inputs, strict=True):
            schemas[side] = StateSchema("join", ["LIST", ["TUPLE", "LONG", kept]])
    elif isinstance(spec, ops.KeyedRows) and spec.keeps:
        schemas[ROWS] = StateSchema("rows", ANY, layout=spec.keeps)
    elif isinstance(spec, ops.Cep):
        schemas[WAITING_EVENTS] = StateSchema("pattern", ["LIST", ["TUPLE", "LONG", inputs[0]]])
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
    """Return the type of the records of an input, ANY if it has streams of different types."""
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
    evicting = isinstance(spec, ops.EvictingWindow)
    if spec.hook is ops.WindowHook.CO_GROUP:
        return ["LIST", ANY] if evicting else ["TUPLE", *(["LIST", kept] for kept in inputs)]
    if evicting:
        return ["LIST", ["TUPLE", inputs[0], ANY]]
    if spec.pre_aggregation is ops.PreAggregation.REDUCE:
        return inputs[0]
    if spec.pre_aggregation is ops.PreAggregation.AGGREGATE:
        return describe(spec.accumulator_type)
    return ["LIST", inputs[0]]


def _layout(spec: ops.Window) -> str:
    """Return how window contents are arranged: by which runtime operator, with parameters that the state lacks."""
    kept = spec.pre_aggregation is None or isinstance(spec, ops.EvictingWindow)
    folded = "elements" if kept else spec.pre_aggregation.value  # type: ignore[union-attr]
    if isinstance(spec, ops.AlignedWindow):
        assert spec.aligned is not None
        return f"windows of {spec.aligned[0]} ms ({folded})"
    if isinstance(spec, ops.SessionWindow):
        return f"sessions ({folded})"
    return f"{'merging ' if spec.merging else ''}windows ({folded})"
