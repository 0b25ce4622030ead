"""Checks the SQL of a program: each statement is validated against the tables that those before it define."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import suppress

from scurry.cli.checking.findings import Finding, Level
from scurry.errors import ConfigError, ScurryError, SqlParserError, UnsupportedError, ValidationError
from scurry.sql.client.splitting import split
from scurry.table import EnvironmentSettings, TableEnvironment
from scurry.table.connectors import identifiers

#: Statements that define something in memory, and those that read or write tables.
_DEFINES = re.compile(r"(CREATE|USE|DROP|ALTER|SHOW|DESCRIBE|DESC)\b", re.IGNORECASE)
_MODE = "execution.runtime-mode"
_SETS = re.compile(r"SET\s+'([^']+)'\s*=\s*'((?:[^']|'')*)'\s*\Z", re.IGNORECASE)
_READS = re.compile(r"(SELECT|WITH|VALUES|INSERT|EXECUTE|EXPLAIN|FROM|\()", re.IGNORECASE)
_CHANGES = re.compile(r"(UPDATE|DELETE|TRUNCATE)\b", re.IGNORECASE)
#: Definitions that load code, ask a server, or run a job.
_ELSEWHERE = re.compile(
    r"CREATE\s+(CATALOG\b(?!.*'type'\s*=\s*'generic_in_memory')|MATERIALIZED\b|MODEL\b|"
    r"((TEMPORARY|SYSTEM)\s+)*FUNCTION\b.*\bLANGUAGE\s+PYTHON\b|.*\)?\s*\bAS\s+(SELECT|WITH|TABLE|VALUES)\b)",
    re.IGNORECASE | re.DOTALL,
)
_VIEW = re.compile(r"CREATE\s+(TEMPORARY\s+)?VIEW\b", re.IGNORECASE)
_CONNECTOR = re.compile(r"'connector'\s*=\s*'([^']*)'", re.IGNORECASE)
_PLACE = re.compile(
    r"^SQL (?:validation|parse) failed\. (?:(?:At|From) line \d+, column \d+(?: to line \d+, column \d+)?: )?"
)
#: Errors about names that something else than a statement may define.
_NOT_FOUND = re.compile(
    r"Object '.*' not found|Cannot find table|No match found for function|does not exist|in any of the catalogs",
    re.DOTALL,
)
_COMMENTS = re.compile(r"\A(\s+|--[^\n]*\n|/\*.*?\*/)+", re.DOTALL)


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

    def check(self, text: str, line: int, column: int) -> Iterator[Finding]:
        """Yield the findings of a statement that begins at a place of the file."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield from self._check(text, line, column)
        except (SqlParserError, ValidationError, UnsupportedError, ConfigError) as error:
            if self.is_whole or not _NOT_FOUND.search(str(error)):
                yield self._finding(error, text, line, column)
        except ScurryError:
            self.is_whole = False  # it takes a server or a file to know more

    def _check(self, text: str, line: int, column: int) -> Iterator[Finding]:
        body = _COMMENTS.sub("", text)
        if setting := _SETS.match(body):
            if setting[1] != _MODE:
                set_option(setting[1], setting[2].replace("''", "'"))
                return
            self._tables = _environment(setting[2].lower() == "batch")
            for definition in self._definitions:
                self._tables.execute_sql(definition)
        elif _DEFINES.match(body):
            named, known = _CONNECTOR.search(text), set(identifiers())
            if named is not None and not self._own_connectors and named[1] not in known:
                self.is_whole = False
                said = f"there is no connector {named[1]!r}; there are {', '.join(sorted(known))}"
                yield self._at(text, named.start(1), line, column, said)
            elif _ELSEWHERE.match(body) and not _VIEW.match(body):
                self.is_whole = False
            else:
                self._tables.execute_sql(text)
                self._definitions.append(text)
        elif _READS.match(body):
            statement = re.sub(r"\AEXECUTE\s+(?!STATEMENT)", "", body, flags=re.IGNORECASE)
            if re.match(r"EXECUTE\s+STATEMENT", statement, re.IGNORECASE):
                self._tables.execute_sql(re.sub(r"\AEXECUTE", "EXPLAIN", statement, flags=re.IGNORECASE))
            else:
                self._tables.explain_sql(re.sub(r"\AEXPLAIN\s+(PLAN\s+FOR\s+)?", "", statement, flags=re.IGNORECASE))
        else:
            try:
                self._tables.explain_sql(text)
            except (ValidationError, UnsupportedError) as error:
                if not _CHANGES.match(body):
                    self.is_whole = False  # such as LOAD MODULE
                elif not str(error).startswith("EXPLAIN of "):
                    raise

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


def check_script(text: str, path: str) -> Iterator[Finding]:
    """Yield the findings of a file of statements."""
    statements = Statements(path, is_whole=True)
    for piece in split(text):
        yield from statements.check(piece.text, piece.line, 1)
