"""Convert a plan to the JSON of Flink's REST API."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from scurry.common.redaction import without_secrets
from scurry.graph.plan import JobPlan, OperatorPlan, SourcePlan


def vertex_id(uid: str) -> str:
    """Return the id of a source or operator: 32 hexadecimal digits derived from its uid, as in Flink."""
    return hashlib.md5(uid.encode(), usedforsecurity=False).hexdigest()


def vertices(plan: JobPlan) -> Iterator[SourcePlan | OperatorPlan]:
    yield from plan.sources.values()
    yield from plan.operators.values()


def plan_json(job_id: str, plan: JobPlan) -> dict[str, Any]:
    """Return the plan of a job, with fields named as in Flink's JSON plan."""
    uids = {vertex.id: vertex.uid for vertex in vertices(plan)}
    inputs: dict[int, list[dict[str, Any]]] = {number: [] for number in uids}
    for vertex in vertices(plan):
        for output in vertex.outputs:
            edge = plan.edges[output.edge] if output.edge is not None else None
            target = edge.target if edge is not None else output.operator
            assert target is not None
            inputs[target].append(
                {
                    "num": edge.input_index if edge is not None else 0,
                    "id": vertex_id(vertex.uid),
                    "ship_strategy": type(edge.partitioner).__name__.upper() if edge is not None else "FORWARD",
                    "chained": edge is None,
                    "exchange": "pipelined_bounded" if plan.settings.mode == "STREAMING" else "blocking",
                }
            )
    nodes = [
        {
            "id": vertex_id(vertex.uid),
            "uid": without_secrets(vertex.uid),
            "parallelism": vertex.parallelism,
            "level": vertex.level if isinstance(vertex, OperatorPlan) else 0,
            "operator": vertex.operator.kind if isinstance(vertex, OperatorPlan) else "Source",
            "operator_strategy": "",
            "description": without_secrets(vertex.name),
            "built_at": str(vertex.origin),
            "inputs": inputs[vertex.id],
            "optimizer_properties": {},
        }
        for vertex in vertices(plan)
    ]
    return {"jid": job_id, "name": plan.settings.job_name, "type": plan.settings.mode, "nodes": nodes}
