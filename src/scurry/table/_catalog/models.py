"""Models of catalogs, as programs see and change them."""

from __future__ import annotations

from collections.abc import Mapping

from scurry.common._api import ApiObject
from scurry.errors import ModelNotExistError, ValidationError
from scurry.sql.catalog import models
from scurry.sql.catalog.catalog import Catalog
from scurry.sql.catalog.schema import PhysicalColumn, ResolvedSchema
from scurry.table._catalog.names import ObjectPath
from scurry.table.schema import Schema


class CatalogModel(ApiObject):
    """A model of a catalog."""

    def __init__(self, model: models.CatalogModel) -> None:
        """Wrap a model; use `create_model`."""
        self._model = model

    @staticmethod
    def create_model(
        input_schema: Schema,
        output_schema: Schema,
        options: Mapping[str, str] | None = None,
        comment: str | None = None,
    ) -> CatalogModel:
        """Describe a model.

        Args:
            input_schema: The columns that it takes.
            output_schema: The columns that it returns.
            options: Its options; `provider` names who computes it.
            comment: Its description.

        Raises:
            ValidationError: A column is not a physical one.
        """
        return CatalogModel(
            models.CatalogModel(_resolved(input_schema), _resolved(output_schema), comment, dict(options or {}))
        )

    def copy(self) -> CatalogModel:
        """Return an equal one."""
        return CatalogModel(self._model)

    def get_comment(self) -> str | None:
        """Return its description."""
        return self._model.comment

    def get_options(self) -> dict[str, str]:
        """Return its options."""
        return dict(self._model.options)


def _resolved(schema: Schema) -> ResolvedSchema:
    columns = []
    for each in schema._columns:
        if each.data_type is None or each.expression is not None or each.is_metadata:
            raise ValidationError(f"Column {each} can only be a physical column.")
        columns.append(PhysicalColumn(each.name, each.data_type))
    return ResolvedSchema(columns)


class ModelsOfCatalog(ApiObject):
    """Methods of a catalog about its models."""

    _catalog: Catalog

    def list_models(self, database_name: str) -> list[str]:
        """Return the names of all models of a database."""
        self._catalog.get_database(database_name)
        return self._catalog.list_models(database_name)

    def get_model(self, model_path: ObjectPath) -> CatalogModel:
        """Return a model."""
        found = self._catalog.find_model(model_path.get_database_name(), model_path.get_object_name())
        if found is None:
            raise self._no_model(model_path)
        return CatalogModel(found)

    def model_exists(self, model_path: ObjectPath) -> bool:
        """Return whether there is such a model."""
        return self._catalog.find_model(model_path.get_database_name(), model_path.get_object_name()) is not None

    def create_model(self, model_path: ObjectPath, model: CatalogModel, ignore_if_exists: bool) -> None:
        """Add a model."""
        if not (ignore_if_exists and self.model_exists(model_path)):
            self._catalog.create_model(model_path.get_database_name(), model_path.get_object_name(), model._model)

    def alter_model(self, model_path: ObjectPath, new_model: CatalogModel, ignore_if_not_exists: bool) -> None:
        """Replace a model."""
        if self._is_changed(model_path, ignore_if_not_exists):
            self._catalog.alter_model(model_path.get_database_name(), model_path.get_object_name(), new_model._model)

    def rename_model(self, model_path: ObjectPath, new_model_name: str, ignore_if_not_exists: bool) -> None:
        """Rename a model within its database."""
        if self._is_changed(model_path, ignore_if_not_exists):
            self._catalog.rename_model(model_path.get_database_name(), model_path.get_object_name(), new_model_name)

    def drop_model(self, model_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        """Remove a model."""
        if self._is_changed(model_path, ignore_if_not_exists):
            self._catalog.drop_model(model_path.get_database_name(), model_path.get_object_name())

    def _is_changed(self, model_path: ObjectPath, ignore_if_not_exists: bool) -> bool:
        if self.model_exists(model_path):
            return True
        if ignore_if_not_exists:
            return False
        raise self._no_model(model_path)

    def _no_model(self, model_path: ObjectPath) -> ModelNotExistError:
        path = ".".join(f"`{each}`" for each in (self._catalog.name, *model_path.get_full_name().split(".", 1)))
        return ModelNotExistError(f"Model '{path}' does not exist.")
