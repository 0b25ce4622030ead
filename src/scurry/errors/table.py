"""Errors of the Table API and SQL, and the part of a statement that an error is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scurry._dataclasses import dataclass
from scurry.errors.base import ScurryError

__all__ = ["StatementPlace"]

#: Widest line of a statement that is shown whole; of a longer one, the part around the place is.
_WIDEST = 120
_BEFORE = 40


@dataclass(frozen=True)
class StatementPlace:
    """A stretch of a statement's text.

    Attributes:
        text: The whole text that was parsed: a statement, or a script of many. It contains no secrets.
        start: Offset of the first character.
        end: Offset after the last character.
        file: The script that the text is from; empty if it is from none.
        before: How many lines of the script come before the text.
    """

    text: str
    start: int
    end: int
    file: str = ""
    before: int = 0

    @property
    def line(self) -> int:
        """Line of the first character, from 1."""
        return self.text.count("\n", 0, self.start) + 1 + self.before

    @property
    def column(self) -> int:
        """Column of the first character, from 1."""
        return self.start - self.text.rfind("\n", 0, self.start)

    def __str__(self) -> str:
        """Return `script.sql:3:8`, or `line 3, column 8` if the text is from no script."""
        return f"{self.file}:{self.line}:{self.column}" if self.file else f"line {self.line}, column {self.column}"

    def excerpt(self) -> str:
        """Return the line of the statement, with the place underlined."""
        begin = self.text.rfind("\n", 0, self.start) + 1
        line, _, _ = self.text[begin:].partition("\n")
        line = line.rstrip("\r")
        first = self.start - begin
        last = min(max(self.end - begin, first + 1), max(len(line), first + 1))
        if len(line) > _WIDEST:
            cut = max(min(first - _BEFORE, len(line) - _WIDEST), 0)
            shown = line[cut : cut + _WIDEST]
            line = f"{'...' * (cut > 0)}{shown}{'...' * (cut + _WIDEST < len(line))}"
            moved = cut - 3 * (cut > 0)
            first, last = first - moved, min(last - moved, len(line))
        number = f"{self.line:>4} | "
        indent = "".join("\t" if each == "\t" else " " for each in line[:first]).ljust(first)
        return f"{number}{line}\n{' ' * len(number)}{indent}{'^' * max(last - first, 1)}"


class ValidationError(ScurryError, ValueError):
    """A statement, a table or an option that Flink refuses (its `ValidationException` or `TableException`).

    Cure: Compare the statement with the table's schema; the message has the line and column, as Flink's.

    Attributes:
        span: The part of the statement that is wrong, None if that is not known.
        about: Name in the statement that it is about, where the part is not known: a table, a column or a function.
    """

    permanent = True
    span: Any = None
    about: str = ""


class CompiledPlanError(ValidationError):
    """A compiled plan that cannot be read: it is damaged, or refers to missing objects.

    Cure: Compile the statement again with `COMPILE PLAN`; the message names the file and the node.
    """


class MissingOptionsError(ValidationError):
    """Required options of a table are not set.

    Cure: Set the options that the message lists in the WITH clause.

    Attributes:
        keys: Their keys.
    """

    keys: Sequence[str] = ()


class SqlParserError(ScurryError, ValueError):
    """A text that is no SQL statement of Flink's dialect (its `SqlParserException`).

    Cure: Look at the line and column of the message; names that are keywords go between backticks.

    Attributes:
        line: Line of what cannot stand where it does, from 1.
        column: Its column, from 1.
        span: What is wrong, if it is more than the token there.
    """

    permanent = True
    span: Any = None

    def __init__(self, message: str, line: int = 0, column: int = 0) -> None:
        """Name the part that cannot stand at its position.

        Args:
            message: Flink's message.
            line: Line in the text, from 1.
            column: Column in the line, from 1.
        """
        super().__init__(message, line, column)
        self.line = line
        self.column = column

    def __str__(self) -> str:
        """Return the message, which names the place."""
        return str(self.args[0])


class SqlParserEOFError(SqlParserError):
    """A SQL statement that ends too early (Flink's `SqlParserEOFException`).

    Cure: Close what is open at the end: a bracket, a quotation, a comment, or the statement itself.
    """


class CatalogError(ValidationError):
    """A catalog lacks the database, table or function that was named, or has one of that name already.

    Cure: `SHOW CATALOGS`, `SHOW DATABASES`, `SHOW TABLES` and `SHOW FUNCTIONS` list what there is.
    """


class DatabaseNotExistError(CatalogError):
    """There is no such database.

    Cure: `SHOW DATABASES` lists them; `CREATE DATABASE` makes one.
    """


class DatabaseAlreadyExistError(CatalogError):
    """There is a database of that name already.

    Cure: Say `CREATE DATABASE IF NOT EXISTS`, or take another name.
    """


class DatabaseNotEmptyError(CatalogError):
    """A database that is dropped contains tables or functions.

    Cure: Drop its tables first, or say `DROP DATABASE ... CASCADE`.
    """


class TableNotExistError(CatalogError):
    """There is no such table or view.

    Cure: `SHOW TABLES` lists them; a name without a database is one of the current database.
    """


class TableAlreadyExistError(CatalogError):
    """There is a table or view of that name already.

    Cure: Say `CREATE TABLE IF NOT EXISTS`, drop the other one, or take another name.
    """


class FunctionNotExistError(CatalogError):
    """There is no such function.

    Cure: `SHOW FUNCTIONS` lists them; user-defined functions are made with `CREATE FUNCTION`.
    """


class FunctionAlreadyExistError(CatalogError):
    """There is a function of that name already.

    Cure: Say `CREATE FUNCTION IF NOT EXISTS`, or `ALTER FUNCTION`.
    """


class ModelNotExistError(CatalogError):
    """There is no such model.

    Cure: `SHOW MODELS` lists them; models are made with `CREATE MODEL`.
    """


class ModelAlreadyExistError(CatalogError):
    """There is a model of that name already.

    Cure: Say `CREATE MODEL IF NOT EXISTS`, or `ALTER MODEL`.
    """


class PartitionNotExistError(CatalogError):
    """There is no such partition of the table.

    Cure: `SHOW PARTITIONS` lists those that the catalog keeps.
    """


class PartitionAlreadyExistError(CatalogError):
    """The catalog keeps such a partition of the table already.

    Cure: Say `ALTER TABLE ... ADD IF NOT EXISTS PARTITION`, or alter the partition.
    """


class PartitionSpecInvalidError(CatalogError):
    """A partition does not give one value for each partition column of the table.

    Cure: Name the columns of `PARTITIONED BY`, all of them and no others.
    """


class TableNotPartitionedError(CatalogError):
    """A table that is asked for partitions has none.

    Cure: Create it with `PARTITIONED BY`.
    """


class ModelCallError(ScurryError, RuntimeError):
    """The server of a model has no answer for a row; the message repeats the server's.

    Cure: Compare the options of the model with what the server knows; `'error-handling-strategy' = 'ignore'` leaves out
    the row.

    Attributes:
        is_transient: Whether the call may succeed if it is made again.
        retry_after: Seconds after which the server wants to be asked again; None if it does not say.
    """

    is_transient: bool = False
    retry_after: float | None = None


class SignatureError(ScurryError, TypeError):
    """A function does not take arguments of these types; the message is Flink's, without the place in the statement.

    Cure: Cast the arguments to the types that the message names.

    Attributes:
        wrong_number: Whether there are too few or too many.
    """

    permanent = True
    wrong_number = False


class EvaluationError(ScurryError, ValueError):
    """A function or a cast has no result for a value; the message is that of Flink's job.

    Cure: Filter such values out before, or use TRY_CAST, which gives NULL.
    """

    permanent = True
