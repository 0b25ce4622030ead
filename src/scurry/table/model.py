"""Model: a model that predicts, as Flink's `org.apache.flink.table.api.Model`, which PyFlink does not have yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from scurry.common._api import ApiObject
from scurry.sql.catalog.schema import ResolvedSchema
from scurry.table.expression import Expression
from scurry.table.table import Table

if TYPE_CHECKING:
    from scurry.sql.catalog.models import ContextResolvedModel
    from scurry.table.table_environment import TableEnvironment

__all__ = ["Model"]


class Model(ApiObject):
    """A model of an environment; `TableEnvironment.from_model` returns it."""

    def __init__(self, t_env: TableEnvironment, found: ContextResolvedModel) -> None:
        self._t_env = t_env
        self._found = found

    def get_resolved_input_schema(self) -> ResolvedSchema:
        """Return the columns that the model takes."""
        return self._found.model.input_schema

    def get_resolved_output_schema(self) -> ResolvedSchema:
        """Return the columns that the model returns."""
        return self._found.model.output_schema

    def predict(
        self, table: Table, input_columns: Expression | Sequence[str], options: Mapping[str, str] | None = None
    ) -> Table:
        """Return the rows of a table with the predictions of the model: `ML_PREDICT`.

        Args:
            table: The table.
            input_columns: The columns that the model takes: their names, or `descriptor(...)`.
            options: How it is called: `async`, `max-concurrent-operations`, `output-mode`, `timeout`.

        Raises:
            ValidationError: The columns do not fit the model, or the options of the model are wrong.
        """
        from scurry.table._operations.predicting import predicted

        plan = predicted(self._t_env._session, self._found.identifier, table._plan, input_columns, options)
        return Table(self._t_env, plan)
