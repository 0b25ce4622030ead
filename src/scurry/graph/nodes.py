"""The nodes of a stream graph, one per API call; each stores the user's line that built it."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field
from typing import TYPE_CHECKING

from scurry._dataclasses import dataclass
from scurry.graph.operators import Operator, Partitioner

if TYPE_CHECKING:
    from scurry.common.output_tag import OutputTag
    from scurry.common.pickling import Captured
    from scurry.common.typeinfo import TypeInformation
    from scurry.common.watermark_strategy import WatermarkStrategy
    from scurry.connectors.cache import CachedRecords
    from scurry.connectors.source import Source

_ids = itertools.count(1)
_NOT_OF_USERS = {__name__.partition(".")[0], "contextlib"}


@dataclass(frozen=True)
class Origin:
    """The file and line of the user's program that built a node."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"

    @classmethod
    def of_caller(cls) -> Origin:
        """Return the innermost frame outside scurry's own package (walking raw frames is cheap).

        A function of scurry that a context manager decorates is called by contextlib.
        """
        if (declared := _declared.get()) is not None:
            return declared
        frame = sys._getframe(1)
        # by module, not by file: the constructors that dataclasses generate have no file
        while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in _NOT_OF_USERS:
            frame = frame.f_back
        return cls(frame.f_code.co_filename, frame.f_lineno)


_declared: ContextVar[Origin | None] = ContextVar("declared", default=None)


@contextmanager
def built_at(origin: Origin | None) -> Iterator[None]:
    """Let the nodes that are made within a `with` block have an origin; None for that of their callers."""
    token = _declared.set(origin)
    try:
        yield
    finally:
        _declared.reset(token)


@dataclass(eq=False)
class Node:
    """A transformation of a stream. `parallelism` None means the environment's."""

    inputs: tuple[Node, ...] = ()
    name: str = ""
    output_type: TypeInformation | None = None
    parallelism: int | None = None
    max_parallelism: int | None = None
    uid: str | None = None
    description: str | None = None
    origin: Origin = field(default_factory=Origin.of_caller)
    id: int = field(default_factory=lambda: next(_ids))
    #: what the program gave the node, by field, as it was then; tasks get that, whatever the program changes later
    captured: dict[str, Captured] = field(default_factory=dict)
    #: settings without effect that the program has made, each with the reason or what to do instead
    unused: set[str] = field(default_factory=set)


@dataclass(eq=False)
class SourceNode(Node):
    """A source with the watermark strategy given to from_source, or None.

    `dead_letters` is the tag of the side output for malformed records, if they go there.
    """

    source: Source = field(kw_only=True)
    watermark_strategy: WatermarkStrategy | None = None
    dead_letters: OutputTag | None = None


@dataclass(eq=False)
class OperatorNode(Node):
    """An operator with one or two inputs; `dead_letters` is the tag of records on which it may fail, or None."""

    operator: Operator = field(kw_only=True)
    dead_letters: OutputTag | None = None


@dataclass(eq=False)
class PartitionNode(Node):
    """A repartitioning of its input."""

    partitioner: Partitioner = field(kw_only=True)


@dataclass(eq=False)
class UnionNode(Node):
    """All records of all inputs."""


@dataclass(eq=False)
class CacheNode(UnionNode):
    """The records of a stream that is kept for later jobs.

    Depending on the job, the one input is the stream that is `computed` or the source of what is `stored`.
    """

    computed: Node = field(kw_only=True)
    stored: SourceNode = field(kw_only=True)
    records: CachedRecords = field(kw_only=True)


@dataclass(eq=False)
class SideOutputNode(Node):
    """The records that an operator emitted under a tag."""

    tag_id: str = ""
