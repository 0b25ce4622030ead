"""Models of a TableEnvironment."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from scurry.errors import ValidationError
from scurry.table._definitions import definition_of_schema
from scurry.table._environment.base import EnvironmentBase, require
from scurry.table.model_descriptor import ModelDescriptor

if TYPE_CHECKING:
    from scurry.sql.catalog.models import CatalogModel
    from scurry.sql.statements.definitions.schemas import Definition
    from scurry.table.model import Model
    from scurry.table.schema import Schema
    from scurry.table.table_environment import TableEnvironment


class ModelMethods(EnvironmentBase):
    """Methods of a TableEnvironment about its models."""

    def list_models(self) -> list[str]:
        """Return the names of the models of the current database, without temporary ones."""
        catalogs = self._session.catalogs
        return catalogs.models.list_models(catalogs.current_catalog, catalogs.current_database)

    def list_temporary_models(self) -> list[str]:
        """Return the names of the temporary models of the current database."""
        return self._session.catalogs.models.list_temporary_models()

    def create_model(
        self, model_path: str, model_descriptor: ModelDescriptor, ignore_if_exists: bool | None = False
    ) -> None:
        """Add a model.

        Args:
            model_path: Its name.
            model_descriptor: Its description.
            ignore_if_exists: Whether there may be one of that name.

        Raises:
            CatalogError: There is one of that name.
            ValidationError: The description is wrong.
        """
        model = self._model_of(model_descriptor)
        self._session.catalogs.models.create(model, self._named(model_path), bool(ignore_if_exists))

    def create_temporary_model(
        self, model_path: str, model_descriptor: ModelDescriptor, ignore_if_exists: bool | None = False
    ) -> None:
        """Add a model that exists in this session only; it hides a permanent one of that name.

        Args:
            model_path: Its name.
            model_descriptor: Its description.
            ignore_if_exists: Whether there may be a temporary one of that name.

        Raises:
            ValidationError: There is one of that name, or the description is wrong.
        """
        model = self._model_of(model_descriptor)
        self._session.catalogs.models.create_temporary(model, self._named(model_path), bool(ignore_if_exists))

    def drop_model(self, model_path: str, ignore_if_not_exists: bool | None = True) -> bool:
        """Remove a model; return whether there was one.

        Args:
            model_path: Its name.
            ignore_if_not_exists: Whether it may be missing.

        Raises:
            ValidationError: It has to be there.
        """
        return self._session.catalogs.models.drop(self._named(model_path), bool(ignore_if_not_exists))

    def drop_temporary_model(self, model_path: str) -> bool:
        """Remove a temporary model; return whether there was one.

        Args:
            model_path: Its name.
        """
        return self._session.catalogs.models.drop_temporary(self._named(model_path), if_exists=True)

    def from_model(self, model: str | ModelDescriptor) -> Model:
        """Return a model, whose `predict` calls it for the rows of a table.

        PyFlink does not have the method yet; it is `fromModel` of Flink's Table API.

        Args:
            model: Its name, or the description of one that is in no catalog.

        Raises:
            ValidationError: There is no such model, or the description is wrong.
        """
        from scurry.table.model import Model

        models = self._session.catalogs.models
        if isinstance(model, ModelDescriptor):
            found = models.create_anonymous(self._model_of(model))
        else:
            identifier = self._named(model)
            named = models.find(identifier)
            if named is None:
                raise ValidationError(f"Model {identifier} was not found.").with_hint(models.similar(identifier))
            found = named
        return Model(cast("TableEnvironment", self), found)

    def _model_of(self, descriptor: ModelDescriptor) -> CatalogModel:
        from scurry.sql.statements.definitions.models import model_of

        require(descriptor, ModelDescriptor, "a ModelDescriptor, which ModelDescriptor.for_provider(...) begins")
        inputs = _definition(descriptor.get_input_schema(), "Input")
        outputs = _definition(descriptor.get_output_schema(), "Output")
        return model_of(self._session, inputs, outputs, descriptor.get_options(), descriptor.get_comment())


def _definition(schema: Schema | None, side: str) -> Definition:
    if schema is None:
        raise ValidationError(f"{side} schema missing in ModelDescriptor. {side} schema cannot be null.")
    return definition_of_schema(schema)
