"""FileSystemCatalog: databases as directories, and the definitions of tables in files below them.

PATH/DATABASE/TABLE/schema/TABLE_schema.json   a table, a materialized table or a view
PATH/DATABASE/TABLE/data                       the rows of a table whose options do not say where they are
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scurry.common._process.file_locks import lock as lock_file
from scurry.common._process.replaced_files import replace_file
from scurry.connectors.files.filesystem import hidden, local_path
from scurry.errors import (
    CatalogError,
    DatabaseAlreadyExistError,
    DatabaseNotEmptyError,
    TableAlreadyExistError,
    TableNotExistError,
    UnsupportedError,
    ValidationError,
)
from scurry.errors.suggestions import did_you_mean
from scurry.sql.catalog.catalog import Catalog
from scurry.sql.catalog.entries import CatalogBaseTable, CatalogDatabase
from scurry.sql.catalog.external import ExternalCatalog
from scurry.sql.catalog.table_options import Options, TableOption, refuse_unsupported
from scurry.sql.statements.file_catalog.properties import MATERIALIZED_TABLE, VIEW, kind_of, properties_of, table_of

PATH = TableOption("path", str, None, "The directory with the databases, which exists.", required=True)
DEFAULT_DATABASE = TableOption("default-database", str, "default", "The database that is current.")
OPTIONS = (PATH, DEFAULT_DATABASE)
#: Description file of a database.
_DESCRIPTION = "_database.json"
#: Connector -> the option that says where its rows are; without it they are in `data`.
_PLACES = {"filesystem": "path", "delta": "table-path"}
#: File that whoever adds, renames or removes something holds.
_LOCK = "_catalog.lock"


def create_catalog(name: str, values: Mapping[str, str]) -> Catalog:
    """Return the catalog that CREATE CATALOG describes.

    Args:
        values: The options, `type` among them.

    Raises:
        ValidationError: An option is unknown or missing.
        CatalogError: There is no such directory.
        UnsupportedError: The path is not on this machine.
    """
    options = Options(values)
    options.check(OPTIONS)
    refuse_unsupported(values["type"], values, {"type", "property-version", *(option.key for option in OPTIONS)})
    path = local_path(options.get(PATH))
    if path is None:
        raise UnsupportedError(
            f"the catalog {name} keeps definitions in directories of this machine, not at {options.get(PATH)}"
        ).with_hint("catalogs of type 'delta' and 'iceberg' keep tables in object stores")
    if not Path(path).is_dir():
        raise CatalogError(f"Catalog {name} path {path} does not exist.").with_hint("make the directory")
    return FileSystemCatalog(name, options.get(DEFAULT_DATABASE), Path(path))


class FileSystemCatalog(ExternalCatalog):
    """Databases, tables, materialized tables and views in files, which other processes read and change, too.

    Every definition is replaced as a whole. Files are those of Flink's catalog `test-filesystem`, which reads the
    tables and materialized tables, but keeps no views.

    Args:
        default_database: The database that is current after USE CATALOG.
    """

    kind = "filesystem"
    place = "functions and models in a catalog in memory"

    def __init__(self, name: str, default_database: str, root: Path) -> None:
        super().__init__(name, default_database)
        self._root = root

    # ------------------------------------------------------------------ databases

    def list_databases(self) -> list[str]:
        """Return the names of the directories, and of the default database."""
        found = {each.name for each in self._root.iterdir() if each.is_dir() and not hidden(each.name)}
        return sorted({*found, self.default_database})

    def get_database(self, database: str) -> CatalogDatabase:
        """Return a database, with the properties that it was made with."""
        super().get_database(database)
        kept = _read(self._root / database / _DESCRIPTION)
        return CatalogDatabase() if kept is None else CatalogDatabase(kept["properties"], kept["comment"])

    def create_database(self, name: str, database: CatalogDatabase) -> None:
        """Make a directory."""
        with self._changing(name):
            if self.database_exists(name):
                raise DatabaseAlreadyExistError(f"Database {name} already exists in Catalog {self.name}.")
            self._describe(name, database)

    def alter_database(self, name: str, database: CatalogDatabase) -> None:
        """Replace the properties of a database."""
        super().get_database(name)
        with self._changing(name):
            self._describe(name, database)

    def _describe(self, name: str, database: CatalogDatabase) -> None:
        (self._root / name).mkdir(exist_ok=True)
        if database != CatalogDatabase():
            kept = {"comment": database.comment, "properties": dict(database.properties)}
            replace_file(self._root / name / _DESCRIPTION, json.dumps(kept), durable=True)

    def drop_database(self, name: str, cascade: bool) -> None:
        """Delete a directory; with CASCADE the tables in it, too."""
        with self._changing(name):
            if self.list_tables(name) and not cascade:
                raise DatabaseNotEmptyError(f"Database {name} in catalog {self.name} is not empty.")
            shutil.rmtree(self._root / name, ignore_errors=True)

    # ------------------------------------------------------------------ tables

    def list_tables(self, database: str) -> list[str]:
        """Return the names of the tables and views, in order."""
        super().get_database(database)
        directory = self._root / database
        if not directory.is_dir():
            return []
        return sorted(each.name for each in directory.iterdir() if self._definition(database, each.name).is_file())

    def list_views(self, database: str) -> list[str]:
        """Return the names of the views, in order."""
        return [name for name in self.list_tables(database) if self._kind(database, name) == VIEW]

    def list_materialized_tables(self, database: str) -> list[str]:
        """Return the names of the materialized tables, in order."""
        return [name for name in self.list_tables(database) if self._kind(database, name) == MATERIALIZED_TABLE]

    def find_table(self, database: str, name: str) -> CatalogBaseTable | None:
        """Return a table or view, or None if it does not exist.

        Raises:
            CatalogError: Its file is damaged.
        """
        if not _is_name(database) or not _is_name(name):
            return None
        file = self._definition(database, name)
        kept = _read(file)
        if kept is None:
            return None
        if not (isinstance(kept, dict) and isinstance(kept.get("catalogTableInfo"), dict)):
            raise CatalogError(f"the definition {file} of a table is damaged")
        found = dict(kept["catalogTableInfo"])
        if kept.get("tableKind") != VIEW and (option := _place_option(found)):
            found.setdefault(option, str(self._data(database, name)))
        return table_of(str(kept.get("tableKind")), found, f"{self.name}.{database}.{name}")

    def effective_options(self, database: str, name: str, options: Mapping[str, str]) -> Mapping[str, str]:
        """Return the options with which a table is read and written: its rows are here unless they say where."""
        option = _place_option(options)
        if option is None:
            return options
        return {"connector": "filesystem", option: str(self._data(database, name)), **options}

    def create_table(self, database: str, name: str, table: CatalogBaseTable) -> None:
        """Add a table or view."""
        super().get_database(database)
        with self._changing(database, name):
            if self._definition(database, name).is_file():
                raise TableAlreadyExistError(
                    f"Table (or view) {database}.{name} already exists in Catalog {self.name}."
                )
            self._define(database, name, table)

    def alter_table(self, database: str, name: str, table: CatalogBaseTable) -> None:
        """Replace a table or view."""
        with self._changing(database, name):
            self._require(database, name)
            self._define(database, name, table)

    def rename_table(self, database: str, name: str, new_name: str) -> None:
        """Rename a table or view, with its files."""
        with self._changing(database, name, new_name):
            self._require(database, name)
            if self._definition(database, new_name).is_file():
                raise TableAlreadyExistError(
                    f"Table (or view) {database}.{new_name} already exists in Catalog {self.name}."
                )
            old, text = self._definition(database, name), self._definition(database, name).read_text(encoding="utf-8")
            kept = json.loads(text)
            _forget_place(kept["catalogTableInfo"], self._data(database, name))
            # A crash leaves one of both names: each finds the definition only in its own directory.
            replace_file(old.with_name(f"{new_name}_schema.json"), json.dumps(kept), durable=True)
            (self._root / database / name).rename(self._root / database / new_name)
            (self._definition(database, new_name).parent / old.name).unlink()

    def drop_table(self, database: str, name: str) -> None:
        """Remove a table or view, with its rows if they are below the catalog's directory."""
        with self._changing(database, name):
            self._require(database, name)
            self._definition(database, name).unlink()
            shutil.rmtree(self._root / database / name, ignore_errors=True)

    # ------------------------------------------------------------------ files

    def _definition(self, database: str, name: str) -> Path:
        return self._root / database / name / "schema" / f"{name}_schema.json"

    def _data(self, database: str, name: str) -> Path:
        return self._root / database / name / "data"

    def _kind(self, database: str, name: str) -> Any:
        return (_read(self._definition(database, name)) or {}).get("tableKind")

    def _define(self, database: str, name: str, table: CatalogBaseTable) -> None:
        kept = properties_of(table)
        _forget_place(kept, self._data(database, name))
        file = self._definition(database, name)
        file.parent.mkdir(parents=True, exist_ok=True)
        if kind_of(table) != VIEW and kept.get("connector", "filesystem") == "filesystem" and "path" not in kept:
            self._data(database, name).mkdir(exist_ok=True)
        content = json.dumps({"tableKind": kind_of(table), "catalogTableInfo": kept})
        replace_file(file, content, durable=True)

    def _require(self, database: str, name: str) -> None:
        if not self._definition(database, name).is_file():
            raise TableNotExistError(
                f"Table (or view) {database}.{name} does not exist in Catalog {self.name}."
            ).with_hint(did_you_mean(name, self.list_tables(database)))

    @contextmanager
    def _changing(self, *names: str) -> Iterator[None]:
        """Let no other process add, rename or remove something meanwhile.

        Raises:
            ValidationError: A name cannot be that of a directory.
            CatalogError: The directory cannot be written to.
        """
        for name in names:
            if not _is_name(name):
                raise ValidationError(f"Catalog {self.name}: {name!r} cannot be the name of a directory.")
        try:
            with open(self._root / _LOCK, "a+b") as lock:
                lock_file(lock, wait=True)
                yield
        except OSError as error:
            raise CatalogError(f"the catalog {self.name} cannot change its files: {error}") from None


def _place_option(options: Mapping[str, str]) -> str | None:
    """Return the option that says where the rows of a table are, None if the catalog cannot keep them."""
    return _PLACES.get(options.get("connector", "filesystem"))


def _forget_place(options: dict[str, str], place: Path) -> None:
    """Remove the option that says where the rows are if they are there anyway: a table may be renamed."""
    option = _place_option(options)
    if option is not None and options.get(option) == str(place):
        del options[option]


def _is_name(name: str) -> bool:
    return "/" not in name and name != "" and not hidden(name)


def _read(file: Path) -> Any:
    """Return the content of a file, None if it does not exist.

    Raises:
        CatalogError: It is damaged.
    """
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise CatalogError(f"{file} cannot be read: {error}") from None
