"""The node of ML_PREDICT: rows with the predictions of a model."""

from __future__ import annotations

from dataclasses import dataclass, field

from scurry.sql.plan.nodes.base import OneInput
from scurry.sql.plan.schema import Schema


@dataclass(frozen=True)
class PlannedModel:
    """A model as plans have it.

    Attributes:
        path: Catalog, database and name.
        inputs: The columns that it takes.
        outputs: The columns that it returns.
        options: What WITH said, as sorted pairs; API keys are among them.
    """

    path: tuple[str, ...]
    inputs: Schema
    outputs: Schema
    options: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @property
    def name(self) -> str:
        return ".".join(self.path)


@dataclass(frozen=True)
class MLPredict(OneInput):
    """Rows with the predictions of a model: none, one or more rows for each.

    Attributes:
        model: The model.
        features: The positions of the columns that it takes.
        config: The map of the call, as pairs; None if the call has none.
        names: The names of all columns.
    """

    model: PlannedModel
    features: tuple[int, ...]
    config: tuple[tuple[str, str], ...] | None
    names: tuple[str, ...]

    @property
    def schema(self) -> Schema:
        return (self.input.schema + self.model.outputs).renamed(self.names)
