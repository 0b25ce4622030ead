"""Checks the SQL of a program: each statement is validated against the tables that those before it define."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress

from scurry.cli.checking.findings import Finding, Level
from scurry.errors import ConfigError, ScurryError, SqlParserError, UnsupportedError, ValidationError
from scurry.sql.client.splitting import split
from scurry.sql.syntax import nodes
from scurry.sql.syntax.parser.entry import parse_statements
from scurry.table import EnvironmentSettings, TableEnvironment
from scurry.table.connectors import identifiers

_MODE = "execution.runtime-mode"
#: Statements that define something in memory, or show what is defined.
_DEFINES = (
    nodes.CreateCatalog,
    nodes.CreateDatabase,
    nodes.CreateFunction,
    nodes.CreateTable,
    nodes.CreateView,
    nodes.Drop,
    nodes.AlterCatalog,
    nodes.AlterDatabase,
    nodes.AlterFunction,
    nodes.AlterTable,
    nodes.AlterView,
    nodes.AlterModel,
    nodes.AlterMaterializedTable,
    nodes.UseCatalog,
    nodes.UseDatabase,
    nodes.Show,
    nodes.ShowCreate,
    nodes.DescribeTable,
    nodes.DescribeCatalog,
    nodes.DescribeDatabase,
    nodes.DescribeFunction,
    nodes.DescribeModel,
)
#: Statements around one that reads or writes tables.
_AROUND = (nodes.Execute, nodes.Explain, nodes.CompilePlan, nodes.CompileAndExecutePlan)
_CHANGES = (nodes.Update, nodes.Delete, nodes.Merge, nodes.TruncateTable)
_PLACE = re.compile(
    r"^SQL (?:validation|parse) failed\. (?:(?:At|From) line \d+, column \d+(?: to line \d+, column \d+)?: )?"
)
#: Errors about names that something else than a statement may define.
_NOT_FOUND = re.compile(
    r"Object '.*' not found|Cannot find table|No match found for function|does not exist|in any of the catalogs",
    re.DOTALL,
)


def _environment(in_batch: bool) -> TableEnvironment:
    mode = EnvironmentSettings.in_batch_mode if in_batch else EnvironmentSettings.in_streaming_mode
    return TableEnvironment.create(mode())


def set_option(key: str, value: str) -> None:
    """Set an option of tables as a program would.

    Raises:
        ScurryError: There is no such option, or it has no such value.
    """
    tables = _environment(in_batch=False)
    tables.get_config().set(key, value)
    tables.explain_sql("SELECT 1")


class Statements:
    """The statements of a program, in their order.

    Attributes:
        is_whole: Whether everything that statements name is defined by statements seen here. If not, names that are
            not found are no findings.
    """

    def __init__(self, path: str, is_whole: bool, in_batch: bool = False, own_connectors: bool = False) -> None:
        self._path = path
        self.is_whole = is_whole
        self._own_connectors = own_connectors
        self._tables = _environment(in_batch)
        self._definitions: list[str] = []
        self._later: list[tuple[str, int, int]] = []

    def rest(self) -> Iterator[Finding]:
        """Yield the findings of statements that name tables of later statements, once all have been seen."""
        waiting, before = self._later, -1
        while len(waiting) != before:  # views may name one another
            before, self._later = len(waiting), []
            found = [each for place in waiting for each in self.check(*place, is_in_order=False)]
            yield from found
            waiting = self._later
        for place in waiting:
            yield from self.check(*place)

    def check(self, text: str, line: int, column: int, is_in_order: bool = True) -> Iterator[Finding]:
        """Yield the findings of a statement that begins at a place of the file.

        Args:
            is_in_order: Whether the statements run in the order of their lines. Those in functions may not: a table
                may be defined further down, and one that is defined twice may be so in two jobs.
        """
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield from self._check(text, line, column)
        except (SqlParserError, ValidationError, UnsupportedError, ConfigError) as error:
            if self._own_connectors and "Cannot discover a connector" in str(error):
                return
            if not is_in_order and _NOT_FOUND.search(str(error)):
                self._later.append((text, line, column))
            elif not is_in_order and "already exists" in str(error):
                self.is_whole = False
            elif self.is_whole or not _NOT_FOUND.search(str(error)):
                yield self._finding(error, text, line, column)
        except ScurryError:
            self.is_whole = False  # it takes a server or a file to know more

    def _check(self, text: str, line: int, column: int) -> Iterator[Finding]:
        for statement in parse_statements(text):
            if isinstance(statement, nodes.Set):
                self._set(statement)
            elif isinstance(statement, _DEFINES):
                yield from self._define(statement, text, line, column)
            else:
                self._plan(statement)

    def _set(self, setting: nodes.Set) -> None:
        if setting.key is None or setting.value is None:
            return
        if setting.key != _MODE:
            return set_option(setting.key, setting.value)
        self._tables = _environment(setting.value.lower() == "batch")
        for definition in self._definitions:
            self._tables.execute_sql(definition)

    def _define(self, statement: nodes.Statement, text: str, line: int, column: int) -> Iterator[Finding]:
        """Define something here as the program would, unless that loads code, asks a server, or runs a job."""
        named, known = _property(statement, "connector"), set(identifiers())
        if named is not None and not self._own_connectors and named.value not in known:
            self.is_whole = False
            said = f"there is no connector {named.value!r}; there are {', '.join(sorted(known))}"
            yield self._at(text, named.span.start + 1, line, column, said)
        elif _is_elsewhere(statement):
            self.is_whole = False
        else:
            self._tables.execute_sql(text)
            self._definitions.append(text)

    def _plan(self, statement: nodes.Statement) -> None:
        """Plan a query, an insertion or a set of insertions."""
        while isinstance(statement, _AROUND):
            statement = statement.statement
        if isinstance(statement, nodes.StatementSet):
            for insert in statement.inserts:
                self._tables.explain_sql(insert.span.source)
        elif isinstance(statement, nodes.Query | nodes.Insert):
            self._tables.explain_sql(statement.span.source)
        elif isinstance(statement, _CHANGES):
            try:
                self._tables.explain_sql(statement.span.source)
            except UnsupportedError as error:
                if not str(error).startswith("EXPLAIN of "):
                    raise
        else:
            self.is_whole = False  # such as LOAD MODULE

    def _finding(self, error: ScurryError, text: str, line: int, column: int) -> Finding:
        place = getattr(error, "statement", None)
        start = 0
        if place is not None:
            with suppress(ValueError):
                start = text.index(place.text) + place.start
        hint = next((note.strip() for note in getattr(error, "__notes__", ()) if note.strip().startswith("hint: ")), "")
        said = _PLACE.sub("", str(error)).strip().rstrip(".")
        return self._at(text, start, line, column, f"{said}; {hint.removeprefix('hint: ')}" if hint else said)

    def _at(self, text: str, start: int, line: int, column: int, said: str) -> Finding:
        before = text[:start].rpartition("\n")
        down = text[:start].count("\n")
        return Finding(
            self._path, line + down, len(before[2]) + (1 if down else column), Level.ERROR, " ".join(said.split())
        )


def _property(statement: nodes.Statement, key: str) -> nodes.StringLiteral | None:
    """Return the value of a key of WITH."""
    properties: Iterable[nodes.Property] = getattr(statement, "properties", None) or ()
    return next((each.value for each in properties if each.key.value.lower() == key), None)


def _is_elsewhere(statement: nodes.Statement) -> bool:
    """Return whether a definition loads code, asks a server, or runs a job."""
    if isinstance(statement, nodes.CreateCatalog):
        kind = _property(statement, "type")
        return kind is None or kind.value != "generic_in_memory"
    if isinstance(statement, nodes.CreateFunction):
        return statement.language == "PYTHON"
    return isinstance(statement, nodes.CreateTable) and statement.query is not None


def check_script(text: str, path: str) -> Iterator[Finding]:
    """Yield the findings of a file of statements."""
    statements = Statements(path, is_whole=True)
    for piece in split(text):
        yield from statements.check(piece.text, piece.line, 1)
