"""Streams and job plan that a program has built, without running it."""

from __future__ import annotations

from typing import Any

from scurry.datastream import DataStream, DataStreamSink, StreamExecutionEnvironment
from scurry.errors import ArgumentTypeError
from scurry.graph.nodes import Node
from scurry.graph.plan import JobPlan

__all__ = ["job_plan_of", "plan_of"]


def plan_of(stream: DataStream[Any] | DataStreamSink) -> Node:
    """Return the transformation built by the last call on a stream (in Java, `DataStream.getTransformation`).

    A test can check what a program declares: the name, uid, description, parallelism, maximum parallelism and type of
    a stream, and, through `inputs`, those of the streams before it.

    Args:
        stream: A stream or a sink.

    Returns:
        The node of the stream graph. A later call such as `name` or `uid` changes it.

    Raises:
        ArgumentTypeError: `stream` is neither a stream nor a sink.
    """
    if not isinstance(stream, (DataStream, DataStreamSink)):
        raise ArgumentTypeError(f"plan_of takes a DataStream or DataStreamSink, not a {type(stream).__name__}")
    return stream._node


def job_plan_of(env: StreamExecutionEnvironment, job_name: str | None = None) -> JobPlan:
    """Return the plan of the job that `env.execute(job_name)` would run; no job runs, and `execute` still works.

    Args:
        env: The environment of a program that has sinks.
        job_name: The name of the job, the environment's default if None.

    Returns:
        The plan. `describe()` shows its levels, as `scurry explain` does.

    Raises:
        ScurryError: The program has a mistake that `execute` reports.
    """
    return env._plan(job_name)
