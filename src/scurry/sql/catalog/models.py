"""The models of catalogs, and ModelRegistry: the models of a session, temporary ones included."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from scurry._dataclasses import dataclass
from scurry.errors import ModelNotExistError, UnsupportedError, ValidationError
from scurry.errors.suggestions import did_you_mean
from scurry.sql.catalog.identifier import ObjectIdentifier
from scurry.sql.catalog.schema import ResolvedSchema

if TYPE_CHECKING:
    from scurry.sql.catalog.manager import CatalogManager


#: In place of the name of a catalog, for models that programs describe and do not name.
_ANONYMOUS = "*anonymous*"


@dataclass(frozen=True)
class CatalogModel:
    """A model: its input and output columns, and its provider.

    Attributes:
        input_schema: The columns that it takes.
        output_schema: The columns that it returns.
        comment: Its description, if it has one.
        options: What WITH said; `provider` names who computes it.
    """

    input_schema: ResolvedSchema
    output_schema: ResolvedSchema
    comment: str | None = None
    options: Mapping[str, str] = field(default_factory=dict, repr=False)  # have API keys


@dataclass(frozen=True)
class ContextResolvedModel:
    """A resolved name of a model.

    Attributes:
        identifier: The full name.
        model: The model.
        temporary: Whether it exists in this session only.
    """

    identifier: ObjectIdentifier
    model: CatalogModel
    temporary: bool = False


class ModelCatalog:
    """The models of a catalog; one that keeps none inherits these methods."""

    name: str

    def list_models(self, database: str) -> list[str]:
        """Return the names of all models of a database."""
        return []

    def find_model(self, database: str, name: str) -> CatalogModel | None:
        """Return a model, or None if it does not exist."""
        return None

    def create_model(self, database: str, name: str, model: CatalogModel) -> None:
        """Add a model."""
        raise self._no_models()

    def alter_model(self, database: str, name: str, model: CatalogModel) -> None:
        """Replace a model."""
        raise self._no_models()

    def rename_model(self, database: str, name: str, new_name: str) -> None:
        """Rename a model within its database."""
        raise self._no_models()

    def drop_model(self, database: str, name: str) -> None:
        """Remove a model."""
        raise self._no_models()

    def _no_models(self) -> UnsupportedError:
        return UnsupportedError(
            f"the catalog {self.name} keeps no models: use CREATE TEMPORARY MODEL, or a catalog in memory"
        )


class ModelRegistry:
    """The models of a session: those of its catalogs, and temporary ones, which hide them."""

    def __init__(self, catalogs: CatalogManager) -> None:
        self._catalogs = catalogs
        self._temporary: dict[ObjectIdentifier, CatalogModel] = {}

    def find(self, identifier: ObjectIdentifier) -> ContextResolvedModel | None:
        """Return the temporary model of a name, else the permanent one, else None."""
        if identifier in self._temporary:
            return ContextResolvedModel(identifier, self._temporary[identifier], temporary=True)
        catalog = self._catalogs.find_catalog(identifier.catalog)
        found = None if catalog is None else catalog.find_model(identifier.database, identifier.name)
        return None if found is None else ContextResolvedModel(identifier, found)

    def list_models(self, catalog: str, database: str) -> list[str]:
        """Return the names of the permanent models of a database: Flink lists no temporary ones here.

        Raises:
            ValidationError: There is no such catalog or database.
        """
        found = self._catalogs.catalog(catalog)
        if not found.database_exists(database):
            raise ValidationError(f"Database {database} does not exist").with_hint(
                did_you_mean(database, found.list_databases())
            )
        return sorted(found.list_models(database))

    def list_temporary_models(self) -> list[str]:
        """Return the names of the temporary models of the current database."""
        here = (self._catalogs.current_catalog, self._catalogs.current_database)
        return sorted(each.name for each in self._temporary if (each.catalog, each.database) == here)

    def create(self, model: CatalogModel, identifier: ObjectIdentifier, if_not_exists: bool) -> None:
        """Add a permanent model.

        Raises:
            CatalogError: There is one of that name, or no such database.
            ValidationError: There is no such catalog.
        """
        catalog = self._catalogs.find_catalog(identifier.catalog)
        if catalog is None:
            raise ValidationError(f"Catalog {identifier.catalog} does not exist.")
        if if_not_exists and catalog.find_model(identifier.database, identifier.name) is not None:
            return
        catalog.create_model(identifier.database, identifier.name, model)

    def create_temporary(self, model: CatalogModel, identifier: ObjectIdentifier, if_not_exists: bool) -> None:
        """Add a temporary model.

        Raises:
            ValidationError: There is one of that name.
        """
        if identifier not in self._temporary:
            self._temporary[identifier] = model
        elif not if_not_exists:
            raise ValidationError(f"Temporary model '{identifier}' already exists")

    def create_anonymous(self, model: CatalogModel) -> ContextResolvedModel:
        """Add a model that is in no catalog, so that it is not listed."""
        number = sum(each.catalog == _ANONYMOUS for each in self._temporary) + 1
        identifier = ObjectIdentifier(_ANONYMOUS, "models", f"{model.options.get('provider', '')}${number}")
        self._temporary[identifier] = model
        return ContextResolvedModel(identifier, model, temporary=True)

    def permanent(self, identifier: ObjectIdentifier, if_exists: bool) -> CatalogModel | None:
        """Return the permanent model that a statement changes; None if it is missing and may be.

        Raises:
            ValidationError: There is no such model, or a temporary one hides it.
        """
        if identifier in self._temporary:
            raise ValidationError(f"Model {identifier} is a temporary model.")
        found = self.find(identifier)
        if found is None and not if_exists:
            raise ValidationError(f"Model {identifier} doesn't exist.").with_hint(self.similar(identifier))
        return None if found is None else found.model

    def alter(self, identifier: ObjectIdentifier, model: CatalogModel) -> None:
        """Replace a permanent model."""
        self._catalogs.catalog(identifier.catalog).alter_model(identifier.database, identifier.name, model)

    def rename(self, identifier: ObjectIdentifier, new_name: str) -> None:
        """Rename a permanent model within its database."""
        self._catalogs.catalog(identifier.catalog).rename_model(identifier.database, identifier.name, new_name)

    def drop(self, identifier: ObjectIdentifier, if_exists: bool) -> bool:
        """Remove a permanent model, whether or not a temporary one hides it; return whether there was one.

        Raises:
            ValidationError: There is no such model.
        """
        catalog = self._catalogs.find_catalog(identifier.catalog)
        if catalog is not None and catalog.find_model(identifier.database, identifier.name) is not None:
            catalog.drop_model(identifier.database, identifier.name)
            return True
        if if_exists:
            return False
        if identifier in self._temporary:
            raise ModelNotExistError(f"Model '{identifier}' does not exist.").with_hint(
                "it is a temporary model: DROP TEMPORARY MODEL drops it"
            )
        raise ValidationError(f"Model with identifier '{identifier.as_summary_string()}' does not exist.").with_hint(
            self.similar(identifier)
        )

    def drop_temporary(self, identifier: ObjectIdentifier, if_exists: bool) -> bool:
        """Remove a temporary model; return whether there was one.

        Raises:
            ValidationError: There is no such model.
        """
        if self._temporary.pop(identifier, None) is not None:
            return True
        if if_exists:
            return False
        raise ValidationError(
            f"Temporary model with identifier '{identifier.as_summary_string()}' does not exist."
        ).with_hint(did_you_mean(identifier.name, [each.name for each in self._temporary]))

    def similar(self, identifier: ObjectIdentifier) -> str:
        """Return a hint for an unknown name of a model: `did you mean 'sentiment'?`."""
        catalog = self._catalogs.find_catalog(identifier.catalog)
        known = [each.name for each in self._temporary]
        if catalog is not None and catalog.database_exists(identifier.database):
            known += catalog.list_models(identifier.database)
        return did_you_mean(identifier.name, known)
