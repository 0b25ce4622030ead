"""CatalogManager: the catalogs of a session, its current catalog and database, and its temporary tables and views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from scurry._dataclasses import dataclass
from scurry.errors import CatalogError, ScurryError, ValidationError
from scurry.errors.suggestions import did_you_mean
from scurry.sql.catalog.catalog import Catalog, GenericInMemoryCatalog
from scurry.sql.catalog.entries import CatalogBaseTable, CatalogTable, CatalogView, ContextResolvedTable, QueryView
from scurry.sql.catalog.functions import FunctionRegistry
from scurry.sql.catalog.identifier import ObjectIdentifier
from scurry.sql.catalog.materialized import CatalogMaterializedTable
from scurry.sql.catalog.models import ModelRegistry
from scurry.sql.catalog.store import CatalogDescription, CatalogStore, InMemoryCatalogStore

_VIEWS = (CatalogView, QueryView)


@dataclass
class CatalogManager:
    """The catalogs of a session.

    Attributes:
        catalogs: Those in use, by name.
        store: The descriptions of catalogs, which a file-backed store keeps for later sessions.
        current_catalog: Name of the current catalog; None after it was unset.
        current_database: Name of the current database.
        functions: The functions that users registered.
        models: The models.
    """

    catalogs: dict[str, Catalog]
    current_catalog: str
    current_database: str
    store: CatalogStore = field(default_factory=InMemoryCatalogStore)

    def __post_init__(self) -> None:
        """Begin without temporary tables."""
        self.functions = FunctionRegistry(self)
        self.models = ModelRegistry(self)
        self._temporary: dict[ObjectIdentifier, CatalogBaseTable] = {}

    @staticmethod
    def create(
        catalog: str = "default_catalog", database: str = "default_database", store: CatalogStore | None = None
    ) -> CatalogManager:
        """Return the manager of a new session, with one catalog in memory.

        Args:
            catalog: Name of that catalog.
            database: Name of its default database.
            store: Where the descriptions of catalogs are kept.
        """
        built_in = GenericInMemoryCatalog(catalog, database)
        return CatalogManager({catalog: built_in}, catalog, database, store or InMemoryCatalogStore())

    # ------------------------------------------------------------------ catalogs and databases

    def list_catalogs(self) -> list[str]:
        """Return the names of all catalogs."""
        return sorted({*self.catalogs, *self.store.list_catalogs()})

    def find_catalog(self, name: str) -> Catalog | None:
        """Return a catalog, made from its stored description at its first use, or None if it does not exist."""
        if name not in self.catalogs and (description := self.store.get_catalog(name)) is not None:
            self.catalogs[name] = description.create(name)
        return self.catalogs.get(name)

    def catalog(self, name: str) -> Catalog:
        """Return a catalog.

        Raises:
            ValidationError: No catalog has the name.
        """
        found = self.find_catalog(name)
        if found is None:
            raise ValidationError(f"Catalog {name} does not exist").with_hint(self._similar_catalog(name))
        return found

    def register_catalog(self, name: str, catalog: Catalog) -> None:
        """Add a catalog made elsewhere.

        Raises:
            CatalogError: There is one of that name.
        """
        if self.find_catalog(name) is not None:
            raise CatalogError(f"Catalog {name} already exists.")
        self.catalogs[name] = catalog

    def create_catalog(self, name: str, description: CatalogDescription, if_not_exists: bool = False) -> None:
        """Add a catalog and store its description.

        Raises:
            CatalogError: There is one of that name.
            ValidationError: Its options name no kind of catalog, or one that there is not.
        """
        if self.find_catalog(name) is not None:
            if if_not_exists:
                return
            raise CatalogError(f"Catalog {name} already exists.")
        self.catalogs[name] = description.create(name)
        self.store.store_catalog(name, description)

    def drop_catalog(self, name: str, if_exists: bool) -> None:
        """Remove a catalog and its description.

        Raises:
            CatalogError: It is current, or does not exist.
        """
        if name == self.current_catalog:
            raise CatalogError("Cannot drop a catalog which is currently in use.")
        if self.find_catalog(name) is None:
            if if_exists:
                return
            raise CatalogError(f"Catalog {name} does not exist.").with_hint(self._similar_catalog(name))
        self.catalogs.pop(name, None)
        self.store.remove_catalog(name)

    def use_catalog(self, name: str) -> None:
        """Make a catalog and its default database current.

        Raises:
            CatalogError: No catalog has the name.
        """
        found = self.find_catalog(name)
        if found is None:
            raise CatalogError(f"A catalog with name [{name}] does not exist.").with_hint(self._similar_catalog(name))
        self.current_catalog, self.current_database = name, found.default_database

    def use_database(self, catalog: str, database: str) -> None:
        """Make a database and its catalog current.

        Raises:
            CatalogError: There is no such catalog or database.
        """
        found = self.find_catalog(catalog)
        if found is None:
            raise CatalogError(f"A catalog with name [{catalog}] does not exist.").with_hint(
                self._similar_catalog(catalog)
            )
        if not found.database_exists(database):
            raise CatalogError(
                f"A database with name [{database}] does not exist in the catalog: [{catalog}]."
            ).with_hint(did_you_mean(database, found.list_databases()))
        self.current_catalog, self.current_database = catalog, database

    def _similar_catalog(self, name: str) -> str:
        return did_you_mean(name, self.list_catalogs())

    def similar(self, path: Sequence[str]) -> str:
        """Return a hint for an unknown name of a table or view: `did you mean 'orders'?`.

        Args:
            path: Catalog, database and name.
        """
        catalog, database, name = path
        found = self.find_catalog(catalog)
        try:
            if found is None:
                return self._similar_catalog(catalog)
            if not found.database_exists(database):
                return did_you_mean(database, found.list_databases())
            return did_you_mean(name, self.list_tables(catalog, database))
        except ScurryError:  # a catalog of another system may be unreachable, which is another error
            return ""

    # ------------------------------------------------------------------ names

    def qualify(self, names: Sequence[str]) -> ObjectIdentifier:
        """Return the full name that one to three parts of a name mean.

        Raises:
            ValidationError: It has more than three parts.
        """
        if len(names) == 1:
            return ObjectIdentifier(self.current_catalog, self.current_database, names[0])
        if len(names) == 2:
            return ObjectIdentifier(self.current_catalog, names[0], names[1])
        if len(names) == 3:
            return ObjectIdentifier(*names)
        raise ValidationError(f"Object identifier must consist of 1 to 3 parts.\nIt is {'.'.join(names)}")

    def qualify_database(self, names: Sequence[str]) -> tuple[str, str]:
        """Return catalog and database that one or two parts of a name mean.

        Raises:
            ValidationError: It has more than two parts.
        """
        if len(names) == 1:
            return self.current_catalog, names[0]
        if len(names) == 2:
            return names[0], names[1]
        raise ValidationError(f"Invalid identifier: {'.'.join(names)}; the name of a database has at most two parts")

    # ------------------------------------------------------------------ tables and views

    def find_table(self, identifier: ObjectIdentifier) -> ContextResolvedTable | None:
        """Return the temporary table of a name, else the permanent one, else None."""
        if identifier in self._temporary:
            return ContextResolvedTable(identifier, self._temporary[identifier], temporary=True)
        catalog = self.find_catalog(identifier.catalog)
        table = None if catalog is None else catalog.find_table(identifier.database, identifier.name)
        return None if table is None else ContextResolvedTable(identifier, table)

    def list_tables(self, catalog: str | None = None, database: str | None = None) -> list[str]:
        """Return the names of all tables and views of a database, temporary ones included.

        Raises:
            ValidationError: There is no such catalog or database.
        """
        return self._list(catalog, database, views_only=False)

    def list_views(self, catalog: str | None = None, database: str | None = None) -> list[str]:
        """Return the names of all views of a database, temporary ones included.

        Raises:
            ValidationError: There is no such catalog or database.
        """
        return self._list(catalog, database, views_only=True)

    def _list(self, catalog: str | None, database: str | None, views_only: bool) -> list[str]:
        catalog, database = catalog or self.current_catalog, database or self.current_database
        found = self.catalog(catalog)
        if not found.database_exists(database):
            raise ValidationError(f"Database '{catalog}'.'{database}' doesn't exist.").with_hint(
                did_you_mean(database, found.list_databases())
            )
        temporary = [
            i.name
            for i, table in self._temporary.items()
            if (i.catalog, i.database) == (catalog, database) and (not views_only or isinstance(table, _VIEWS))
        ]
        permanent = found.list_views(database) if views_only else found.list_tables(database)
        return sorted({*temporary, *permanent})

    def list_materialized_tables(self, catalog: str | None = None, database: str | None = None) -> list[str]:
        """Return the names of all materialized tables of a database.

        Raises:
            ValidationError: There is no such catalog.
            DatabaseNotExistError: There is no such database.
        """
        found = self.catalog(catalog or self.current_catalog)
        return found.list_materialized_tables(database or self.current_database)

    def list_temporary_tables(self) -> list[str]:
        """Return the names of the temporary tables of the current database."""
        return sorted(i.name for i, table in self._temporaries_here() if isinstance(table, CatalogTable))

    def list_temporary_views(self) -> list[str]:
        """Return the names of the temporary views of the current database."""
        return sorted(i.name for i, table in self._temporaries_here() if isinstance(table, _VIEWS))

    def _temporaries_here(self) -> list[tuple[ObjectIdentifier, CatalogBaseTable]]:
        here = (self.current_catalog, self.current_database)
        return [(i, table) for i, table in self._temporary.items() if (i.catalog, i.database) == here]

    def create_table(self, table: CatalogBaseTable, identifier: ObjectIdentifier, if_not_exists: bool) -> bool:
        """Add a permanent table or view; return whether it was added.

        Raises:
            CatalogError: There is one of that name, or no such database.
            ValidationError: There is no such catalog.
        """
        catalog = self.find_catalog(identifier.catalog)
        if catalog is None:
            raise ValidationError(f"Catalog {identifier.catalog} does not exist.").with_hint(
                self._similar_catalog(identifier.catalog)
            )
        if if_not_exists and catalog.find_table(identifier.database, identifier.name) is not None:
            return False
        catalog.create_table(identifier.database, identifier.name, table)
        return True

    def create_temporary_table(
        self, table: CatalogBaseTable, identifier: ObjectIdentifier, if_not_exists: bool
    ) -> bool:
        """Add a temporary table or view; return whether it was added.

        Raises:
            ValidationError: There is one of that name.
        """
        if identifier in self._temporary:
            if if_not_exists:
                return False
            raise ValidationError(f"Temporary table '{identifier}' already exists")
        self._temporary[identifier] = table
        return True

    def create_anonymous_table(self, table: CatalogBaseTable, name: str) -> ObjectIdentifier:
        """Add a table that is in no catalog, so that it is not listed; return its identifier.

        Args:
            table: The table.
            name: Its name in plans and messages, which no other anonymous table has.
        """
        identifier = ObjectIdentifier.anonymous(name)
        self._temporary[identifier] = table
        return identifier

    def alter_table(self, table: CatalogBaseTable, identifier: ObjectIdentifier) -> None:
        """Replace a permanent table or view."""
        self.catalog(identifier.catalog).alter_table(identifier.database, identifier.name, table)

    def rename_table(self, identifier: ObjectIdentifier, new_name: str) -> None:
        """Rename a permanent table or view."""
        self.catalog(identifier.catalog).rename_table(identifier.database, identifier.name, new_name)

    def drop_table(self, identifier: ObjectIdentifier, if_exists: bool, is_view: bool = False) -> bool:
        """Remove a permanent table or view; return whether there was one.

        Raises:
            ValidationError: The table does not exist, or a temporary one of the same name hides it.
        """
        kind, wanted = ("View", _VIEWS) if is_view else ("Table", (CatalogTable,))
        if isinstance(self._temporary.get(identifier), wanted):
            raise ValidationError(
                f"Temporary {kind.lower()} with identifier '{identifier}' exists. "
                f"Drop it first before removing the permanent {kind.lower()}."
            )
        catalog = self.find_catalog(identifier.catalog)
        found = None if catalog is None else catalog.find_table(identifier.database, identifier.name)
        if catalog is not None and isinstance(found, wanted) and not isinstance(found, CatalogMaterializedTable):
            catalog.drop_table(identifier.database, identifier.name)
            return True
        if if_exists:
            return False
        raise ValidationError(f"{kind} with identifier '{identifier.as_summary_string()}' does not exist.").with_hint(
            self.similar(identifier.path)
        )

    def drop_materialized_table(self, identifier: ObjectIdentifier) -> None:
        """Remove a materialized table."""
        self.catalog(identifier.catalog).drop_table(identifier.database, identifier.name)

    def drop_temporary(self, identifier: ObjectIdentifier, if_exists: bool, is_view: bool = False) -> bool:
        """Remove a temporary table or view; return whether there was one.

        Raises:
            ValidationError: The table does not exist.
        """
        if isinstance(self._temporary.get(identifier), _VIEWS if is_view else (CatalogTable,)):
            del self._temporary[identifier]
            return True
        if if_exists:
            return False
        raise ValidationError(
            f"Temporary table or view with identifier '{identifier.as_summary_string()}' does not exist."
        ).with_hint(did_you_mean(identifier.name, [each.name for each in self._temporary]))
