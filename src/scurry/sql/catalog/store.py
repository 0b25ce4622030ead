"""CatalogStore: the descriptions of catalogs, in memory or as files that later sessions read."""

from __future__ import annotations

import importlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from scurry._dataclasses import dataclass
from scurry.common._process.replaced_files import replace_file
from scurry.errors import CatalogError, ValidationError
from scurry.sql.catalog.catalog import Catalog, GenericInMemoryCatalog
from scurry.sql.catalog.table_options import TableOption, factory_not_found, in_context, refuse_unsupported

_DEFAULT_DATABASE = TableOption("default-database", str, "default", "The database that is current after USE CATALOG.")

#: type -> module and function that makes the catalog of a name and options, imported when a statement names it
_FACTORIES = {
    "filesystem": "scurry.sql.statements.file_catalog.catalog:create_catalog",
    "test-filesystem": "scurry.sql.statements.file_catalog.catalog:create_catalog",
    "delta": "scurry.sql.connectors.lakes.delta_catalog:create_catalog",
    "iceberg": "scurry.sql.connectors.lakes.iceberg_catalog:create_catalog",
    "jdbc": "scurry.sql.connectors.jdbc.catalog:create_catalog",
}


def catalog_kinds() -> list[str]:
    """Return the kinds of catalogs there are, as `type` names them."""
    return sorted(["generic_in_memory", *_FACTORIES])


@dataclass(frozen=True)
class CatalogDescription:
    """The options and the comment of CREATE CATALOG.

    Attributes:
        options: WITH.
        comment: COMMENT, if given.
    """

    options: Mapping[str, str] = field(default_factory=dict)
    comment: str | None = None

    def create(self, name: str) -> Catalog:
        """Return the catalog that this describes.

        Raises:
            ValidationError: The options name no kind of catalog, one that there is not, or unknown options.
        """
        kind = self.options.get("type")
        try:
            if kind is None:
                error = ValidationError(
                    "Catalog options do not contain an option key 'type' for discovering a catalog."
                )
                kinds = ", ".join(catalog_kinds())
                raise error.with_hint(f"WITH ('type' = ...) is one of {kinds}")
            if kind in _FACTORIES:
                module, _, function = _FACTORIES[kind].partition(":")
                made: Catalog = getattr(importlib.import_module(module), function)(name, self.options)
                return made
            if kind != "generic_in_memory":
                raise factory_not_found("catalog", kind, catalog_kinds())
            refuse_unsupported("generic_in_memory", self.options, {"type", _DEFAULT_DATABASE.key, "property-version"})
        except ValidationError as error:
            raise in_context(error, f"Unable to create catalog '{name}'.") from None
        return GenericInMemoryCatalog(name, self.options.get(_DEFAULT_DATABASE.key, "default"))


class CatalogStore(ABC):
    """Keep the descriptions of catalogs."""

    @abstractmethod
    def list_catalogs(self) -> list[str]:
        """Return the names of all catalogs."""

    @abstractmethod
    def get_catalog(self, name: str) -> CatalogDescription | None:
        """Return a description, or None if it does not exist."""

    @abstractmethod
    def store_catalog(self, name: str, description: CatalogDescription) -> None:
        """Keep a description, in place of an earlier one of the same name."""

    @abstractmethod
    def remove_catalog(self, name: str) -> None:
        """Forget a description, if there is one."""


class InMemoryCatalogStore(CatalogStore):
    """Descriptions that last as long as the session."""

    def __init__(self) -> None:
        """Begin empty."""
        self._descriptions: dict[str, CatalogDescription] = {}

    def list_catalogs(self) -> list[str]:
        """Return the names of all catalogs."""
        return sorted(self._descriptions)

    def get_catalog(self, name: str) -> CatalogDescription | None:
        """Return a description, or None if it does not exist."""
        return self._descriptions.get(name)

    def store_catalog(self, name: str, description: CatalogDescription) -> None:
        """Keep a description."""
        self._descriptions[name] = description

    def remove_catalog(self, name: str) -> None:
        """Forget a description."""
        self._descriptions.pop(name, None)


class FileCatalogStore(CatalogStore):
    """Descriptions in files `NAME.yaml` of a directory, as Flink's store of kind `file` writes and reads them.

    A file has a line `key: "value"` per option; the comment is the option `comment`.
    """

    def __init__(self, directory: str) -> None:
        """Create a store in a directory, which is created with the first catalog.

        Raises:
            CatalogError: There is a file in its place.
        """
        self._directory = Path(directory.removeprefix("file://"))
        if self._directory.exists() and not self._directory.is_dir():
            raise CatalogError(f"Failed to open catalog store. The given catalog store path {directory} is a file.")

    def list_catalogs(self) -> list[str]:
        """Return the names of all catalogs."""
        return sorted(file.stem for file in self._directory.glob("*.yaml"))

    def get_catalog(self, name: str) -> CatalogDescription | None:
        """Return a description, or None if it does not exist.

        Raises:
            CatalogError: Its file cannot be read.
        """
        file = self._file(name)
        if not file.exists():
            return None
        options: dict[str, str] = {}
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            if not line.strip() or line.startswith(("#", "---")):
                continue
            entry = re.fullmatch(r"\s*(\"(?:[^\"\\]|\\.)*\"|[^:\s][^:]*)\s*:\s*(.*?)\s*", line)
            if entry is None:
                raise CatalogError(f"{file}:{number}: expected `key: value`, not {line!r}")
            options[_unquoted(entry[1])] = _unquoted(entry[2])
        comment = options.pop("comment", None)
        return CatalogDescription(options, comment)

    def store_catalog(self, name: str, description: CatalogDescription) -> None:
        """Keep a description."""
        options = dict(description.options)
        if description.comment is not None:
            options["comment"] = description.comment
        lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in sorted(options.items())]
        file = self._file(name)
        self._directory.mkdir(parents=True, exist_ok=True)
        replace_file(file, "".join(lines))

    def remove_catalog(self, name: str) -> None:
        """Forget a description."""
        self._file(name).unlink(missing_ok=True)

    def _file(self, name: str) -> Path:
        if "/" in name or name in ("", ".", ".."):
            raise CatalogError(
                f"{name!r} cannot be the name of a catalog in a file-backed store: it has to be a file name"
            )
        return self._directory / f"{name}.yaml"


def _unquoted(text: str) -> str:
    if text.startswith('"'):
        return str(json.loads(text))
    return text[1:-1].replace("''", "'") if text.startswith("'") and text.endswith("'") else text
