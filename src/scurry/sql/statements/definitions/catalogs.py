"""Statements on catalogs, databases and modules."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from urllib.parse import urlparse

from scurry.errors import UnsupportedError, ValidationError
from scurry.sql.catalog.catalog import GenericInMemoryCatalog
from scurry.sql.catalog.entries import CatalogDatabase
from scurry.sql.catalog.store import CatalogDescription
from scurry.sql.statements.materialized.refreshers import end_all
from scurry.sql.statements.modules import MODULES
from scurry.sql.statements.names import options_of
from scurry.sql.statements.results import StatementResult, ok
from scurry.sql.statements.session import TableSession
from scurry.sql.syntax import nodes


def use_catalog(session: TableSession, statement: nodes.UseCatalog) -> StatementResult:
    """Make a catalog current."""
    session.catalogs.use_catalog(statement.name.last)
    return ok()


def use_database(session: TableSession, statement: nodes.UseDatabase) -> StatementResult:
    """Make a database current."""
    session.catalogs.use_database(*_database(session, statement.name, "use"))
    return ok()


def _database(session: TableSession, name: nodes.Identifier, verb: str) -> tuple[str, str]:
    if len(name.names) > 2:
        raise ValidationError(
            f"{verb} database identifier format error\n'{name}': the name of a database has at most two parts"
        )
    return session.catalogs.qualify_database(name.names)


def create_catalog(session: TableSession, statement: nodes.CreateCatalog) -> StatementResult:
    description = CatalogDescription(options_of(statement.properties), statement.comment)
    session.catalogs.create_catalog(statement.name.last, description, statement.if_not_exists)
    return ok()


def drop_catalog(session: TableSession, statement: nodes.DropCatalog) -> StatementResult:
    """Remove a catalog; with one in memory its materialized tables end."""
    name = statement.name.last
    found = session.catalogs.find_catalog(name)
    session.catalogs.drop_catalog(name, statement.if_exists)
    if isinstance(found, GenericInMemoryCatalog):
        for database in found.list_databases():
            end_all(session, found, database)
    return ok()


def alter_catalog(session: TableSession, statement: nodes.AlterCatalog) -> StatementResult:
    """Change the description of a catalog."""
    name, action = statement.name.last, statement.action
    session.catalogs.catalog(name)
    keys = [key.value for key in action.keys] if isinstance(action, nodes.ResetProperties) else ["none"]
    if not keys:
        raise ValidationError("ALTER CATALOG RESET does not support empty key")
    if "type" in keys:
        raise ValidationError("ALTER CATALOG RESET does not support changing 'type'")
    description = session.catalogs.store.get_catalog(name)
    if description is None:
        raise ValidationError(
            f"Could not execute ALTER CATALOG {name}\nCatalog {name} does not exist in the catalog store.\nA program "
            "registered it, so that there is nothing to alter."
        )
    options = dict(description.options)
    if isinstance(action, nodes.SetProperties):
        options.update(options_of(action.properties))
    elif isinstance(action, nodes.ResetProperties):
        options = {key: value for key, value in options.items() if key not in keys}
    elif isinstance(action, nodes.SetComment):
        description = replace(description, comment=action.comment)
    changed = replace(description, options=options)
    changed.create(name)  # reports wrong options
    session.catalogs.store.store_catalog(name, changed)
    # as in Flink, the catalog is created again at its next use
    session.catalogs.catalogs.pop(name, None)
    return ok()


def create_database(session: TableSession, statement: nodes.CreateDatabase) -> StatementResult:
    catalog, name = _database(session, statement.name, "create")
    found = session.catalogs.catalog(catalog)
    if not (statement.if_not_exists and found.database_exists(name)):
        found.create_database(name, CatalogDatabase(options_of(statement.properties), statement.comment))
    return ok()


def alter_database(session: TableSession, statement: nodes.AlterDatabase) -> StatementResult:
    """Change the properties of a database."""
    catalog, name = _database(session, statement.name, "alter")
    found = session.catalogs.catalog(catalog)
    database = found.get_database(name)
    if not isinstance(statement.action, nodes.SetProperties):
        raise UnsupportedError("ALTER DATABASE changes properties only: ALTER DATABASE name SET ('key' = 'value')")
    properties = {**database.properties, **options_of(statement.action.properties)}
    found.alter_database(name, replace(database, properties=properties))
    return ok()


def drop_database(session: TableSession, statement: nodes.DropDatabase) -> StatementResult:
    catalogs = session.catalogs
    catalog, name = _database(session, statement.name, "drop")
    if (catalog, name) == (catalogs.current_catalog, catalogs.current_database):
        raise ValidationError("Cannot drop a database which is currently in use.")
    found = catalogs.catalog(catalog)
    if not (statement.if_exists and not found.database_exists(name)):
        if statement.cascade and found.database_exists(name):
            end_all(session, found, name)
        found.drop_database(name, statement.cascade)
    return ok()


def use_modules(session: TableSession, statement: nodes.UseModules) -> StatementResult:
    """Choose the modules in use, in order."""
    names = [name.last for name in statement.names]
    for name in names:
        if name not in session.loaded_modules:
            raise ValidationError(
                f"Could not execute USE MODULES: [{', '.join(names)}]. No module with name '{name}' exists"
            )
        if names.count(name) > 1:
            raise ValidationError(
                f"Could not execute USE MODULES: [{', '.join(names)}]. Module '{name}' appears more than once"
            )
    session.modules = names
    return ok()


def load_module(session: TableSession, statement: nodes.LoadModule) -> StatementResult:
    """Load a module: `core` or `state`."""
    name = statement.name.last
    if name in session.loaded_modules:
        raise ValidationError(f"Could not execute LOAD MODULE `{name}`. A module with name '{name}' already exists")
    if name not in MODULES:
        raise ValidationError(
            f"Could not execute LOAD MODULE `{name}`. Unable to create module '{name}'.\n"
            f"Could not find any module factory for identifier '{name}'; scurry has the modules 'core' and 'state'."
        )
    session.loaded_modules.append(name)
    session.modules.append(name)
    return ok()


def unload_module(session: TableSession, statement: nodes.UnloadModule) -> StatementResult:
    name = statement.name.last
    if name not in session.loaded_modules:
        raise ValidationError(f"Could not execute UNLOAD MODULE {name}. No module with name '{name}' exists")
    session.loaded_modules.remove(name)
    session.modules = [module for module in session.modules if module != name]
    return ok()


def add_jar(session: TableSession, statement: nodes.AddJar) -> StatementResult:
    """Remember a jar, which nothing uses: scurry runs no Java code.

    Raises:
        ValidationError: There is no such file, or it is no jar.
    """
    path = urlparse(statement.path)
    if path.scheme in ("", "file"):
        _check_jar(Path(path.path), statement.path)
    if statement.path not in session.jars:
        session.jars.append(statement.path)
    return ok()


def _check_jar(path: Path, written: str) -> None:
    if path.is_dir():
        raise ValidationError(
            f"The registering or unregistering resource [{written}] is a directory, which is not allowed."
        )
    if not path.exists():
        raise ValidationError(
            f"Could not register the specified resource [ResourceUri{{resourceType=JAR, uri='{written}'}}]: jar or "
            f"artifact resource [{written}] not found."
        )
    if path.suffix.lower() != ".jar":
        raise ValidationError(f"The registering or unregistering resource [{written}] must end with a '.jar' suffix.")


def remove_jar(session: TableSession, statement: nodes.RemoveJar) -> StatementResult:
    """Forget a jar."""
    session.jars = [path for path in session.jars if path != statement.path]
    return ok()
