"""TableSession: the context of statements: catalogs, settings and mode."""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from scurry.common.config_options import FINAL_SAVEPOINT_DIR
from scurry.common.configuration import Configuration
from scurry.sql.catalog.entries import CatalogTable
from scurry.sql.catalog.identifier import ObjectIdentifier
from scurry.sql.catalog.manager import CatalogManager
from scurry.sql.catalog.store import CatalogStore, FileCatalogStore
from scurry.sql.connectors.contract import TableContext

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from scurry.runtime.driver.job import JobExecution
    from scurry.sql.functions.definition import Session
    from scurry.sql.syntax import nodes

__all__ = ["LOCAL_TIME_ZONE", "TableSession"]

LOCAL_TIME_ZONE = "table.local-time-zone"


@dataclass
class TableSession:
    """The context in which statements are executed.

    Attributes:
        catalogs: The catalogs, and what is current.
        configuration: The settings.
        is_streaming: Whether queries run in STREAMING.
        is_beside_streams: Whether the mode of streams applies, which does not hide the kinds of printed rows.
        modules: The modules in use; only `core` has functions.
        loaded_modules: The modules that are loaded.
        jars: Paths of ADD JAR, which are kept and not used.
        ends_in_savepoint: Whether insertions read history and end in a savepoint from which a STREAMING job resumes.
        executed: The text of the statements that are being executed; empty outside, and for Tables.
        script: The file that the statements are from, as errors and plans name it; empty for those of programs.
        lines_before: How many lines of the script come before the text that is executed.
        line: The line of the script that the statement being executed begins in.
        watching: Returns what shows the progress of a job while a `with` block waits for it.
    """

    catalogs: CatalogManager
    configuration: Configuration
    is_streaming: bool
    is_beside_streams: bool = False
    modules: list[str] = field(default_factory=lambda: ["core"])
    loaded_modules: list[str] = field(default_factory=lambda: ["core"])
    jars: list[str] = field(default_factory=list)
    ends_in_savepoint: bool = False
    executed: str = ""
    script: str = ""
    lines_before: int = 0
    line: int = 1
    watching: Callable[[JobExecution], AbstractContextManager[object]] = nullcontext

    @classmethod
    def create(cls, configuration: Configuration) -> TableSession:
        """Return a new session with a built-in catalog.

        Args:
            configuration: Its settings, which also name the catalog, its database, and what stores catalogs.
        """
        store: CatalogStore | None = None
        if configuration.get_string("table.catalog-store.kind", "generic_in_memory") == "file":
            store = FileCatalogStore(configuration.get_string("table.catalog-store.file.path", ""))
        catalog = configuration.get_string("table.builtin-catalog-name", "default_catalog")
        database = configuration.get_string("table.builtin-database-name", "default_database")
        streaming = configuration.get_string("execution.runtime-mode", "STREAMING").upper() != "BATCH"
        return cls(CatalogManager.create(catalog, database, store), configuration, streaming)

    @property
    def shows_kinds(self) -> bool:
        """Whether printed rows have their kinds."""
        return self.is_streaming or self.is_beside_streams

    def for_insertions(self) -> TableSession:
        """Return the session of insertions.

        In BATCH it is one of STREAMING over bounded tables if `scurry.final-savepoint.dir` is set: only operators of
        STREAMING have the state that is saved.
        """
        if self.is_streaming or self.configuration.get(FINAL_SAVEPOINT_DIR) is None:
            return self
        return replace(self, is_streaming=True, ends_in_savepoint=True)

    def executing(self, *statements: nodes.Statement) -> TableSession:
        """Return the session in which statements are executed, which knows their text."""
        line = statements[0].span.line + self.lines_before if statements else 1
        return replace(self, executed=";\n\n".join(statement.span.source for statement in statements), line=line)

    def setting(self, key: str, default: str) -> str:
        """Return the text of a setting."""
        return self.configuration.get_string(key, default)

    @property
    def time_zone(self) -> str:
        """The session's time zone: `table.local-time-zone`, by default that of the machine."""
        zone = self.setting(LOCAL_TIME_ZONE, "default")
        return local_time_zone() if zone == "default" else zone

    def for_functions(self) -> Session:
        """Return what functions know of the session."""
        from scurry.sql.functions.definition import Session

        return Session(
            time_zone=self.time_zone,
            is_streaming=self.is_streaming,
            query_start=None if self.is_streaming else time.time_ns() // 1_000_000,
            current_catalog=self.catalogs.current_catalog,
            current_database=self.catalogs.current_database,
            options=tuple(sorted(self.configuration.to_dict().items())),
        )

    def context_of(
        self, identifier: ObjectIdentifier, table: CatalogTable, hints: Mapping[str, str] | None = None
    ) -> TableContext:
        """Return what the factory of a table's connector gets."""
        options = {**self._options(identifier, table), **(hints or {})}
        return TableContext(identifier, table, options, self.time_zone, self.is_streaming)

    def _options(self, identifier: ObjectIdentifier, table: CatalogTable) -> Mapping[str, str]:
        if "connector" in table.options:
            return table.options
        catalog = self.catalogs.find_catalog(identifier.catalog)
        implied = {} if catalog is None else catalog.implied_options(identifier.database, identifier.name)
        return implied or table.options


def local_time_zone() -> str:
    """Return the name of the machine's time zone, `UTC` where it has none."""
    import os
    from pathlib import Path

    named = os.environ.get("TZ")
    if named:
        return named.lstrip(":")
    path = os.path.realpath("/etc/localtime")
    _, found, name = path.partition("/zoneinfo/")
    if found:
        return name
    file = Path("/etc/timezone")
    return file.read_text(encoding="utf-8").strip() or "UTC" if file.exists() else "UTC"
