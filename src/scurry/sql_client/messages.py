"""The messages of the client, in the words of Flink's."""

from __future__ import annotations

import re
import traceback

from scurry.errors import ScurryError, SqlParserError

__all__ = ["HELP", "WELCOME", "error_text", "info"]

EXECUTED = "Execute statement succeeded."
SUBMITTED = (
    "[INFO] Submitting SQL update statement to the cluster...\n"
    "[INFO] SQL update statement has been successfully submitted to the cluster:\n"
    "Job ID: {}\n"
)
COMPLETED = "Complete execution of the SQL update statement."
CANCELLED = "Result retrieval cancelled."

WELCOME = "Welcome to scurry's SQL client. 'HELP;' lists the commands, 'QUIT;' ends it."

HELP = """\
The following commands are available:

HELP                   Prints the available commands.
QUIT/EXIT              Quits the SQL client.
CLEAR                  Clears the terminal.
SOURCE 'script.sql'    Executes the statements of a file.
SET                    Sets a property of the session: SET 'key' = 'value'; SET; lists all.
RESET                  Resets a property: RESET 'key'; RESET; resets all.
INSERT INTO            Inserts the rows of a query into a table.
INSERT OVERWRITE       Inserts the rows of a query into a table instead of those it has.
SELECT                 Executes a query.
EXPLAIN                Shows the execution plan of a query or an insertion.
BEGIN STATEMENT SET    Begins a statement set, whose insertions run as one job.
END                    Ends a statement set and starts its job.
SHOW JOBS              Lists the jobs; DESCRIBE JOB 'id'; shows one.
STOP JOB               Stops a job: STOP JOB 'id' [WITH SAVEPOINT [WITH DRAIN]];
ADD JAR                Names a JAR, which is kept and not used.
REMOVE JAR             Forgets a JAR.
SHOW JARS              Lists the JARs.

Hint: a statement ends with ";" and may have many lines.
"""

_PLACE = re.compile(r"line (\d+), column (\d+)(?: to line (\d+), column (\d+))?")


def info(text: str) -> str:
    """Return a message."""
    return f"[INFO] {text}"


def error_text(error: BaseException, statement: str, line: int = 1, verbose: bool = False) -> str:
    """Return what the client says of an error, with the place in the statement.

    Args:
        error: The error.
        statement: The statement that failed.
        line: The line of the script that the statement begins in.
        verbose: Whether the whole traceback is shown (`sql-client.verbose`).
    """
    message = str(error) if isinstance(error, ScurryError) else f"{type(error).__name__}: {error}"
    lines = ["[ERROR] Could not execute SQL statement. Reason:", f"{type(error).__name__}: {_short(error, message)}"]
    if not isinstance(error, ScurryError):
        lines[1] = message
    lines += getattr(error, "__notes__", ())
    if (marked := _marked(error, message, statement, line)) is not None:
        lines.append(marked)
    if verbose:
        lines.append("".join(traceback.format_exception(error)).rstrip())
    return "\n".join(lines)


def _short(error: BaseException, message: str) -> str:
    """Return a message without the list of all tokens that could have stood in a place."""
    if not isinstance(error, SqlParserError):
        return message
    head, expected, rest = message.partition("\nWas expecting")
    return message if rest.count("\n") <= 8 else head


def _marked(error: BaseException, message: str, statement: str, first: int) -> str | None:
    """Return the line of a statement that an error names, with the place marked."""
    found = _PLACE.search(message)
    if found is None:
        return None
    line, start = int(found[1]), int(found[2])
    lines = statement.split("\n")
    if not 1 <= line <= len(lines) or not 1 <= start:
        return None
    text = lines[line - 1]
    end = int(found[4]) if found[4] and int(found[3]) == line else (start if not found[4] else len(text))
    number = f"{first + line - 1:>4} | "
    return f"{number}{text}\n{' ' * len(number)}{' ' * (start - 1)}{'^' * max(end - start + 1, 1)}"
