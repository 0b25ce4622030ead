"""TableSession: the context of statements: catalogs, settings and mode."""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from scurry._dataclasses import dataclass
from scurry.common._config.tables import (
    BUILTIN_CATALOG_NAME,
    BUILTIN_DATABASE_NAME,
    CATALOG_STORE_KIND,
    CATALOG_STORE_PATH,
    LOCAL_TIME_ZONE,
)
from scurry.common.config_options import FINAL_SAVEPOINT_DIR, RUNTIME_MODE
from scurry.common.configuration import Configuration
from scurry.sql.catalog.entries import CatalogTable
from scurry.sql.catalog.identifier import ObjectIdentifier
from scurry.sql.catalog.manager import CatalogManager
from scurry.sql.catalog.materialized import PARTITION_FIELDS, CatalogMaterializedTable
from scurry.sql.catalog.store import CatalogStore, FileCatalogStore
from scurry.sql.connectors.contract import SinkTarget, TableContext, TableSource
from scurry.sql.connectors.factories import create_sink, create_source
from scurry.sql.plan.view_plans import ViewPlans

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping
    from contextlib import AbstractContextManager

    from scurry.connectors.sink import Sink
    from scurry.runtime.driver.job import JobExecution
    from scurry.sql.catalog.entries import CatalogFunction
    from scurry.sql.functions.definition import EvaluationContext, Setting
    from scurry.sql.functions.user.definition import UserFunction
    from scurry.sql.syntax import nodes
    from scurry.sql.validator.session_catalog import SessionCatalog


_Made = TypeVar("_Made")


class StatementObjects:
    """Objects that a statement has made of its tables, each once."""

    def __init__(self) -> None:
        self._made: dict[Hashable, tuple[Any, object]] = {}

    def once(self, key: Hashable, make: Callable[[], _Made], kept: object = None) -> _Made:
        """Return the object of a key; make it at the first request.

        Args:
            kept: An object whose identity is part of the key.
        """
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = make(), kept
        made: _Made = found[0]
        return made

    def for_next_step(self, *others: StatementObjects | None) -> StatementObjects:
        """Return the sources and sinks alone: all that depends on settings and the time is made again."""
        found = StatementObjects()
        for each in (self, *others):
            if each is not None:
                found._made |= {key: made for key, made in each._made.items() if isinstance(key, _TableKey)}
        return found

    def for_execution(self) -> StatementObjects:
        """Return the sources and sinks alone, where sources read the present rows of their tables."""
        found = self.for_next_step()
        for key, (made, table) in found._made.items():
            if isinstance(made, TableSource):
                found._made[key] = made.renewed(), table
        return found


@dataclass(frozen=True)
class _TableKey:
    """The key of a source or sink: all that it is made of."""

    kind: str
    identifier: ObjectIdentifier
    table: int
    options: tuple[tuple[str, str], ...]
    time_zone: str
    target: tuple[Hashable, ...] = ()

    @classmethod
    def of(cls, kind: str, context: TableContext, *target: Hashable) -> _TableKey:
        options = tuple(sorted(context.options.items()))
        return cls(kind, context.identifier, id(context.table), options, context.time_zone, target)


@dataclass
class TableSession:
    """The context in which statements are executed.

    Attributes:
        catalogs: The catalogs, and what is current.
        configuration: The settings.
        is_streaming: Whether queries run in STREAMING.
        is_beside_streams: Whether the mode of streams applies, which does not hide the kinds of printed rows.
        modules: The modules in use, in order.
        jars: Paths of ADD JAR, which are kept and not used.
        ends_in_savepoint: Whether insertions read history and end in a savepoint from which a STREAMING job resumes.
        executed: The text of the statements that are being executed; empty outside, and for Tables.
        script: The file that the statements are from, as errors and plans name it; empty for those of programs.
        lines_before: How many lines of the script come before the text that is executed.
        line: The line of the script that the statement being executed begins in.
        watching: Returns what shows the progress of a job while a `with` block waits for it.
        statement: What a statement has made of its tables; None outside.
        view_plans: The plans of views, which later statements use while the views mean the same.
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
    statement: StatementObjects | None = field(default=None, repr=False)
    view_plans: ViewPlans = field(default_factory=ViewPlans, repr=False)

    @classmethod
    def create(cls, configuration: Configuration) -> TableSession:
        """Return a new session with a built-in catalog.

        Args:
            configuration: Its settings, which also name the catalog, its database, and what stores catalogs.
        """
        store: CatalogStore | None = None
        settings = configuration.to_dict()
        if CATALOG_STORE_KIND.of(settings) == "file":
            store = FileCatalogStore(CATALOG_STORE_PATH.of(settings))
        catalog, database = BUILTIN_CATALOG_NAME.of(settings), BUILTIN_DATABASE_NAME.of(settings)
        streaming = configuration.get(RUNTIME_MODE) != "BATCH"
        return cls(CatalogManager.create(catalog, database, store), configuration, streaming)

    @property
    def shows_kinds(self) -> bool:
        """Return whether printed rows show their row kinds."""
        return self.is_streaming or self.is_beside_streams

    def for_insertions(self) -> TableSession:
        """Return the session of insertions.

        In BATCH it is one of STREAMING over bounded tables if `scurry.final-savepoint.dir` is set: only operators of
        STREAMING have the state that is saved.
        """
        if self.is_streaming or self.configuration.get(FINAL_SAVEPOINT_DIR) is None:
            return self
        return replace(self, is_streaming=True, ends_in_savepoint=True, statement=None)

    def executing(self, *statements: nodes.Statement) -> TableSession:
        """Return the session in which statements are executed, which knows their text."""
        line = statements[0].span.line + self.lines_before if statements else 1
        text = ";\n\n".join(statement.span.source for statement in statements)
        return replace(self, executed=text, line=line, statement=StatementObjects())

    def planning(self, before: StatementObjects | None = None) -> TableSession:
        """Return the session of one statement, which makes each source and each sink once; itself within one.

        Args:
            before: What an earlier step of the statement has made, whose sources and sinks are used.
        """
        if self.statement is not None:
            return self
        return replace(self, statement=StatementObjects() if before is None else before.for_next_step())

    def for_execution(self, before: StatementObjects | None) -> TableSession:
        """Return the session that executes plans of earlier steps, on the present rows of the tables.

        Args:
            before: The objects that those steps have made; None for none.
        """
        return replace(self, statement=StatementObjects() if before is None else before.for_execution())

    def get(self, setting: Setting[_Made]) -> _Made:
        return setting.of(self.configuration.to_dict())

    @property
    def time_zone(self) -> str:
        """The session's time zone: `table.local-time-zone`, by default that of the machine."""
        zone = self.get(LOCAL_TIME_ZONE)
        return local_time_zone() if zone == LOCAL_TIME_ZONE.default else zone

    def for_functions(self) -> EvaluationContext:
        """Return the session of functions; it is the same throughout a statement."""
        return self._once("functions", self._for_functions)

    def catalog(self) -> SessionCatalog:
        """Return the catalog of the validator; it is the same throughout a statement."""
        from scurry.sql.statements.modules import functions_of
        from scurry.sql.validator.session_catalog import SessionCatalog

        def make() -> SessionCatalog:
            of_modules = functions_of(self.modules)
            return SessionCatalog(self.catalogs, self.is_streaming, self._loaded, self.view_plans, of_modules)

        return self._once("catalog", make)

    def _loaded(self, registered: CatalogFunction, name: str) -> UserFunction:
        from scurry.sql.statements.python_functions import loaded

        return loaded(registered, name, self.configuration.to_dict())

    def source(
        self, identifier: ObjectIdentifier, table: CatalogTable, hints: Mapping[str, str] | None = None
    ) -> TableSource:
        """Return the source of a table.

        Args:
            table: Its definition.
            hints: Options of a hint.

        Raises:
            ValidationError: There is no such connector, it is no source, or its options are wrong.
        """
        context = self.context_of(identifier, table, hints)
        return self._once(_TableKey.of("source", context), partial(create_source, context), table)

    def sink(self, identifier: ObjectIdentifier, table: CatalogTable, target: SinkTarget) -> Sink:
        """Return the sink of a table; its records are `Changes`.

        Args:
            table: Its definition.
            target: How it is written.

        Raises:
            ValidationError: There is no such connector, it is no sink, or its options are wrong.
        """
        context = self.context_of(identifier, table)
        key = _TableKey.of(
            "sink", context, target.overwrite, target.change, target.replaces_all, *sorted(target.partition.items())
        )
        return self._once(key, partial(create_sink, context, target), table)

    def once(self, what: str, table: CatalogTable, make: Callable[[], _Made]) -> _Made:
        """Return a value that a statement derives from a table; make it at the first request."""
        return self._once((what, id(table)), make, table)

    def _once(self, key: Hashable, make: Callable[[], _Made], kept: object = None) -> _Made:
        return make() if self.statement is None else self.statement.once(key, make, kept)

    def _for_functions(self) -> EvaluationContext:
        from scurry.sql.functions.definition import EvaluationContext

        return EvaluationContext(
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
        """Return the context of the factory of a table's connector."""
        options = {**self._options(identifier, table), **(hints or {})}
        if isinstance(table, CatalogMaterializedTable):
            options = {key: value for key, value in options.items() if not key.startswith(PARTITION_FIELDS)}
        return TableContext(identifier, table, options, self.time_zone, self.is_streaming)

    def _options(self, identifier: ObjectIdentifier, table: CatalogTable) -> Mapping[str, str]:
        catalog = self.catalogs.find_catalog(identifier.catalog)
        if catalog is None:
            return table.options
        return catalog.effective_options(identifier.database, identifier.name, table.options)


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
